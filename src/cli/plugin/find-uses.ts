import type { AnyNode, AssignmentProperty, CallExpression, NewExpression, Pattern, RestElement } from 'acorn';
import { readHandoff, readMakersOfCode, readRequest, readSecrets } from './calls.ts';
import { nameOf, textOf } from './constants.ts';
import { contextParametersOf, handlerParameter } from './context-names.ts';
import { isFromBotApi, isFunction, type FunctionNode, type SyntaxTree } from './syntax-tree.ts';
import { permissionOf, Uses } from './uses.ts';

const events: ReadonlySet<string> = new Set([
  'message_created',
  'message_updated',
  'conversation_opened',
  'conversation_resolved',
  'webwidget_triggered',
  'schedule',
]);
/** Parts of `ctx` whose members need permissions. */
const open: ReadonlySet<string> = new Set(['ctx', 'ctx.contact', 'ctx.storage']);
/** Members of `ctx` whose arguments need permissions. */
const called: ReadonlySet<string> = new Set(['ctx.fetch', 'ctx.call', 'ctx.handoff']);
/** Expressions whose value may be that of an expression within them. */
const passing = /^(?:Await|Logical|Conditional|Sequence)Expression$/;
/** Nodes through which a value gets where it is not followed. */
const losing =
  /^(?:Property|Array\w*|Spread\w*|Return\w*|Yield\w*|PropertyDefinition|For(?:In|Of)\w*|Arrow\w*|Assignment\w*)$/;
const onlyTheRun = 'the run decides, not this check';

/** Follows `ctx` through the files of a package: finds its used members, and the places where it gets out of sight. */
export function findUses(trees: readonly SyntaxTree[]): Uses {
  const uses = new Uses();
  const following = new Following(trees, uses);
  for (const tree of trees) {
    following.read(tree);
    readSecrets(tree, uses);
    readMakersOfCode(tree, uses);
  }
  uses.blindSpots.sort(({ finding: one }, { finding: other }) => one.line - other.line);
  return uses;
}

/** A part of `ctx`, and how it is named where it was found. */
interface Value {
  path: string;
  label: string;
}

interface PlacedFunction {
  tree: SyntaxTree;
  code: FunctionNode;
}

class Following {
  readonly #uses: Uses;
  readonly #functions: ReadonlyMap<string, PlacedFunction[]>;
  readonly #seen = new Map<AnyNode, Set<string>>();

  constructor(trees: readonly SyntaxTree[], uses: Uses) {
    this.#uses = uses;
    const all = trees.flatMap((tree) => tree.nodes.filter(isFunction).map((code) => ({ tree, code })));
    this.#functions = Map.groupBy(all, ({ tree, code }) => functionName(tree, code));
  }

  read(tree: SyntaxTree): void {
    for (const { pattern, path } of contextParametersOf(tree)) this.#bind(tree, pattern, { path, label: path });
    for (const node of tree.nodes) {
      if (node.type === 'Property' && events.has(nameOf(tree, node) ?? '')) this.#readHandler(tree, node.value);
      else if (node.type === 'MemberExpression' && isNamedCtx(tree, node)) {
        this.#follow(tree, node, { path: 'ctx', label: 'ctx' });
      }
    }
  }

  #readHandler(tree: SyntaxTree, handler: AnyNode): void {
    for (const { tree: place, code } of this.#functionsCalled(tree, handler)) {
      for (const { pattern, path } of handlerParameter(place, code)) this.#bind(place, pattern, { path, label: path });
    }
  }

  /** A variable holds the value, or a pattern takes it apart. */
  #bind(tree: SyntaxTree, pattern: Pattern, value: Value): void {
    if (pattern.type === 'AssignmentPattern') this.#bind(tree, pattern.left, value);
    else if (pattern.type === 'Identifier') {
      if (!this.#isNew(pattern, value)) return;
      for (const node of tree.bindingOf(pattern)?.references ?? []) {
        this.#follow(tree, node, { ...value, label: pattern.name });
      }
    } else if (pattern.type === 'ObjectPattern') {
      for (const property of pattern.properties) this.#bindProperty(tree, property, value);
    }
  }

  #bindProperty(tree: SyntaxTree, property: AssignmentProperty | RestElement, value: Value): void {
    if (property.type === 'RestElement') this.#bind(tree, property.argument, value);
    else {
      const member = this.#member(tree, property, { value, name: nameOf(tree, property) });
      if (member) this.#bind(tree, property.value, member);
    }
  }

  /** Follows a value from its expression: the node around it decides its use. */
  #follow(tree: SyntaxTree, node: AnyNode, value: Value): void {
    const parent = tree.parentOf(node);
    if (!parent || !this.#isNew(node, value)) return;
    if (parent.type === 'MemberExpression' && parent.object === node) {
      const member = this.#member(tree, parent, { value, name: nameOf(tree, parent) });
      if (member) this.#follow(tree, parent, member);
    } else if (parent.type === 'CallExpression' || parent.type === 'NewExpression') {
      if (parent.callee === node) this.#call(tree, parent, value);
      else this.#pass(tree, parent, { node, value });
    } else this.#move(tree, node, { parent, value });
  }

  /** The value gets elsewhere: into a variable, or out of sight. */
  #move(tree: SyntaxTree, node: AnyNode, { parent, value }: { parent: AnyNode; value: Value }): void {
    if (parent.type === 'VariableDeclarator') this.#bind(tree, parent.id, value);
    else if (parent.type === 'AssignmentExpression' && parent.left.type !== 'MemberExpression') {
      this.#bind(tree, parent.left, value);
    } else if (passing.test(parent.type)) this.#follow(tree, parent, value);
    else if (losing.test(parent.type) && !isNamedCtx(tree, parent)) {
      const message = `\`${value.label}\` gets another name, under which its members are not seen; ${onlyTheRun}`;
      this.#uses.warn(tree, node, { hidden: 'all', message });
    }
  }

  #isNew(node: AnyNode, { path }: Value): boolean {
    const paths = this.#seen.get(node) ?? new Set();
    this.#seen.set(node, paths);
    return paths.size < paths.add(path).size;
  }

  /** Notes the use of a member. Returns the member if it is followed further. */
  #member(tree: SyntaxTree, node: AnyNode, { value, name }: { value: Value; name: string | null }): Value | null {
    const { path, label } = value;
    if (!open.has(path)) return null;
    if (name === null) {
      const message = `\`${label}[…]\`: which member this is cannot be seen here; ${onlyTheRun}`;
      this.#uses.warn(tree, node, { hidden: 'all', message });
      return null;
    }
    const member = { path: `${path}.${name}`, label: `${label}.${name}` };
    // Its contacts have fields, too, which are not followed.
    if (member.path === 'ctx.contacts') this.#uses.hidden.add('contact');
    const needed = permissionOf(path, name);
    if (needed) this.#uses.add(tree, node, { ...needed, what: member.label });
    return open.has(member.path) || called.has(member.path) ? member : null;
  }

  #call(tree: SyntaxTree, call: CallExpression | NewExpression, { path, label }: Value): void {
    if (path === 'ctx.fetch') readRequest(tree, call, this.#uses);
    else if (path === 'ctx.handoff') readHandoff(tree, call, { label, uses: this.#uses });
    else if (path === 'ctx.call') this.#readNamedCall(tree, call, label);
  }

  #readNamedCall(tree: SyntaxTree, call: CallExpression | NewExpression, label: string): void {
    const { text, isWhole } = textOf(tree, call.arguments[0]);
    const [name = ''] = text.split('.');
    if (isWhole && name !== 'storage') this.#member(tree, call, { value: { path: 'ctx', label: 'ctx' }, name });
    else {
      const what = isWhole ? `the scope of \`${text}\`` : 'what this calls';
      const message = `\`${label}(…)\`: ${what} cannot be seen here; ${onlyTheRun}`;
      this.#uses.warn(tree, call, { hidden: isWhole ? 'storage' : 'all', message });
    }
  }

  /** The value is an argument: follows it into the function, if that is in the package. */
  #pass(
    tree: SyntaxTree,
    call: { callee: AnyNode; arguments: readonly AnyNode[] },
    { node, value }: { node: AnyNode; value: Value },
  ): void {
    if (value.path === 'ctx' && isFromBotApi(tree, call.callee, 'runTools')) {
      return this.#uses.add(tree, node, { permission: 'llm', value: '', what: 'runTools' });
    }
    const functions = this.#functionsCalled(tree, call.callee);
    for (const { tree: place, code } of functions) {
      const parameter = code.params[call.arguments.indexOf(node)];
      if (parameter) this.#bind(place, parameter, { ...value, label: value.path });
    }
    if (functions.length > 0) return;
    const callee = tree.source.slice(call.callee.start, call.callee.end).split('\n', 1)[0];
    const remedy = value.path === 'ctx' ? `; call its parameter \`ctx\`, or give it the type \`Context\`` : '';
    const message = `\`${value.label}\` is passed to \`${callee}\`, where its members are not seen${remedy}`;
    this.#uses.warn(tree, node, { hidden: 'all', message });
  }

  /** The functions that an expression may stand for; methods and imports are found by their name. */
  #functionsCalled(tree: SyntaxTree, callee: AnyNode): readonly PlacedFunction[] {
    const byName = (name: string | null) => this.#functions.get(name ?? '') ?? [];
    if (isFunction(callee)) return [{ tree, code: callee }];
    if (callee.type === 'MemberExpression') return byName(nameOf(tree, callee));
    if (callee.type !== 'Identifier') return [];
    const declaration = tree.bindingOf(callee)?.declaration;
    const code = declaration?.type === 'VariableDeclarator' ? declaration.init : declaration;
    return isFunction(code) ? [{ tree, code }] : byName(importedName(declaration));
  }
}

function importedName(declaration: AnyNode | null | undefined): string | null {
  if (declaration?.type === 'ImportDefaultSpecifier') return 'default';
  const imported = declaration?.type === 'ImportSpecifier' ? declaration.imported : null;
  return imported?.type === 'Identifier' ? imported.name : null;
}

/** The name under which a function is called; empty for none. */
function functionName(tree: SyntaxTree, code: FunctionNode): string {
  if (code.id) return code.id.name;
  const parent = tree.parentOf(code);
  switch (parent?.type) {
    case 'ExportDefaultDeclaration':
      return 'default';
    case 'VariableDeclarator':
      return parent.id.type === 'Identifier' ? parent.id.name : '';
    case 'MethodDefinition':
    case 'PropertyDefinition':
    case 'Property':
      return nameOf(tree, parent) ?? '';
    default:
      return '';
  }
}

/** Whether this is a member or property called `ctx`, which is followed wherever it is read. */
function isNamedCtx(tree: SyntaxTree, node: AnyNode): boolean {
  if (node.type === 'AssignmentExpression') return isNamedCtx(tree, node.left);
  return (node.type === 'MemberExpression' || node.type === 'Property') && nameOf(tree, node) === 'ctx';
}

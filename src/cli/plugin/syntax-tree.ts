import { tsPlugin } from '@sveltejs/acorn-typescript';
import {
  Parser,
  type AnonymousFunctionDeclaration,
  type AnyNode,
  type ArrowFunctionExpression,
  type FunctionDeclaration,
  type FunctionExpression,
  type Identifier,
  type ImportDefaultSpecifier,
  type ImportNamespaceSpecifier,
  type ImportSpecifier,
  type Program,
  type VariableDeclaration,
} from 'acorn';

export type FunctionNode =
  | FunctionDeclaration
  | FunctionExpression
  | ArrowFunctionExpression
  | AnonymousFunctionDeclaration;

/** A name that a file declares, with all places where it is read. */
interface Binding {
  /** The declaration: a function, a variable's declarator, an import; null for a parameter and what a pattern takes apart. */
  declaration: AnyNode | null;
  references: Identifier[];
}

/** A file of a bot as a syntax tree. Types, `as`, `!`, `satisfies` and `?.` are left out of its expressions. */
export interface SyntaxTree {
  file: string;
  source: string;
  program: Program;
  /** All nodes, each before those within it. */
  nodes: readonly AnyNode[];
  parentOf(node: AnyNode): AnyNode | null;
  /** The binding of a name that is read or declared; null for a global name. */
  bindingOf(identifier: Identifier): Binding | null;
  lineOf(node: AnyNode): number;
}

const TypeScriptParser = Parser.extend(tsPlugin());
/** Expressions that stand for the one within them. */
const transparent: ReadonlySet<string> = new Set([
  'ChainExpression',
  'TSAsExpression',
  'TSInstantiationExpression',
  'TSNonNullExpression',
  'TSSatisfiesExpression',
  'TSTypeAssertion',
]);
/** Nodes of TypeScript that hold code; all others hold types. */
const withCode: ReadonlySet<string> = new Set(['TSModuleDeclaration', 'TSModuleBlock', 'TSParameterProperty']);
const functionScope = /^Program$|Function|^TSModuleBlock$|^StaticBlock$/;
const blockScope = /^Program$|Function|^TSModuleBlock$|Block|^For|^SwitchStatement$|^CatchClause$/;

/** Reads TypeScript or JavaScript. Throws a SyntaxError, or a RangeError where it is nested too deeply. */
export function parseSource(file: string, source: string): SyntaxTree {
  const program = TypeScriptParser.parse(source, { ecmaVersion: 'latest', sourceType: 'module', locations: true });
  return new Tree(file, source, program);
}

/** The nodes directly within a node, types left out. */
function childrenOf(node: AnyNode): AnyNode[] {
  return Object.values(node).flatMap((value: unknown) => (Array.isArray(value) ? value : [value]).filter(isCode));
}

export function isFunction(node: AnyNode | null | undefined): node is FunctionNode {
  return /^(?:ArrowFunctionExpression|Function(?:Declaration|Expression))$/.test(node?.type ?? '');
}

/** The names that a file imports from `switchboard/bot`, and under which names. */
export function importsOfBotApi({ program }: SyntaxTree): { name: string; local: Identifier }[] {
  return program.body
    .filter((statement) => statement.type === 'ImportDeclaration')
    .filter(({ source }) => source.value === 'switchboard/bot')
    .flatMap(({ specifiers }) => specifiers)
    .flatMap((specifier) => {
      const name = specifier.type === 'ImportSpecifier' && 'name' in specifier.imported && specifier.imported.name;
      return name ? [{ name, local: specifier.local }] : [];
    });
}

/** Whether an expression is a function that the file imports from `switchboard/bot`. */
export function isFromBotApi(tree: SyntaxTree, callee: AnyNode, name: string): boolean {
  const binding = callee.type === 'Identifier' ? tree.bindingOf(callee) : null;
  return (
    binding !== null && importsOfBotApi(tree).some((one) => one.name === name && tree.bindingOf(one.local) === binding)
  );
}

function isImported(node: AnyNode): node is ImportSpecifier | ImportDefaultSpecifier | ImportNamespaceSpecifier {
  return /^Import\w*Specifier$/.test(node.type);
}

function isNode(value: unknown): value is AnyNode {
  return typeof value === 'object' && value !== null && typeof (value as { type?: unknown }).type === 'string';
}

function isCode(value: unknown): value is AnyNode {
  return isNode(value) && (!value.type.startsWith('TS') || withCode.has(value.type));
}

class Tree implements SyntaxTree {
  readonly file: string;
  readonly source: string;
  readonly program: Program;
  readonly nodes: AnyNode[] = [];
  readonly #declared = new Set<Identifier>();
  readonly #parents = new Map<AnyNode, AnyNode>();
  readonly #scopes = new Map<AnyNode, Map<string, Binding>>();

  constructor(file: string, source: string, program: Program) {
    this.file = file;
    this.source = source;
    this.program = program;
    this.#visit();
    for (const node of this.nodes) this.#declareIn(node);
    for (const node of this.nodes) {
      if (node.type === 'Identifier' && this.#isRead(node)) this.bindingOf(node)?.references.push(node);
    }
  }

  parentOf(node: AnyNode): AnyNode | null {
    return this.#parents.get(node) ?? null;
  }

  bindingOf(identifier: Identifier): Binding | null {
    for (let node = this.parentOf(identifier); node; node = this.parentOf(node)) {
      const binding = this.#scopes.get(node)?.get(identifier.name);
      if (binding) return binding;
    }
    return null;
  }

  lineOf(node: AnyNode): number {
    return node.loc?.start.line ?? 1;
  }

  #visit(): void {
    const waiting: AnyNode[] = [this.program];
    for (let node = waiting.pop(); node; node = waiting.pop()) {
      this.nodes.push(node);
      unwrapChildren(node);
      for (const child of childrenOf(node).toReversed()) {
        this.#parents.set(child, node);
        waiting.push(child);
      }
    }
  }

  #declareIn(node: AnyNode): void {
    if (node.type === 'VariableDeclaration') this.#declareVariables(node);
    else if (node.type === 'ClassDeclaration') this.#declare(node.id, this.#scopeOf(node, blockScope), node);
    else if (node.type === 'CatchClause') this.#declare(node.param ?? null, node, null);
    else if (isImported(node)) this.#declare(node.local, this.#scopeOf(node, functionScope), node);
    else if (isFunction(node)) {
      const isStatement = node.type === 'FunctionDeclaration';
      this.#declare(node.id ?? null, isStatement ? this.#scopeOf(node, blockScope) : node, node);
      for (const parameter of node.params) this.#declare(parameter, node, null);
    }
  }

  #declareVariables(node: VariableDeclaration): void {
    const isLoop = /^For(?:In|Of)/.test(this.parentOf(node)?.type ?? '');
    const scope = this.#scopeOf(node, node.kind === 'var' ? functionScope : blockScope);
    for (const declarator of node.declarations) {
      const isPlain = declarator.id.type === 'Identifier' && !isLoop;
      this.#declare(declarator.id, scope, isPlain ? declarator : null);
    }
  }

  #scopeOf(node: AnyNode, kinds: RegExp): AnyNode {
    let scope = node;
    do scope = this.parentOf(scope) ?? this.program;
    while (!kinds.test(scope.type));
    return scope;
  }

  #declare(pattern: AnyNode | null, scope: AnyNode, declaration: AnyNode | null): void {
    const names = this.#scopes.get(scope) ?? new Map<string, Binding>();
    this.#scopes.set(scope, names);
    for (const identifier of namesIn(pattern)) {
      names.set(identifier.name, { declaration, references: [] });
      this.#declared.add(identifier);
    }
  }

  #isRead(node: Identifier): boolean {
    const parent = this.parentOf(node);
    if (this.#declared.has(node) || !parent) return false;
    const isName = ('property' in parent && parent.property === node) || ('key' in parent && parent.key === node);
    return !isName || ('computed' in parent && parent.computed);
  }
}

function unwrapChildren(node: AnyNode): void {
  const held = node as unknown as Record<string, unknown>;
  for (const [key, value] of Object.entries(held)) {
    if (Array.isArray(value)) held[key] = value.map(unwrapped);
    else if (isNode(value)) held[key] = unwrapped(value);
  }
}

function unwrapped(value: unknown): unknown {
  let node = value;
  while (isNode(node) && transparent.has(node.type)) node = (node as unknown as { expression: unknown }).expression;
  return node;
}

/** The names that a parameter or the left side of a declaration declares. */
function namesIn(pattern: AnyNode | null): Identifier[] {
  switch (pattern?.type) {
    case 'Identifier':
      return [pattern];
    case 'ObjectPattern':
      return pattern.properties.flatMap((property) =>
        namesIn(property.type === 'Property' ? property.value : property.argument),
      );
    case 'ArrayPattern':
      return pattern.elements.flatMap(namesIn);
    case 'AssignmentPattern':
      return namesIn(pattern.left);
    case 'RestElement':
      return namesIn(pattern.argument);
    default:
      return [];
  }
}

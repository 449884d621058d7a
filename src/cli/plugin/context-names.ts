import type { AnyNode, Pattern } from 'acorn';
import { importsOfBotApi, isFunction, type FunctionNode, type SyntaxTree } from './syntax-tree.ts';

/** A parameter that holds `ctx` or a part of it. */
export interface ContextParameter {
  pattern: Pattern;
  /** The part, such as `ctx` or `ctx.contact`. */
  path: string;
}

const contexts = [
  'Context',
  'MessageContext',
  'ConversationContext',
  'ScheduleContext',
  'AutomationContext',
  'ChannelContext',
];

/** The parameters of a file that hold `ctx` by their type, or by the name `ctx` where they have none. */
export function contextParametersOf(tree: SyntaxTree): ContextParameter[] {
  const known = typesOf(tree);
  return tree.nodes
    .filter(isFunction)
    .flatMap(({ params }) => params)
    .flatMap((pattern) => {
      const type = typeTextOf(tree, pattern);
      const isNamed = pattern.type === 'Identifier' && pattern.name === 'ctx';
      const path = type === '' && isNamed ? 'ctx' : pathOf(type, known);
      return path === null ? [] : [{ pattern, path }];
    });
}

/** The first parameter of a handler, unless its type says that it is something else. */
export function handlerParameter(tree: SyntaxTree, { params }: FunctionNode): ContextParameter[] {
  const [pattern] = params;
  return pattern && typeTextOf(tree, pattern) === '' ? [{ pattern, path: 'ctx' }] : [];
}

/** The type of a parameter as it is written; empty for none. */
function typeTextOf(tree: SyntaxTree, pattern: Pattern): string {
  const typed = pattern.type === 'AssignmentPattern' ? pattern.left : pattern;
  // acorn's own types know nothing of TypeScript.
  const { typeAnnotation: type } = typed as { typeAnnotation?: { start: number; end: number } };
  return type ? tree.source.slice(type.start, type.end) : '';
}

interface KnownTypes {
  contexts: string[];
  contacts: string[];
}

function pathOf(type: string, { contexts: names, contacts }: KnownTypes): string | null {
  const [found, part] = new RegExp(`\\b(?:${names.join('|')})\\b(?:\\s*\\[\\s*['"](\\w+)['"])?`).exec(type) ?? [];
  if (found !== undefined) return part === undefined ? 'ctx' : `ctx.${part}`;
  return contacts.some((name) => new RegExp(`\\b${name}\\b`).test(type)) ? 'ctx.contact' : null;
}

/** The names of the types of `ctx` and of the contact in a file, with those that are declared by them. */
function typesOf(tree: SyntaxTree): KnownTypes {
  const known: KnownTypes = { contexts: [...contexts], contacts: [] };
  for (const { name, local } of importsOfBotApi(tree)) {
    if (name === 'Contact') known.contacts.push(local.name);
    else if (contexts.includes(name)) known.contexts.push(local.name);
  }
  for (const statement of tree.program.body) {
    const declared = declaredType(tree, statement);
    const path = declared && pathOf(declared.text, known);
    if (declared && path === 'ctx') known.contexts.push(declared.name);
    if (declared && path === 'ctx.contact') known.contacts.push(declared.name);
  }
  return known;
}

function declaredType(tree: SyntaxTree, statement: AnyNode): { name: string; text: string } | null {
  const text = tree.source.slice(statement.start, statement.end);
  const [, name] = /^(?:export\s+)?(?:type|interface)\s+(\w+)/.exec(text) ?? [];
  return name === undefined ? null : { name, text: text.slice(text.indexOf(name) + name.length) };
}

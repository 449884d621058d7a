import type { AnyNode, CallExpression, Identifier, NewExpression } from 'acorn';
import { constantOf, nameOf, textOf } from './constants.ts';
import { importsOfBotApi, type SyntaxTree } from './syntax-tree.ts';
import type { Uses } from './uses.ts';

const maker = /^(?:Function|eval)$/;

/** A call of `ctx.fetch`: its host and its method. */
export function readRequest(tree: SyntaxTree, call: CallExpression | NewExpression, uses: Uses): void {
  const [address, options] = call.arguments;
  const { text, isWhole } = textOf(tree, address);
  const host = hostOf(text, !isWhole);
  if (host === null) warnOfComputed(tree, call, { uses, what: 'host' });
  else uses.add(tree, call, { permission: 'hosts', value: host.replace(/:443$/, ''), what: `fetch from ${host}` });
  const method = options ? methodIn(tree, options) : 'GET';
  if (method === null) warnOfComputed(tree, call, { uses, what: 'method' });
  else uses.add(tree, call, { permission: 'methods', value: method, what: `fetch with ${method}` });
}

/** A call of `ctx.handoff`: whether it names a cause. */
export function readHandoff(
  tree: SyntaxTree,
  call: CallExpression | NewExpression,
  { label, uses }: { label: string; uses: Uses },
): void {
  const named = membersOf(tree, call.arguments[0]) ?? [];
  if (!named.some((property) => property.type === 'Property' && nameOf(tree, property) === 'cause')) return;
  uses.add(tree, call, { permission: 'handoff_cause', value: '', what: `${label}({ cause })` });
}

/** The secrets that a file names. */
export function readSecrets(tree: SyntaxTree, uses: Uses): void {
  for (const { name, local } of importsOfBotApi(tree)) {
    for (const node of tree.bindingOf(local)?.references ?? []) if (name === 'secret') readSecret(tree, node, uses);
  }
}

function readSecret(tree: SyntaxTree, node: Identifier, uses: Uses): void {
  const call = tree.parentOf(node);
  const isCalled = call?.type === 'CallExpression' && call.callee === node;
  const { text, isWhole } = textOf(tree, isCalled ? call.arguments[0] : null);
  if (isWhole) uses.add(tree, node, { permission: 'secrets', value: text, what: `secret('${text}')` });
  else {
    const message = `the name of this \`secret\` is computed: whether permissions.secrets lists it, only the run sees`;
    uses.warn(tree, node, { hidden: 'secrets', message });
  }
}

/** Places where a file makes code out of text. */
export function readMakersOfCode(tree: SyntaxTree, uses: Uses): void {
  for (const node of tree.nodes) {
    if (node.type !== 'CallExpression' && node.type !== 'NewExpression') continue;
    const { callee } = node;
    if (callee.type !== 'Identifier' || !maker.test(callee.name) || tree.bindingOf(callee)) continue;
    const what = callee.name === 'eval' ? 'eval' : 'new Function';
    const message = `\`${what}\` makes code out of text, which is not seen here; the run decides, not this check`;
    uses.warn(tree, node, { hidden: 'all', message });
  }
}

/** The host of an address, or of its beginning when the rest is `computed`; null when it is not all there. */
function hostOf(address: string, computed: boolean): string | null {
  const [begin, host = ''] = /^https?:\/\/([^/?#\s]+)/i.exec(address) ?? [''];
  return host === '' || (computed && begin === address) ? null : host.toLowerCase();
}

/** The method in the options of a request; null where it is computed. */
function methodIn(tree: SyntaxTree, options: AnyNode): string | null {
  const members = membersOf(tree, options);
  if (!members || members.some(({ type }) => type === 'SpreadElement')) return null;
  const method = members.find((property) => property.type === 'Property' && nameOf(tree, property) === 'method');
  if (method?.type !== 'Property') return 'GET';
  const { text, isWhole } = textOf(tree, method.value);
  return isWhole ? text.toUpperCase() : null;
}

function membersOf(tree: SyntaxTree, node: AnyNode | undefined) {
  const value = node && constantOf(tree, node);
  return value?.type === 'ObjectExpression' ? value.properties : null;
}

function warnOfComputed(
  tree: SyntaxTree,
  call: CallExpression | NewExpression,
  { uses, what }: { uses: Uses; what: 'host' | 'method' },
): void {
  const message = `the ${what} of this \`fetch\` is computed, and is compared with permissions.network.${what}s only by the run`;
  uses.warn(tree, call, { hidden: `${what}s`, message });
}

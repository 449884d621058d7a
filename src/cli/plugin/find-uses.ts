import { blankOut, endOfBrackets, lineAt, type BlankedSource } from './source-text.ts';

/** Something that a bot's code does and that needs a permission, such as `contact` `email`. */
export interface Use {
  /** The property of `permissions` in plugin.json. */
  permission:
    | 'conversation'
    | 'contact'
    | 'history'
    | 'storage'
    | 'hosts'
    | 'methods'
    | 'secrets'
    | 'handoff_cause'
    | Switch;
  /** What it must name there; empty where it is granted or not. */
  value: string;
  /** As the author wrote it, such as `ctx.contact.email`. */
  what: string;
  file: string;
  line: number;
}

type Switch = 'network' | 'llm' | 'kb' | 'schedule' | 'forward';

const actions = [
  'reply',
  'note',
  'handoff',
  'resolve',
  'snooze',
  'open',
  'assign',
  'label',
  'priority',
  'attributes',
] as const;
const fields = ['name', 'email', 'phone_number', 'identifier', 'custom_attributes', 'visitor_attributes'] as const;
const scopes = ['conversation', 'contact', 'installation'] as const;
const switches = { fetch: 'network', llm: 'llm', kb: 'kb', schedule: 'schedule', forward: 'forward' } as const;

const events =
  '(?:message_created|message_updated|conversation_opened|conversation_resolved|webwidget_triggered|schedule)';
const parameter = new RegExp(`\\b${events}\\s*(?::\\s*)?(?:async\\s*)?(?:function\\s*\\w*\\s*)?\\(?\\s*(\\w+)`, 'g');
const typedParameter = /\b(\w+)\s*:\s*(?:Message|Conversation|Schedule)?Context\b/g;
const unpackedParameter = new RegExp(`\\b${events}\\s*(?::\\s*)?(?:async\\s*)?\\(\\s*\\{([^{}]*)\\}`, 'g');

/** The method in the options of a request, where it is a literal. */
export const methodPattern = /\bmethod\s*:\s*['"](\w+)['"]/;

/** What the code of one file uses, by the names under which it knows `ctx`. Finds what is written plainly, not all. */
export function findUses(file: string, source: string): Use[] {
  const blanked = blankOut(source);
  const { code } = blanked;
  const found: Use[] = [];
  const add = (permission: Use['permission'], value: string, what: string, at: number): void => {
    found.push({ permission, value, what, file, line: lineAt(source, at) });
  };
  for (const name of contextNames(code)) addMembers(blanked, name, add);
  for (const { text, at } of matches(code, unpackedParameter)) addUnpacked(text, at, add);
  for (const { text, at } of matches(code, /\{([^{}]*)\}\s*=\s*(?:\w+\s*\.\s*)?contact\b/g)) {
    for (const field of wordsOf(text)) if (isOneOf(fields, field)) add('contact', field, `contact.${field}`, at);
  }
  for (const { text, at } of matches(code, /(?<![.\w])contact\s*\??\.\s*(\w+)/g)) {
    if (isOneOf(fields, text)) add('contact', text, `contact.${text}`, at);
  }
  // A bare `fetch` is no member of `ctx`: there is none in the sandbox.
  if (found.some(({ permission }) => permission === 'network')) addRequests(source, blanked, add);
  addSecrets(blanked, add);
  return found;
}

/** The names under which the code of a file, without its texts, knows `ctx`. */
export function contextNames(code: string): string[] {
  const names = [...matches(code, parameter), ...matches(code, typedParameter)].map(({ text }) => text);
  return [...new Set(['ctx', ...names.filter((word) => word !== 'async')])];
}

type Add = (permission: Use['permission'], value: string, what: string, at: number) => void;

function addMembers({ code, literals }: BlankedSource, name: string, add: Add): void {
  const chain = new RegExp(`(?<![.\\w])${name}\\s*\\??\\.\\s*(\\w+)(?:\\s*\\??\\.\\s*(\\w+))?`, 'g');
  for (const match of code.matchAll(chain)) {
    const [, member = '', inner = ''] = match;
    addMember({ member, inner }, name, (permission, value, what) => add(permission, value, what, match.index));
  }
  const handoff = new RegExp(`(?<![.\\w])${name}\\s*\\??\\.\\s*handoff\\s*\\(`, 'g');
  for (const { index, 0: begin } of code.matchAll(handoff)) {
    const start = index + begin.length;
    if (/\bcause\b/.test(code.slice(start, endOfBrackets(code, start))))
      add('handoff_cause', '', `${name}.handoff({ cause })`, index);
  }
  const named = new RegExp(`(?<![.\\w])${name}\\s*(?:(?:\\?\\.)?\\s*\\[\\s*|\\??\\.\\s*call\\s*\\(\\s*)`, 'g');
  for (const match of code.matchAll(named)) {
    const [member = ''] = literals.find(({ at }) => at === match.index + match[0].length)?.text.split('.') ?? [];
    addMember({ member, inner: '' }, name, (permission, value, what) => add(permission, value, what, match.index));
  }
  const unpacked = new RegExp(`\\{([^{}]*)\\}\\s*=\\s*${name}\\b(?!\\s*\\??\\.)`, 'g');
  for (const { text, at } of matches(code, unpacked)) addUnpacked(text, at, add);
}

function addUnpacked(text: string, at: number, add: Add): void {
  for (const member of wordsOf(text)) {
    addMember({ member, inner: '' }, 'ctx', (permission, value, what) => add(permission, value, what, at));
  }
}

function addMember(
  { member, inner }: { member: string; inner: string },
  name: string,
  add: (permission: Use['permission'], value: string, what: string) => void,
): void {
  const what = `${name}.${member}`;
  if (isOneOf(actions, member)) add('conversation', member, what);
  else if (member === 'contact' && isOneOf(fields, inner)) add('contact', inner, `${what}.${inner}`);
  else if (member === 'history') add('history', '', what);
  else if (member === 'storage' && inner !== '') {
    const scope = isOneOf(scopes, inner) ? inner : 'conversation';
    add('storage', scope, `${what}.${inner}`);
  } else if (Object.hasOwn(switches, member)) add(switches[member as keyof typeof switches], '', what);
}

// The literal that is the first argument of `fetch`, and the method in the same call.
function addRequests(source: string, { code, literals }: BlankedSource, add: Add): void {
  for (const match of code.matchAll(/\bfetch\s*\(\s*/g)) {
    const start = match.index + match[0].length;
    const address = literals.find(({ at }) => at === start)?.text;
    const host = address === undefined ? null : hostOf(address, source[start + address.length + 1] === '$');
    if (host !== null) add('hosts', host.replace(/:443$/, ''), `fetch from ${host}`, match.index);
    const [, method = 'GET'] = methodPattern.exec(source.slice(start, endOfBrackets(code, start))) ?? [];
    add('methods', method.toUpperCase(), `fetch with ${method.toUpperCase()}`, match.index);
  }
}

/** The host of an address, or of its beginning when the rest is `computed`; null when it is not all there. */
export function hostOf(address: string, computed: boolean): string | null {
  const [begin, host = ''] = /^https?:\/\/([^/?#\s]+)/i.exec(address) ?? [''];
  return host === '' || (computed && begin === address) ? null : host.toLowerCase();
}

function addSecrets({ code, literals }: BlankedSource, add: Add): void {
  for (const match of code.matchAll(/(?<![.\w])secret\s*\(\s*/g)) {
    const name = literals.find(({ at }) => at === match.index + match[0].length)?.text;
    if (name !== undefined) add('secrets', name, `secret('${name}')`, match.index);
  }
}

function matches(code: string, pattern: RegExp): { text: string; at: number }[] {
  return [...code.matchAll(pattern)].map((match) => ({ text: match[1] ?? '', at: match.index }));
}

/** The names that a pattern such as `reply, contact: customer = x` takes out of an object. */
function wordsOf(pattern: string): string[] {
  return pattern.split(',').map((part) => /^\s*(\w*)/.exec(part)?.[1] ?? '');
}

function isOneOf<Word extends string>(words: readonly Word[], word: string): word is Word {
  return words.some((known) => known === word);
}

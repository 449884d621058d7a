import type { Permissions } from '../../sandbox/run.ts';
import type { Use } from './find-uses.ts';

/** A problem, or a warning, with its place in a file of the author. */
export interface Finding {
  level: 'error' | 'warning';
  file: string;
  line: number;
  message: string;
}

interface Granted {
  permission: Use['permission'];
  value: string;
  /** The property of plugin.json, for people. */
  path: string;
}

const paths: Readonly<Record<Use['permission'], string>> = {
  conversation: 'permissions.conversation',
  contact: 'permissions.contact',
  history: 'permissions.history',
  storage: 'permissions.storage.scopes',
  hosts: 'permissions.network.hosts',
  methods: 'permissions.network.methods',
  secrets: 'permissions.secrets',
  network: 'permissions.network',
  llm: 'permissions.llm',
  kb: 'permissions.kb',
  schedule: 'permissions.schedule',
  forward: 'permissions.forward',
  handoff_cause: 'permissions.handoff_cause',
};
/** How plugin.json asks for what is no member of a list. */
const additions: Partial<Record<Use['permission'], string>> = {
  history: '"history": 20',
  network: '"network": { "hosts": ["api.example.com"] }',
  llm: '"llm": true',
  kb: '"kb": true',
  schedule: '"schedule": true',
  forward: '"forward": true',
  handoff_cause: '"handoff_cause": true',
};

/** Compares what the code uses with what plugin.json asks for; `manifestText` is the text of that file. */
export function compareUses(uses: readonly Use[], permissions: Permissions, manifestText: string): Finding[] {
  const granted = grantsOf(permissions);
  const missing = firstOfEach(uses.filter((use) => !granted.some((grant) => isSame(grant, use))));
  const unused = granted.filter((grant) => !uses.some((use) => isSame(grant, use)) && isTelling(grant, uses));
  const line = (word: string) => lineOf(manifestText, word);
  return [
    ...missing
      .filter((use) => !isImplied(use, missing))
      .map((use): Finding => ({ level: 'error', file: use.file, line: use.line, message: lack(use, line) })),
    ...unused.map((grant): Finding => ({ level: 'warning', file: 'plugin.json', ...excess(grant, line) })),
  ];
}

function isSame(one: { permission: string; value: string }, other: { permission: string; value: string }): boolean {
  return one.permission === other.permission && one.value === other.value;
}

function firstOfEach(uses: readonly Use[]): Use[] {
  return uses.filter((use, index) => uses.findIndex((other) => isSame(use, other)) === index);
}

// Without any network permission, one sentence is enough, and best the one that names the host.
function isImplied({ permission }: Use, missing: readonly Use[]): boolean {
  const has = (wanted: Use['permission']) => missing.some((use) => use.permission === wanted);
  return has('network') && (permission === 'methods' || (permission === 'network' && has('hosts')));
}

// An address that is computed may be any of the hosts, and GET is granted without being asked for.
function isTelling({ permission, value }: Granted, uses: readonly Use[]): boolean {
  if (permission === 'methods') return value !== 'GET';
  // What is handed off may be put together elsewhere.
  if (permission === 'handoff_cause') return false;
  const count = (wanted: Use['permission']) => uses.filter((use) => use.permission === wanted).length;
  return permission !== 'hosts' || count('hosts') >= count('network');
}

function grantsOf(permissions: Permissions): Granted[] {
  const { conversation, contact, history, storage, network, secrets } = permissions;
  const list = (permission: Use['permission'], values: readonly string[]) =>
    values.map((value) => ({ permission, value, path: paths[permission] }));
  const switched = (['llm', 'kb', 'schedule', 'forward', 'handoff_cause'] as const).filter((name) => permissions[name]);
  return [
    ...list('conversation', conversation),
    ...list('contact', contact),
    ...(history > 0 ? list('history', ['']) : []),
    ...list('storage', storage?.scopes ?? []),
    ...list('hosts', network?.hosts ?? []),
    ...list('methods', network?.methods ?? []),
    ...(network ? list('network', ['']) : []),
    ...list(
      'secrets',
      secrets.map(({ name }) => name),
    ),
    ...switched.flatMap((name) => list(name, [''])),
  ];
}

function lack({ permission, value, what }: Use, lineOfWord: (word: string) => number | null): string {
  const path = paths[permission];
  const [, parent = '', leaf = ''] = path.split('.');
  const at = lineOfWord(leaf || parent) ?? lineOfWord('permissions');
  const place = at === null ? 'plugin.json' : `plugin.json:${at}`;
  const addition = additions[permission];
  const fix = addition ? `add ${addition} to permissions` : `add ${JSON.stringify(value)} to ${path}`;
  return `\`${what}\` is used, but plugin.json does not ask for it: ${fix} (${place})`;
}

function excess(
  { path, value }: Granted,
  lineOfWord: (word: string) => number | null,
): { line: number; message: string } {
  const leaf = path.split('.').at(-1) ?? '';
  const line = (value === '' ? null : lineOfWord(value)) ?? lineOfWord(leaf) ?? 1;
  const named = value === '' ? path : `${path} names ${JSON.stringify(value)}, which`;
  const sentence = value === '' ? `${named} is asked for, but the code` : `${named} the code`;
  return { line, message: `${sentence} does not use: leave it out, and the bot is trusted with less` };
}

/** The number of the first line that has the word in quotes; null for none. */
function lineOf(text: string, word: string): number | null {
  const at = text.split('\n').findIndex((line) => line.includes(`"${word}"`));
  return at === -1 ? null : at + 1;
}

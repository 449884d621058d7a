import type { Permissions } from '../../sandbox/run.ts';
import { lineOfJson } from './json-lines.ts';
import type { Needed, Permission, Use, Uses } from './uses.ts';

/** A problem, or a warning, with its place in a file of the author. */
export interface Finding {
  level: 'error' | 'warning';
  file: string;
  line: number;
  message: string;
}

interface Granted extends Needed {
  /** The property of plugin.json, for people. */
  path: string;
}

const paths: Readonly<Record<Permission, string>> = {
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
  tools: 'permissions.tools',
  handoff_cause: 'permissions.handoff_cause',
};
/** Lines of plugin.json for permissions that are no member of a list. */
const additions: Partial<Record<Permission, string>> = {
  history: '"history": 20',
  network: '"network": { "hosts": ["api.example.com"] }',
  llm: '"llm": true',
  kb: '"kb": true',
  schedule: '"schedule": true',
  forward: '"forward": true',
  tools: '"tools": true',
  handoff_cause: '"handoff_cause": true',
};

/** The text of a plugin.json, and the place in it of the part that is compared; empty for the whole. */
interface AskingText {
  text: string;
  part: readonly string[];
}

/** Compares what the code uses with what plugin.json asks for. */
export function compareUses({ found, hidden }: Uses, permissions: Permissions, asking: AskingText): Finding[] {
  const granted = grantsOf(permissions);
  const missing = firstOfEach(found.filter((use) => !granted.some((grant) => isSame(grant, use))));
  const unused = granted.filter((grant) => !found.some((use) => isSame(grant, use)) && isTelling(grant, hidden));
  return [
    ...missing
      .filter((use) => !isImplied(use, missing))
      .map((use): Finding => ({ level: 'error', file: use.file, line: use.line, message: lack(use, asking) })),
    ...unused.map((grant): Finding => ({ level: 'warning', file: 'plugin.json', ...excess(grant, asking) })),
  ];
}

function isSame(one: Needed, other: Needed): boolean {
  return one.permission === other.permission && one.value === other.value;
}

function firstOfEach(uses: readonly Use[]): Use[] {
  return uses.filter((use, index) => uses.findIndex((other) => isSame(use, other)) === index);
}

// Without any network permission, one sentence is enough, and best the one that names the host.
function isImplied({ permission }: Use, missing: readonly Use[]): boolean {
  const has = (wanted: Permission) => missing.some((use) => use.permission === wanted);
  return has('network') && (permission === 'methods' || (permission === 'network' && has('hosts')));
}

/** Whether it says something that no use was found: not of what may be out of sight, nor of GET, which need not be asked for. */
function isTelling({ permission, value }: Granted, hidden: Uses['hidden']): boolean {
  if (hidden.has('all') || hidden.has(permission)) return false;
  if (permission === 'methods') return value !== 'GET';
  // The argument of a handoff may be put together elsewhere.
  return permission !== 'handoff_cause';
}

function grantsOf(permissions: Permissions): Granted[] {
  const { conversation, contact, history, storage, network, secrets } = permissions;
  const list = (permission: Permission, values: readonly string[]) =>
    values.map((value) => ({ permission, value, path: paths[permission] }));
  const switched = (['llm', 'kb', 'schedule', 'forward', 'tools', 'handoff_cause'] as const).filter(
    (name) => permissions[name],
  );
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

function lack({ permission, value, what }: Use, { text, part }: AskingText): string {
  const path = paths[permission];
  const line = lineOfJson(text, [...part, ...path.split('.')]);
  const place = line === null ? 'plugin.json' : `plugin.json:${line}`;
  const addition = additions[permission];
  const fix = addition ? `add ${addition} to permissions` : `add ${JSON.stringify(value)} to ${path}`;
  return `\`${what}\` is used, but plugin.json does not ask for it: ${fix} (${place})`;
}

function excess({ path, value }: Granted, { text, part }: AskingText): { line: number; message: string } {
  const line = lineOfJson(text, [...part, ...path.split('.')], value === '' ? undefined : value) ?? 1;
  const named = value === '' ? path : `${path} names ${JSON.stringify(value)}, which`;
  const sentence = value === '' ? `${named} is asked for, but the code` : `${named} the code`;
  return { line, message: `${sentence} does not use: leave it out, and the bot is trusted with less` };
}

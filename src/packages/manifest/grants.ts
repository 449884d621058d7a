import { describeHook, type HookHandler } from './hooks.ts';
import type { Manifest } from './manifest.ts';
import { isSetting } from './setting-hosts.ts';
import { defaultLimits, type RunLimits } from '../../sandbox/run.ts';

/** The permissions of a manifest; absent ones are not granted. */
export interface GrantedPermissions {
  readonly conversation?: readonly string[];
  readonly contact?: readonly string[];
  readonly history?: number;
  readonly notes_read?: boolean;
  readonly receive_own?: boolean;
  readonly storage?: { readonly scopes: readonly string[]; readonly maxBytes: number } | null;
  readonly network?: { readonly hosts: readonly string[]; readonly methods: readonly string[] } | null;
  readonly secrets?: readonly { readonly name: string; readonly hosts: readonly string[] }[];
  readonly llm?: boolean;
  readonly kb?: boolean;
  readonly schedule?: boolean;
  readonly forward?: boolean;
  readonly tools?: boolean;
  readonly handoff_cause?: boolean;
  readonly contacts?: 'read' | 'write';
  readonly conversations?: 'write';
  readonly channel?: boolean;
  readonly mail?: string;
}

/** A single right of a plugin. */
interface Grant {
  /** The right's name, for example `conversation.reply`; grants of different kinds never cover each other. */
  kind: string;
  /** The host where the grant is bound to one; null for everything else. */
  host: string | null;
  /** The amount of it that is granted. */
  amount: number;
  /** A sentence for operators about the right. */
  words: string;
}

const actionWords: Readonly<Record<string, string>> = {
  reply: 'Write to customers',
  note: 'Write private notes for agents',
  handoff: 'Give conversations to people',
  resolve: 'Resolve conversations',
  snooze: 'Snooze conversations',
  open: 'Open conversations',
  assign: 'Assign conversations to agents and teams',
  label: 'Add and remove labels of conversations',
  priority: 'Set the priority of conversations',
  attributes: 'Set custom attributes of conversations',
  mute: 'Block contacts',
  sla: 'Set the SLA policy of conversations',
  bot: 'Choose the bot of conversations',
};

const fieldWords: Readonly<Record<string, string>> = {
  name: 'name',
  email: 'e-mail address',
  phone_number: 'phone number',
  identifier: 'identifier',
  custom_attributes: 'custom attributes',
  visitor_attributes: 'attributes that the visitor gave',
};

const scopeWords: Readonly<Record<string, string>> = {
  conversation: 'each conversation',
  contact: 'each customer',
  installation: 'each account',
};

const switches = {
  notes_read: 'Read private notes of agents',
  receive_own: 'Be called for outgoing messages, its own included',
  llm: "Ask the account's language model",
  kb: "Search the account's knowledge base",
  schedule: 'Have itself called later',
  forward: 'Forward its events whole, with everything about the customer, to a server that the account sets',
  tools: 'Call the tools that the account sets for it, at hosts that the account has approved',
  conversations: 'Find and begin conversations in its inboxes, for requests of other systems',
  channel: 'Bring in messages of customers, and send them everything public that is written in its inboxes',
  mail: 'Send mail from the address of its inbox',
  handoff_cause: 'Say why it gives conversations to people, as their handoff_reason',
} as const;

/** The rights of a version of a plugin. */
interface Rights {
  permissions: GrantedPermissions;
  hooks?: Readonly<Record<string, Pick<HookHandler, 'verify'>>>;
}

/** Rights and limits of a part. */
interface Bounds extends Rights {
  limits: RunLimits;
}

/** A part of a package with its rights and limits. */
interface GrantedPart extends Bounds, Pick<Manifest, 'kind' | 'isPart'> {}

/** A package, as far as it may do something. */
interface Parts {
  parts: readonly GrantedPart[];
}

/** The permissions of a package in words, one sentence each; none if nothing is granted. */
export function describePermissions({ parts }: Parts): string[] {
  return parts.flatMap((part) => describePart(part).map((words) => asPart(part, words)));
}

/** The permissions of one part in words, one sentence each. */
export function describePart(rights: Rights): string[] {
  return grantsOf(rights).map(({ words }) => words);
}

function asPart({ kind, isPart }: GrantedPart, words: string): string {
  return isPart ? `As ${kind}: ${words}` : words;
}

/** Bounds to compare with while no version runs. */
const nothing: Bounds = { permissions: {}, limits: defaultLimits };

/** Returns a sentence for each part, right or limit of `next` beyond `present`; none if `next` widens nothing. */
export function findWidening(present: Parts | null, next: Parts): string[] {
  return next.parts.flatMap((part) => {
    const before = present?.parts.find(({ kind }) => kind === part.kind) ?? null;
    const added = present && !before ? [addedWords[part.kind]] : [];
    return [...added, ...findWideningOfPart(before, part).map((words) => asPart(part, words))];
  });
}

const addedWords: Readonly<Record<Manifest['kind'], string>> = {
  bot: 'Serve conversations, by a new part for bots',
  automation: 'Hear what happens in accounts, by a new part for automations',
  channel: 'Connect inboxes with other systems, by a new part for channels',
};

function findWideningOfPart(present: Bounds | null, next: Bounds): string[] {
  const { limits, ...rights } = present ?? nothing;
  const granted = grantsOf(rights);
  const wider = grantsOf(next).filter((grant) => !granted.some((held) => covers(held, grant)));
  return [...wider.map(({ words }) => words), ...findRaised(limits, next.limits)];
}

const limitWords: Readonly<Record<keyof RunLimits, (limit: number) => string>> = {
  sliceMs: (limit) => `Compute for up to ${limit} ms at a time`,
  wallMs: (limit) => `Take up to ${limit} ms for a run`,
  heapMb: (limit) => `Use up to ${limit} MiB of memory`,
};

function findRaised(present: RunLimits, next: RunLimits): string[] {
  const names = Object.keys(limitWords) as (keyof RunLimits)[];
  return names
    .filter((name) => next[name] > present[name])
    .map((name) => `${limitWords[name](next[name])} (limits.${name})`);
}

function covers(held: Grant, wanted: Grant): boolean {
  return held.kind === wanted.kind && held.amount >= wanted.amount && coversHost(held.host, wanted.host);
}

function coversHost(held: string | null, wanted: string | null): boolean {
  if (held === null || wanted === null) return held === wanted;
  return held === wanted || (held.startsWith('*.') && wanted.endsWith(held.slice(1)));
}

function grantsOf({ permissions, hooks = {} }: Rights): Grant[] {
  const names = Object.keys(switches) as (keyof typeof switches)[];
  return [
    ...(permissions.conversation ?? []).map((action) =>
      plain(`conversation.${action}`, `${actionWords[action] ?? 'Act on conversations'} (conversation.${action})`),
    ),
    ...(permissions.contact ?? []).map((field) =>
      plain(`contact.${field}`, `Read the customer's ${fieldWords[field] ?? field} (contact.${field})`),
    ),
    ...historyGrants(permissions),
    ...names.filter((name) => permissions[name]).map((name) => plain(name, `${switches[name]} (${name})`)),
    ...contactsGrants(permissions),
    ...storageGrants(permissions),
    ...networkGrants(permissions),
    ...secretGrants(permissions),
    ...Object.entries(hooks).map(([name, hook]) => plain(`hooks.${name}.${hook.verify}`, describeHook(name, hook))),
  ];
}

function plain(kind: string, words: string): Grant {
  return { kind, host: null, amount: 1, words };
}

function historyGrants({ history = 0 }: GrantedPermissions): Grant[] {
  if (history === 0) return [];
  const words = `Read the latest ${history} messages of its conversations (history)`;
  return [{ kind: 'history', host: null, amount: history, words }];
}

// Reading is part of writing.
function contactsGrants({ contacts }: GrantedPermissions): Grant[] {
  if (!contacts) return [];
  const verb = contacts === 'read' ? 'Find' : 'Find and create';
  const words = `${verb} contacts of the account, for requests of other systems (contacts)`;
  return [{ kind: 'contacts', host: null, amount: contacts === 'read' ? 1 : 2, words }];
}

function storageGrants({ storage }: GrantedPermissions): Grant[] {
  if (!storage) return [];
  const { scopes, maxBytes } = storage;
  return scopes.map((scope) => ({
    kind: `storage.${scope}`,
    host: null,
    amount: maxBytes,
    words: `Remember up to ${maxBytes} bytes for ${scopeWords[scope] ?? scope} (storage.${scope})`,
  }));
}

function networkGrants({ network }: GrantedPermissions): Grant[] {
  if (!network) return [];
  return network.hosts.flatMap((host) =>
    network.methods.map((method) => ({
      kind: `network.${method}`,
      host,
      amount: 1,
      words: `Send ${method} requests to ${hostWords(host)} (network)`,
    })),
  );
}

function secretGrants({ secrets = [] }: GrantedPermissions): Grant[] {
  return secrets.flatMap(({ name, hosts }) =>
    hosts.map((host) => ({
      kind: `secrets.${name}`,
      host,
      amount: 1,
      words: `Send the secret ${name} to ${hostWords(host)}, without seeing it (secrets)`,
    })),
  );
}

// Accounts choose the host where the manifest names a setting.
function hostWords(host: string): string {
  return isSetting(host) ? `the host in the setting ${host.slice(1)}` : host;
}

import type { Shape } from '../schemas.ts';

/** A command that a bot returns, such as a reply; validated against schemas/runtime/actions.json. */
export type Action = Shape<'runtime/actions'>[number];
type GrantedFile = NonNullable<Shape<'runtime/plugin'>['permissions']>;
/** An action that a manifest may grant under `permissions.conversation`. */
type ActionType = NonNullable<GrantedFile['conversation']>[number];
/** A field of the contact that a manifest may ask for. */
type ContactField = NonNullable<GrantedFile['contact']>[number];
/** The owner of a value that a bot stores; `installation` is the account as a whole. */
type StorageScope = NonNullable<GrantedFile['storage']>['scopes'][number];
/** A method that requests of a bot may have. */
type FetchMethod = NonNullable<NonNullable<GrantedFile['network']>['methods']>[number];
/** The events a bot may listen to. */
export type BotEventName = NonNullable<Shape<'runtime/plugin'>['events']>[number];

/**
 * A bot's code as one classic script whose value is an object with the bot as `default`. `hash` names the code: bundles with
 * one hash have the same code.
 */
export interface Bundle {
  hash: string;
  code: string;
  /** For code of several parts, whose value is an object of functions that load one each: the part that runs. */
  part?: string;
}

/** A secret that a manifest names: the hosts, of those of `network`, that it may be sent to. */
interface SecretGrant {
  name: string;
  hosts: readonly string[];
}

/**
 * The permissions of a manifest, with the defaults filled in; whatever they do not list is withheld. `null` = not granted
 * at all. Hosts are `name` or `name:port` in lower case, for https.
 */
export interface Permissions {
  conversation: readonly ActionType[];
  contact: readonly ContactField[];
  /** The number of the conversation's latest messages that the bot gets. */
  history: number;
  /** The bot receives private notes too. */
  notes_read: boolean;
  /** The bot receives outgoing messages too, its own included. */
  receive_own: boolean;
  /** `maxBytes`: keys and values of each conversation, each contact, each account. */
  storage: { scopes: readonly StorageScope[]; maxBytes: number } | null;
  network: {
    hosts: readonly string[];
    methods: readonly FetchMethod[];
    /** Hosts, of those, that may be called without encryption. */
    plainHosts?: readonly string[];
  } | null;
  secrets: readonly SecretGrant[];
  llm: boolean;
  kb: boolean;
  schedule: boolean;
  forward: boolean;
  /** The bot takes requests of other systems; not granted when absent. */
  hooks?: boolean;
  /** The bot may find contacts, with `write` create them, too; not granted when absent. */
  contacts?: 'read' | 'write';
  /** The bot may find and begin conversations; not granted when absent. */
  conversations?: 'write';
  /** The bot may call the tools of its settings; not granted when absent. */
  tools?: boolean;
  /** The plugin connects an inbox with another system: it brings in messages of customers, and sends them what is written; not granted when absent. */
  channel?: boolean;
  /** The channel sends mail; the name of the secret with the URL of its server. Not granted when absent. */
  mail?: string;
  /** The bot may name the `cause` of a handoff; not granted when absent. */
  handoff_cause?: boolean;
}

/** The permissions of a manifest that asks for nothing. */
export const noPermissions: Permissions = {
  conversation: [],
  contact: [],
  history: 0,
  notes_read: false,
  receive_own: false,
  storage: null,
  network: null,
  secrets: [],
  llm: false,
  kb: false,
  schedule: false,
  forward: false,
};

/**
 * The limits of one run: `sliceMs` of processor time between two waits (all slices together may take twice that), `wallMs`
 * from start to end without the time for which a busy machine stalls it, `heapMb` MiB of JavaScript heap.
 */
export interface RunLimits {
  sliceMs: number;
  wallMs: number;
  heapMb: number;
}

const slicesPerRun = 2;

/** The processor time of all slices of a run together, in milliseconds. */
export function computingMsOf({ sliceMs }: RunLimits): number {
  return sliceMs * slicesPerRun;
}

/** The limits of a run whose manifest sets none. */
export const defaultLimits: RunLimits = { sliceMs: 500, wallMs: 20_000, heapMb: 32 };

/** A single event for a bot. */
export interface RunRequest {
  /** The bot and its account: accounts take turns, and within an account its bots. */
  owner: { account: number; bot: number };
  /** The share of the children that it may occupy; `bot` when absent. */
  kind?: 'bot' | 'automation' | 'channel';
  bundle: Bundle;
  /** The event's body as plain JSON; contact fields that are not granted are removed before the child gets it. */
  event: unknown;
  /** The name of the event, which is the name of the bot's handler. */
  handler: string;
  config: Record<string, unknown>;
  /** The latest messages of the conversation; absent when the bot may not read them. */
  history?: unknown;
  /** The seed of `Math.random` in the isolate; the same request with the same seed gives the same actions. */
  seed: number;
  /** The time that the bot's clock shows throughout the run, in milliseconds since 1970. */
  now: number;
  limits: RunLimits;
  permissions: Permissions;
  /** Answers the calls of a run that is repeated: none of them reaches the service. */
  recall?: Recall;
  /** Host calls that this run may make, beside those of the sandbox. */
  hostCalls?: Readonly<Record<string, HostCall>>;
  /**
   * Called when the run begins to wait for the service without occupying a child; the returned function is called when it
   * goes on, or has ended.
   */
  onWait?: () => () => void;
}

/** How a run ended; docs/plugins.md explains each outcome to authors. */
export type RunOutcome =
  | 'ok'
  | 'no_handler'
  | 'timeout'
  | 'deadline'
  | 'unresponsive'
  | 'memory'
  | 'rss_limit'
  | 'crashed'
  | 'unavailable'
  | 'never_settled'
  | 'threw'
  | 'invalid_actions'
  | 'forbidden_action'
  | 'too_many_calls'
  | 'too_many_actions'
  | 'output_too_large'
  | 'load_failed'
  | 'queue_full'
  | 'waiting_full';

/** A line a bot logged; level is `info`, `warn` or `error`. */
export interface LogLine {
  level: string;
  message: string;
  fields?: Record<string, unknown>;
}

/** A call of a bot to the service with its answer: the result, or the error that the bot got. */
export interface RecordedCall {
  name: string;
  input: unknown;
  output?: unknown;
  error?: { code: string; message: string };
  ms: number;
}

type Recalled = Pick<RecordedCall, 'output' | 'error'> | null;

/** Finds the recorded answer to a call; null when there is none, which ends the run as `forbidden_action`. */
export type Recall = (call: Pick<RecordedCall, 'name' | 'input'>) => Recalled | Promise<Recalled>;

/** The result of a run. `actions` is empty unless the outcome is `ok`. */
export interface RunResult {
  outcome: RunOutcome;
  actions: Action[];
  logs: LogLine[];
  /** The answered calls, in the order in which the bot made them: with these answers the run can be repeated. */
  calls: RecordedCall[];
  /** The error as a text for authors and operators: at most 4 KiB, without paths of the host. */
  error?: string;
  /** With the outcome `no_handler`: the events that the bot has handlers for. */
  handlers?: string[];
  /** Milliseconds from the start of the run to its end, without its time in the queue. */
  wallMs: number;
  /** Milliseconds of processor time. */
  cpuMs: number;
}

/** Runs bots in isolated child processes. */
export interface Sandbox {
  /** Runs a bot on an event. Never rejects because of the bot: every failure of a bot is an outcome. */
  run(request: RunRequest): Promise<RunResult>;
  /** Starts a child, and keeps one from now on: the next run need not wait for its start. */
  warm(): void;
  /** Kills the children; queued and current runs end as `crashed`. */
  close(): Promise<void>;
  /** The number of runs that wait for a free child. */
  readonly queued: number;
}

/**
 * A function of the service that bots can call by its name: `ctx.call(name, input)`. Input and result are JSON; a
 * thrown error reaches the bot as `code` and `message`, except for ForbiddenCall. `signal` is aborted when the run ends
 * early.
 */
export type HostCall = (input: unknown, run: RunRequest, signal: AbortSignal) => Promise<unknown>;

/** Thrown by a host call for which the bot has no permission: ends the run, whatever the bot would do about it. */
export class ForbiddenCall extends Error {
  override name = 'ForbiddenCall';
}

/** Bounds that no manifest can change. Characters are UTF-16 code units. */
export const runBounds = {
  actions: 20,
  /** Messages and receipts that a channel brings in by one run: other systems send many in one request. */
  channelActions: 500,
  replies: 5,
  schedules: 5,
  /** Files of all replies of a run together. */
  files: 10,
  scheduleSeconds: { min: 60, max: 90 * 24 * 3600 },
  scheduleBytes: 8_192,
  calls: 20,
  /** All actions of a run together, as JSON. */
  outputChars: 256 * 1024,
  callInputChars: 64 * 1024,
  /** How deep objects and lists of a call's input may be nested: whoever compares or stores it goes down all of it. */
  callInputDepth: 100,
  /** All answers to one round of calls together, as JSON, without those of `fetch`. */
  callOutputChars: 256 * 1024,
  /** All answers to a run's calls together, as JSON. */
  runOutputChars: 4 * 1024 * 1024,
  logLines: 100,
  logChars: 16 * 1024,
  logLineChars: 1024,
  errorChars: 4096,
  handlers: 50,
  /** Event and configuration together, as JSON. */
  inputChars: 2 * 1024 * 1024,
  bundleChars: 512 * 1024,
} as const;

/** Returns the bounds of a run with these permissions. */
export function boundsOf({
  channel,
}: Pick<Permissions, 'channel'>): Readonly<Record<keyof typeof runBounds, unknown>> & { actions: number } {
  return channel ? { ...runBounds, actions: runBounds.channelActions } : runBounds;
}

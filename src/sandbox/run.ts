import type { Shape } from '../schemas.ts';

/** One thing a bot wants done; validated against schemas/runtime/actions.json. */
export type Action = Shape<'runtime/actions'>[number];
/** What a manifest may grant under `permissions.conversation`: the type of an action. */
export type ActionType = Action['type'];
/** A field of the contact that a manifest may ask for. */
type ContactField = 'name' | 'email' | 'phone_number' | 'identifier' | 'custom_attributes' | 'visitor_attributes';
/** The events a bot may listen to. */
export type BotEventName = Shape<'runtime/plugin'>['events'][number];

/** A bot's code as one classic script; evaluating it gives an object whose `default` is the bot. `hash` is the hex SHA-256 of `code`. */
export interface Bundle {
  hash: string;
  code: string;
}

/** What a bot was granted; whatever is not listed is refused. */
export interface Permissions {
  conversation: readonly ActionType[];
  contact: readonly ContactField[];
  /** Private notes reach the bot too. */
  notes_read: boolean;
  /** Outgoing messages, the bot's own included, reach the bot too. */
  receive_own: boolean;
}

/** What one run may use: milliseconds of uninterrupted computation (of all computation twice that), milliseconds in all, MiB of values. */
export interface RunLimits {
  sliceMs: number;
  wallMs: number;
  heapMb: number;
}

const slicesPerRun = 2;

/** Milliseconds that all slices of a run together may compute. */
export function computingMsOf({ sliceMs }: RunLimits): number {
  return sliceMs * slicesPerRun;
}

/** The limits of a manifest that names none. */
export const defaultLimits: RunLimits = { sliceMs: 500, wallMs: 20_000, heapMb: 32 };

/** One event for one bot. */
export interface RunRequest {
  /** Whose run it is: accounts take turns, and within an account its bots. */
  owner: { account: number; bot: number };
  bundle: Bundle;
  /** Plain JSON, what the bot sees as `ctx.event`; contact fields that are not granted are removed before it leaves. */
  event: unknown;
  /** The name of the event. */
  handler: string;
  config: Record<string, unknown>;
  /** Seeds `Math.random` inside; the same request with the same seed gives the same actions. */
  seed: number;
  /** The bot's clock, which stands still, in milliseconds since 1970. */
  now: number;
  limits: RunLimits;
  permissions: Permissions;
}

/** How a run ended; README of bots/ explains each to authors. */
export type RunOutcome =
  | 'ok'
  | 'no_handler'
  | 'timeout'
  | 'deadline'
  | 'unresponsive'
  | 'memory'
  | 'rss_limit'
  | 'crashed'
  | 'never_settled'
  | 'threw'
  | 'invalid_actions'
  | 'forbidden_action'
  | 'too_many_calls'
  | 'too_many_actions'
  | 'output_too_large'
  | 'load_failed'
  | 'queue_full';

/** A line a bot logged; level is `info`, `warn` or `error`. */
export interface LogLine {
  level: string;
  message: string;
}

/** What came of a run. `actions` is empty unless the outcome is `ok`. */
export interface RunResult {
  outcome: RunOutcome;
  actions: Action[];
  logs: LogLine[];
  /** For people who write or operate bots: at most 4 KiB, without paths of the host. */
  error?: string;
  /** With `no_handler`: the events the bot does handle. */
  handlers?: string[];
  /** Milliseconds from the start of the run to its end, waiting in the queue not included. */
  wallMs: number;
}

/** Runs bots in isolated child processes. */
export interface Sandbox {
  /** Never rejects for a bot's fault: whatever a bot does ends in an outcome. */
  run(request: RunRequest): Promise<RunResult>;
  /** Kills the children; runs that wait or are under way end `crashed`. */
  close(): Promise<void>;
  /** Runs that wait for a free child. */
  readonly queued: number;
}

/**
 * A service that a bot may call while it runs, by name (`ctx.call(name, input)`). Gets JSON, gives JSON; an error it
 * throws reaches the bot as `code` and `message`. `signal` is aborted when the run ends early.
 */
export type HostCall = (input: unknown, run: RunRequest, signal: AbortSignal) => Promise<unknown>;

/** Bounds that no manifest can change. Characters are UTF-16 code units. */
export const runBounds = {
  actions: 20,
  replies: 5,
  calls: 20,
  /** Of all actions of a run as JSON. */
  outputChars: 256 * 1024,
  callInputChars: 64 * 1024,
  /** Of all answers to one round of calls as JSON. */
  callOutputChars: 256 * 1024,
  logLines: 100,
  logChars: 16 * 1024,
  logLineChars: 1024,
  errorChars: 4096,
  handlers: 50,
  /** Of event and configuration together as JSON. */
  inputChars: 2 * 1024 * 1024,
  bundleChars: 512 * 1024,
} as const;

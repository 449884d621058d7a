import { isDeepStrictEqual } from 'node:util';
import type { BotRun } from '../domain/bots/run-records.ts';
import type { StorageWrite } from '../domain/bots/storage.ts';
import type { BotToRun } from '../records/bots/bot-to-run.ts';
import type { Clock, Random } from '../lib/ports.ts';
import { findFitting } from './fitting-plugin.ts';
import type { InstalledPlugin, InstalledPlugins } from './installed-plugins.ts';
import { judgeActions } from '../sandbox/parent/action-batch.ts';
import { noPermissions, type Permissions, type RunResult, type Sandbox } from '../sandbox/run.ts';
import { permissionsWith } from '../packages/manifest/setting-hosts.ts';
import type { Author } from './doors/customers.ts';
import { openDoors, type DoorPorts, type DoorRun } from './doors/doors.ts';
import type { OpenMail } from './doors/mail.ts';
import { readHistory, type ReadMessages } from './history.ts';
import { errorOfRun } from './run-error.ts';
import type { TokenUsage } from './usage.ts';

/** An event for a plugin bot. */
export interface BotEvent {
  account: { id: number; name: string };
  botId: number;
  event: {
    id: number;
    name: string;
    /** Null for an event without a conversation, such as one of a contact. */
    conversationId: number | null;
    depth: number;
  };
  /** The event's body as JSON text. */
  body: string;
  attempt: number;
  /** The handler, where it has another name than the event. */
  handler?: string;
  /** The author of what its run does, where it has no conversation. */
  author?: Author;
  /** Earlier attempts that ended with a result. */
  failures: number;
  /** See RunRequest. */
  onWait?: () => () => void;
}

/** A completed run: input and result. It has had no effect yet. */
export interface Run {
  input: BotEvent;
  bot: BotToRun;
  pack: InstalledPlugin | null;
  config: Record<string, unknown>;
  /** The manifest's, with the hosts that the settings name. */
  permissions: Permissions;
  seed: number;
  clock: Date;
  /** Values that it stored, to be written with its actions. */
  writes: readonly StorageWrite[];
  /** Whether its event is forwarded to the bot's server, once its actions are committed. */
  forwards: boolean;
  /** See Doors. */
  health: string | null | undefined;
  /** See Doors. */
  openMail: OpenMail | null;
  tokens: TokenUsage;
  result: RunResult;
}

const noTokens: TokenUsage = { promptTokens: 0, completionTokens: 0 };
const nothing = { writes: [], forwards: false, health: undefined, openMail: null, tokens: noTokens };

export interface RunPorts {
  plugins: Pick<InstalledPlugins, 'find' | 'refresh'>;
  sandbox: Sandbox;
  clock: Clock;
  random: Random;
  /** Reads a conversation's latest messages; without it no bot gets any. */
  readMessages?: ReadMessages;
  /** Adds the content of the request to the body of a `hook_received`; null when it is deleted. */
  readHook?: (accountId: number, event: Record<string, unknown>) => Promise<Record<string, unknown> | null>;
  /** Ports of `ctx`; a door without a port rejects with `unavailable`. */
  doors?: DoorPorts;
  /** Opens a sealed secret of a bot. */
  openSecret?: (sealed: string) => string;
}

/** Runs a bot on an event in the sandbox; changes nothing. */
export async function runBot(ports: RunPorts, input: BotEvent, bot: BotToRun): Promise<Run> {
  const { plugins, sandbox, clock, random, readMessages } = ports;
  const { pack, config, problems } = await findFitting(plugins, bot);
  const seed = random.bytes(4).readUInt32BE();
  const now = clock.now();
  const base = { input, bot, pack, seed, clock: now, ...nothing };
  const without = { ...base, permissions: noPermissions };
  if (!pack) return { ...without, config: {}, result: unloaded(`No plugin ${bot.pluginId} is installed`) };
  if (problems.length > 0) return { ...without, config, result: unloaded(problems.join('; ')) };
  const { kind, limits } = pack.manifest;
  const permissions = permissionsWith(pack.manifest.permissions, config);
  const place = { accountId: input.account.id, conversationId: input.event.conversationId };
  const history = readMessages ? await readHistory(readMessages, place, permissions) : null;
  const event = JSON.parse(input.body) as unknown;
  const { identity } = pack.manifest;
  const visit = { input, bot, event, permissions, now, config, identity };
  const doors = openDoors(doorRunOf(ports, visit), ports.doors ?? {});
  const result = await sandbox.run({
    owner: { account: input.account.id, bot: bot.id },
    kind,
    bundle: pack.bundle,
    event,
    handler: handlerOf(input),
    config,
    seed,
    now: now.getTime(),
    limits,
    permissions,
    hostCalls: doors.hostCalls,
    ...(history ? { history: history.output } : {}),
    ...(input.onWait ? { onWait: input.onWait } : {}),
  });
  const calls = [...(history ? [history] : []), ...result.calls];
  const logs = doors.redact(result.logs);
  const error = result.error === undefined ? {} : { error: doors.redact(result.error) };
  // The name in place of a secret may be none that the action allows, as of a label.
  const actions = doors.redact(result.actions);
  const judged = isDeepStrictEqual(actions, result.actions)
    ? { actions }
    : { actions: [], ...judgeActions(actions, { permissions, now: now.getTime() }) };
  return {
    ...base,
    config,
    permissions,
    writes: doors.writes,
    forwards: doors.forwards,
    health: doors.health,
    openMail: doors.openMail,
    tokens: doors.tokens,
    result: { ...result, calls, logs, ...error, ...judged },
  };
}

function handlerOf({ handler, event }: BotEvent): string {
  return handler ?? event.name;
}

/** Returns a run that was refused before it began. */
export function refusedRun({ clock }: Pick<RunPorts, 'clock'>, input: BotEvent, bot: BotToRun): Run {
  const permissions = noPermissions;
  const base = { input, bot, pack: null, config: {}, permissions, seed: 0, clock: clock.now() };
  return { ...base, ...nothing, result: unloaded('') };
}

interface DoorVisit {
  input: BotEvent;
  bot: BotToRun;
  event: unknown;
  permissions: Permissions;
  now: Date;
  config: Record<string, unknown>;
  /** The name of the setting, as the manifest has it. */
  identity: string | null;
}

function doorRunOf({ openSecret }: RunPorts, visit: DoorVisit): DoorRun {
  const { input, bot, event, permissions, now, config, identity } = visit;
  const { account, botId, event: about } = input;
  const known = identity === null ? undefined : config[identity];
  const { conversationId } = about;
  const contactId = contactEvents.has(about.name) ? (event as { id: number }).id : contactIdOf(event);
  return {
    owner: { accountId: account.id, botId, conversationId, contactId },
    permissions,
    account,
    author: input.author ?? null,
    now,
    isSystemBot: bot.isSystem ?? false,
    hasServer: bot.hasServer ?? false,
    messageId: messageIdOf(about.name, event),
    tokensPerDay: bot.tokensPerDay ?? null,
    secretNames: Object.keys(bot.secrets ?? {}),
    identity: typeof known === 'string' ? known : null,
    linkedFiles: handlerOf(input) === 'send' ? filesIn(event) : [],
    tools: config['tools'],
    secret: (name) => {
      const sealed = bot.secrets && Object.hasOwn(bot.secrets, name) ? bot.secrets[name] : undefined;
      return sealed === undefined || !openSecret ? null : openSecret(sealed);
    },
  };
}

function filesIn(event: unknown): DoorRun['linkedFiles'] {
  const { message } = event as { message?: { attachments?: readonly { id: number; file_name: string }[] } };
  return (message?.attachments ?? []).map(({ id, file_name: name }) => ({ id, name }));
}

function messageIdOf(name: string, event: unknown): number | null {
  const { id, message_type: type } = event as { id: number | string; message_type?: string };
  return name === 'message_created' && type === 'incoming' ? Number(id) : null;
}

// The event is the contact itself; one that is deleted can own nothing any more.
const contactEvents = new Set(['contact_created', 'contact_updated']);

// The places where events have their contact: see event-view.ts of the sandbox.
function contactIdOf(event: unknown): number | null {
  const { contact, meta, conversation, current_conversation: current } = event as EventWithContact;
  return (contact ?? meta?.sender ?? conversation?.meta?.sender ?? current?.meta?.sender)?.id ?? null;
}

interface EventWithContact {
  contact?: { id: number };
  meta?: { sender?: { id: number } };
  conversation?: EventWithContact | null;
  current_conversation?: EventWithContact | null;
}

function unloaded(error: string): RunResult {
  return { outcome: 'load_failed', error, actions: [], logs: [], calls: [], wallMs: 0, cpuMs: 0 };
}

// As the bot got them: a message that is deleted later is found by its id.
function messagesIn({ event, body }: BotEvent, { calls }: RunResult): number[] {
  const heard = calls
    .filter(({ name, output }) => (name === 'history' || name === 'settled') && Array.isArray(output))
    .flatMap(({ output }) => output as { id: number }[]);
  const about = event.name.startsWith('message_') ? [JSON.parse(body) as { id: number | string }] : [];
  return [...about, ...heard].map(({ id }) => Number(id));
}

/** Returns the record of a run; `error` replaces the sandbox's own if a failure followed the run. */
export function recordOf(
  { input, bot, pack, config, permissions, seed, clock, tokens, result }: Run,
  outcome: string,
  error?: string,
): BotRun {
  // A bot that opens its conversation hands it off as well.
  const handsOff = result.actions.some(({ type }) => type === 'handoff' || type === 'open');
  const isHandedOff = outcome === 'ok' ? handsOff : error !== undefined;
  return {
    ...tokens,
    handedOff: isHandedOff,
    botId: bot.id,
    conversationId: input.event.conversationId,
    eventId: input.event.id,
    attempt: input.attempt,
    pluginId: bot.pluginId ?? '',
    pluginVersion: pack?.manifest.version ?? '',
    bundleHash: pack?.bundle.hash ?? '',
    config,
    permissions: pack ? permissions : null,
    limits: pack?.manifest.limits ?? null,
    seed,
    clock,
    calls: result.calls,
    outcome,
    actions: result.actions,
    logs: result.logs,
    error: errorOfRun(error ?? result.error),
    cpuMs: result.cpuMs,
    wallMs: result.wallMs,
    messageIds: messagesIn(input, result),
  };
}

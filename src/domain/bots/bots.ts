import type { Sql } from '../../postgres/sql.ts';
import { AccessToken } from '../../records/access-token.ts';
import { AgentBot } from '../../records/bots/agent-bot.ts';
import { forbidden, invalid } from '../../errors.ts';
import { catalog } from '../../events/catalog.ts';
import type { OuterTransaction } from '../../events/transaction.ts';
import { hashToken, lastFour } from '../../lib/secrets/tokens.ts';
import { rotateSecret } from '../signing-secrets.ts';
import { wakeBacklog } from '../../deliveries/copies/backlogs.ts';
import { unknownHealth } from '../../deliveries/core/circuit.ts';
import type { BodyFormat } from '../../deliveries/core/endpoint.ts';
import { createRow, deleteRows, listPage, lockOne, readOne, save, update, type Page } from '../small-rows.ts';

/** Events that webhook bots may receive: all that the catalogue has for bots, except calls that only plugins schedule. */
const webhookBotEvents = Object.entries(catalog).flatMap(([name, entry]) =>
  'bot' in entry && name !== 'schedule' && name !== 'hook_received' ? [name] : [],
);

// Automations have lists of their own.
const servingKinds: AgentBot['kind'][] = ['webhook', 'plugin'];

/** Events that a plugin's bots receive, according to its manifest. */
interface Hearing {
  events: readonly string[];
  hearsOwn: boolean;
  hearsNotes: boolean;
}

interface NewBot {
  /** Null for a system bot. */
  accountId: number | null;
  name: string;
  description: string | null;
  avatarUrl?: string | null;
}

export interface NewPluginBot extends NewBot {
  pluginId: string;
  /** Tokens of models on a day in an account; null for any number. */
  tokensPerDay?: number | null;
  config: Record<string, unknown>;
  /** Sealed, by name; none by default. */
  secrets?: Record<string, string>;
  hearing: Hearing;
  /** The server to which the plugin may forward events; none by default. */
  server?: BotServer;
}

/** The server of a bot. */
interface BotServer {
  outgoingUrl: string;
  /** Ours by default. */
  format?: BodyFormat;
  /** The signing secret, sealed. */
  sealedSecret: string;
}

/** A bot without a URL has no server yet, and is switched off. */
export interface NewWebhookBot extends NewBot, Omit<BotServer, 'outgoingUrl'> {
  outgoingUrl: string | null;
  /** All by default. */
  events?: readonly string[];
  hearsOwn?: boolean;
}

/** Creates a plugin bot, which runs inside the service. */
export async function createPluginBot(sql: Sql, input: NewPluginBot, now: Date): Promise<AgentBot> {
  const { hearing, server, ...rest } = input;
  return createRow(sql, AgentBot, {
    ...rest,
    ...(server ? serverOf(server) : {}),
    kind: 'plugin',
    events: [...hearing.events],
    hearsOwn: hearing.hearsOwn,
    hearsNotes: hearing.hearsNotes,
    createdAt: now,
    updatedAt: now,
  });
}

function serverOf({
  outgoingUrl,
  format = 'default',
  sealedSecret,
}: Omit<BotServer, 'outgoingUrl'> & Pick<NewWebhookBot, 'outgoingUrl'>) {
  return { outgoingUrl, format, secret: sealedSecret };
}

const noServer = 'It has no server';

/** Creates a webhook bot, which receives events on a server of its own. */
export async function createWebhookBot(sql: Sql, input: NewWebhookBot, now: Date): Promise<AgentBot> {
  const { outgoingUrl, format, sealedSecret, events = webhookBotEvents, ...rest } = input;
  return createRow(sql, AgentBot, {
    ...rest,
    ...serverOf({ outgoingUrl, sealedSecret, ...(format ? { format } : {}) }),
    kind: 'webhook',
    disabledReason: outgoingUrl === null ? noServer : null,
    events: [...events],
    createdAt: now,
    updatedAt: now,
  });
}

/** Returns one page of the bots that the account can use: its own and the system's; for null the system's alone. */
export function listAgentBots(sql: Sql, accountId: number | null, page: number): Promise<Page<AgentBot>> {
  const usable = { kind: servingKinds, $or: [{ accountId }, { accountId: null }] };
  return listPage(sql, AgentBot, usable, { page, orderBy: { id: 'asc' } });
}

/** Returns a bot that the account can use; for null a system bot. Errors: 404. */
export function readAgentBot(sql: Sql, accountId: number | null, id: number): Promise<AgentBot> {
  return readOne(sql, AgentBot, { id, kind: servingKinds, $or: [{ accountId }, { accountId: null }] });
}

/** Returns a bot of the account; for null a system bot. Errors: 404, 403 for a system bot to an account. */
export async function readOwnAgentBot(sql: Sql, accountId: number | null, id: number): Promise<AgentBot> {
  const bot = await readAgentBot(sql, accountId, id);
  if ((bot.accountId ?? null) !== accountId)
    throw forbidden('This is a system bot: only platform administrators may change it');
  return bot;
}

/** Like readOwnAgentBot, with the row locked until the transaction ends. */
export async function lockOwnBot(sql: Sql, accountId: number | null, id: number): Promise<AgentBot> {
  // Read first: an account must not lock a system bot, which belongs to all accounts.
  await readOwnAgentBot(sql, accountId, id);
  return lockOne(sql, AgentBot, { id, accountId });
}

export interface AgentBotChanges {
  name?: string;
  description?: string | null;
  avatarUrl?: string | null;
  outgoingUrl?: string;
  format?: BodyFormat;
  /** A first signing secret, sealed, for a bot that has none yet. */
  firstSecret?: string;
  /** Events that a webhook bot receives, and whether outgoing messages are among them. */
  events?: readonly string[];
  hearsOwn?: boolean;
  config?: Record<string, unknown>;
  /** Sealed, by name; null removes one, and those without a name here stay. */
  secrets?: Record<string, string | null>;
  tokensPerDay?: number | null;
}

/** Returns the secrets of a bot after a change. */
export function withSecrets(
  present: Readonly<Record<string, string>>,
  changes: Readonly<Record<string, string | null>>,
): Record<string, string> {
  const all = Object.entries({ ...present, ...changes });
  return Object.fromEntries(all.filter((entry): entry is [string, string] => entry[1] !== null));
}

function checkKind(bot: AgentBot, changes: AgentBotChanges): void {
  if (changes.config !== undefined && bot.kind !== 'plugin') {
    throw invalid('/config', 'kind', 'Only bots of the kind plugin have a config');
  }
}

/**
 * Changes a bot of the account. An `outgoingUrl`, even an unchanged one, clears the reason for which the service stopped
 * calling the server. Errors: 404, 403 for a system bot, 422 for a field that bots of its kind do not have.
 */
export async function updateAgentBot(tx: OuterTransaction, id: number, changes: AgentBotChanges): Promise<AgentBot> {
  const bot = await lockOwnBot(tx.sql, tx.accountId, id);
  checkKind(bot, changes);
  const { firstSecret, events, ...rest } = changes;
  const changed = update(
    bot,
    {
      ...rest,
      events: events && [...events],
      secret: bot.secret ? undefined : firstSecret,
      secrets: changes.secrets && withSecrets(bot.secrets, changes.secrets),
      disabledReason: changes.outgoingUrl === undefined ? undefined : null,
      // The running version has validated the settings.
      configFits: changes.config && true,
    },
    tx.now,
  );
  if (!changed) return bot;
  const { outgoing_url: hasMoved, disabled_reason: isTriedAgain } = changed;
  if (hasMoved || isTriedAgain) Object.assign(bot, unknownHealth);
  await save(tx.sql, bot);
  if (hasMoved) await wakeBacklog(tx.sql, { kind: 'bot', id });
  return bot;
}

/** Replaces the bot's access tokens by this one; only its hash is stored. */
export async function grantBotToken(sql: Sql, botId: number, token: string, now: Date): Promise<void> {
  await deleteRows(sql, AccessToken, { agentBotId: botId });
  await createRow(sql, AccessToken, {
    agentBotId: botId,
    tokenHash: hashToken(token),
    lastFour: lastFour(token),
    createdAt: now,
  });
}

/** Replaces the access token of a bot of the account. Errors: 404, 403 for a system bot. */
export async function resetBotToken(tx: OuterTransaction, id: number, token: string): Promise<AgentBot> {
  const bot = await lockOwnBot(tx.sql, tx.accountId, id);
  bot.tokenLastUsedAt = null;
  await save(tx.sql, bot);
  await grantBotToken(tx.sql, id, token, tx.now);
  return bot;
}

/**
 * Replaces the signing secret of a bot of the account; for 24 hours the previous secret signs too. Errors: 404, 403 for a
 * system bot, 409 when ten secrets sign already, 422 for a bot without a server.
 */
export async function resetBotSecret(tx: OuterTransaction, id: number, sealedSecret: string): Promise<AgentBot> {
  const bot = await lockOwnBot(tx.sql, tx.accountId, id);
  if (!bot.outgoingUrl) throw invalid('', 'kind', 'Only bots with an outgoing_url have a signing secret');
  await rotateSecret(tx, bot, { sealedSecret });
  await save(tx.sql, bot);
  return bot;
}

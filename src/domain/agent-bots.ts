import { LockMode, type EntityManager } from '@mikro-orm/postgresql';
import { AccessToken } from '../entities/access-token.ts';
import { AgentBot } from '../entities/agent-bot.ts';
import { findConversations, type Conversation } from '../entities/conversation.ts';
import { forbidden, invalid, notFound } from '../errors.ts';
import type { Transaction } from '../events/transaction.ts';
import { differs } from '../lib/differs.ts';
import { sql } from '../lib/sql.ts';
import { hashToken, lastFour } from '../lib/tokens.ts';
import { detachAndRemove, type Change, type Transact } from './detach.ts';

/** What bots on servers of their own are told of: every event there is for bots. */
export const webhookBotEvents = [
  'message_created',
  'message_updated',
  'conversation_opened',
  'conversation_resolved',
  'webwidget_triggered',
] as const;

/** What a plugin's manifest says about the events its bots are told of. */
export interface Hearing {
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
  config: Record<string, unknown>;
  hearing: Hearing;
}

export interface NewWebhookBot extends NewBot {
  outgoingUrl: string;
  /** The signing secret, sealed. */
  sealedSecret: string;
}

/** Creates a bot that runs inside the service. */
export async function createPluginBot(em: EntityManager, input: NewPluginBot, now: Date): Promise<AgentBot> {
  const { hearing, ...rest } = input;
  const bot = em.create(AgentBot, {
    ...rest,
    kind: 'plugin',
    events: [...hearing.events],
    hearsOwn: hearing.hearsOwn,
    hearsNotes: hearing.hearsNotes,
    createdAt: now,
    updatedAt: now,
  });
  await em.flush();
  return bot;
}

/** Creates a bot on a server of its own, which hears everything. */
export async function createWebhookBot(em: EntityManager, input: NewWebhookBot, now: Date): Promise<AgentBot> {
  const { sealedSecret, ...rest } = input;
  const bot = em.create(AgentBot, {
    ...rest,
    kind: 'webhook',
    secret: sealedSecret,
    events: [...webhookBotEvents],
    createdAt: now,
    updatedAt: now,
  });
  await em.flush();
  return bot;
}

/** Brings the bots of a plugin in line with its present manifest. */
export async function updateHearing(em: EntityManager, pluginId: string, hearing: Hearing): Promise<void> {
  const bots = await em.find(AgentBot, { pluginId });
  for (const bot of bots) Object.assign(bot, { ...hearing, events: [...hearing.events] });
  await em.flush();
}

/** Bots on one page of the list. */
export const agentBotsPerPage = 25;

/** One page of the bots that the account can use, its own and the system's, and how many there are in all. */
export function listAgentBots(em: EntityManager, accountId: number, page: number): Promise<[AgentBot[], number]> {
  return em.findAndCount(
    AgentBot,
    { $or: [{ accountId }, { accountId: null }] },
    { orderBy: { id: 'asc' }, limit: agentBotsPerPage, offset: (page - 1) * agentBotsPerPage },
  );
}

/** A bot that the account can use; 404 when there is none such. */
export async function readAgentBot(em: EntityManager, accountId: number, id: number): Promise<AgentBot> {
  const bot = await em.findOne(AgentBot, { id, $or: [{ accountId }, { accountId: null }] });
  if (!bot) throw notFound('Agent bot');
  return bot;
}

/** A bot of the account itself. Errors: 404, 403 for a system bot. */
export async function readOwnAgentBot(em: EntityManager, accountId: number, id: number): Promise<AgentBot> {
  const bot = await readAgentBot(em, accountId, id);
  if (bot.accountId !== accountId) throw forbidden('System bots are managed by the platform');
  return bot;
}

async function lockOwnBot(tx: Transaction, id: number): Promise<AgentBot> {
  const bot = await readOwnAgentBot(tx.em, tx.account.id, id);
  const locked = await tx.em.refresh(bot, { lockMode: LockMode.PESSIMISTIC_WRITE });
  if (!locked) throw notFound('Agent bot');
  return locked;
}

export interface AgentBotChanges {
  name?: string;
  description?: string | null;
  avatarUrl?: string | null;
  outgoingUrl?: string;
  config?: Record<string, unknown>;
}

function checkKind(bot: AgentBot, changes: AgentBotChanges): void {
  if (changes.outgoingUrl !== undefined && bot.kind !== 'webhook') {
    throw invalid('/outgoing_url', 'kind', 'Only webhook bots have an outgoing_url');
  }
  if (changes.config !== undefined && bot.kind !== 'plugin') {
    throw invalid('/config', 'kind', 'Only plugin bots have a config');
  }
}

/** Changes a bot of the account. Errors: 404, 403 for a system bot, 422 for what its kind does not have. */
export async function updateAgentBot(tx: Transaction, id: number, changes: AgentBotChanges): Promise<AgentBot> {
  const bot = await lockOwnBot(tx, id);
  checkKind(bot, changes);
  if (!differs(bot, changes)) return bot;
  Object.assign(bot, { ...changes, updatedAt: tx.now });
  await tx.em.flush();
  return bot;
}

/** Lets a bot in with a token, and with no other any more; only the token's hash is kept. */
export async function grantBotToken(em: EntityManager, botId: number, token: string, now: Date): Promise<void> {
  await em.nativeDelete(AccessToken, { agentBotId: botId });
  em.create(AccessToken, { agentBotId: botId, tokenHash: hashToken(token), lastFour: lastFour(token), createdAt: now });
  await em.flush();
}

/** Replaces the access token of a bot of the account. Errors: 404, 403 for a system bot. */
export async function resetBotToken(tx: Transaction, id: number, token: string): Promise<AgentBot> {
  const bot = await lockOwnBot(tx, id);
  await grantBotToken(tx.em, id, token, tx.now);
  return bot;
}

/** Replaces the signing secret of a webhook bot of the account. Errors: 404, 403 for a system bot, 422 for a plugin. */
export async function resetBotSecret(tx: Transaction, id: number, sealedSecret: string): Promise<AgentBot> {
  const bot = await lockOwnBot(tx, id);
  if (bot.kind !== 'webhook') throw invalid('', 'kind', 'Only webhook bots have a signing secret');
  Object.assign(bot, { secret: sealedSecret, updatedAt: tx.now });
  await tx.em.flush();
  return bot;
}

// Read again after the change: another bot, that of the inbox, may serve them now.
async function detachConversations(
  tx: Transaction,
  id: number,
  conversations: readonly Conversation[],
): Promise<Change[]> {
  const rows = await sql<{ id: number }>(
    tx.em,
    `UPDATE conversations SET agent_bot_id = NULL WHERE account_id = $1 AND agent_bot_id = $2 AND id = ANY ($3)
     RETURNING id`,
    [tx.account.id, id, conversations.map((conversation) => conversation.id)],
  );
  const freed = await findConversations(
    tx.em,
    tx.account.id,
    rows.map((row) => row.id),
  );
  return freed.map((conversation) => ({ conversation, changed: { agent_bot_id: { previous: id, current: null } } }));
}

async function removeBot(tx: Transaction, id: number): Promise<void> {
  const scope = [tx.account.id, id];
  await sql(tx.em, 'UPDATE inboxes SET agent_bot_id = NULL WHERE account_id = $1 AND agent_bot_id = $2', scope);
  await sql(
    tx.em,
    `UPDATE deliveries SET state = 'cancelled', finished_at = now()
     WHERE account_id = $1 AND endpoint_kind = 'bot' AND endpoint_id = $2 AND state = 'pending'`,
    scope,
  );
  await tx.em.nativeDelete(AgentBot, { id, accountId: tx.account.id });
}

/**
 * Deletes a bot of the account: it serves nothing any more, what it was still to be told is cancelled, its messages
 * stay without their author. Says conversation_updated for each conversation that named it. Errors: 404, 403 for a
 * system bot.
 */
export function deleteAgentBot(transact: Transact, id: number): Promise<void> {
  return detachAndRemove(transact, id, {
    referring: 'SELECT id FROM conversations WHERE account_id = $1 AND agent_bot_id = $2',
    detach: (tx, conversations) => detachConversations(tx, id, conversations),
    lock: (tx) => lockOwnBot(tx, id),
    remove: (tx) => removeBot(tx, id),
  });
}

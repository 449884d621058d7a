import type { EntityManager } from '@mikro-orm/postgresql';
import { Inbox } from '../entities/inbox.ts';
import { forbidden, notFound } from '../errors.ts';
import type { Actor } from '../events/transaction.ts';
import { sql } from '../lib/sql.ts';
import { mayServeInbox } from './access.ts';

/** The inboxes that a user of the account may see, by name: all for administrators, their own for agents. */
export async function listInboxes(em: EntityManager, accountId: number, actor: Actor): Promise<Inbox[]> {
  const rows = await sql<{ id: number }>(
    em,
    `SELECT id FROM inboxes WHERE account_id = $1 AND ($3 OR id IN (
       SELECT inbox_id FROM inbox_members WHERE account_id = $1 AND user_id = $2))`,
    [accountId, actor.id, actor.role === 'administrator'],
  );
  return em.find(Inbox, { accountId, id: rows.map(({ id }) => id) }, { orderBy: { name: 'asc', id: 'asc' } });
}

/** An inbox of the account. Errors: 404, 403 for an agent who is not a member of it. */
export async function readInbox(em: EntityManager, accountId: number, actor: Actor, id: number): Promise<Inbox> {
  const inbox = await em.findOne(Inbox, { id, accountId });
  if (!inbox) throw notFound('Inbox');
  if (!(await mayServeInbox(em, accountId, actor.id ?? 0, id))) throw forbidden('This inbox is not yours');
  return inbox;
}

/** Creates an inbox, with the bot that is active in it if any. */
export async function createInbox(
  em: EntityManager,
  input: { accountId: number; name: string; channelType: string; identifier: string; agentBotId: number | null; now: Date },
): Promise<Inbox> {
  const { now, ...rest } = input;
  const inbox = em.create(Inbox, { ...rest, createdAt: now, updatedAt: now });
  await em.flush();
  return inbox;
}

import { forbidden, notFound } from '../../errors.ts';
import type { Transaction } from '../../events/transaction.ts';
import type { Sql } from '../../postgres/sql.ts';
import type { ConversationStatus } from '../../records/conversations/conversation.ts';
import { createConversation, plainConversation } from './lifecycle.ts';

/** A contact in an inbox. */
export interface ContactPlace {
  contactId: number;
  inboxId: number;
}

/** A conversation that was found or begun. */
interface FoundConversation {
  id: number;
  status: ConversationStatus;
}

/** Inboxes in which a plugin acts: those that a bot serves, or an automation's; null for all. */
export type ActingIn = { botId: number } | { inboxIds: readonly number[] | null };

/** Returns the contact's newest conversation in the inbox, of the status where one is given. Errors: 403 for a foreign inbox. */
export async function findInPlace(
  sql: Sql,
  { accountId, acting }: { accountId: number; acting: ActingIn },
  { contactId, inboxId, status }: ContactPlace & { status: ConversationStatus | null },
): Promise<FoundConversation | null> {
  await needInbox(sql, { accountId, acting }, inboxId);
  return newest(sql, accountId, { contactId, inboxId, condition: '($4::text IS NULL OR status = $4)', status });
}

/**
 * Returns the contact's newest conversation in the inbox that is not resolved, else begins one, which says conversation_created.
 * Callers for the same contact wait for each other. Errors: 403 for a foreign inbox, 404.
 */
export async function openInPlace(tx: Transaction, acting: ActingIn, place: ContactPlace): Promise<FoundConversation> {
  const accountId = tx.account.id;
  await needInbox(tx.sql, { accountId, acting }, place.inboxId);
  const [contact] = await tx.sql(
    'SELECT FROM contacts WHERE account_id = $1 AND id = $2 AND deletion_requested_at IS NULL FOR NO KEY UPDATE',
    [accountId, place.contactId],
  );
  if (!contact) throw notFound('Contact');
  const condition = `($4::text IS NULL AND status <> 'resolved')`;
  const found = await newest(tx.sql, accountId, { ...place, condition, status: null });
  if (found) return found;
  const { conversation } = await createConversation(tx, plainConversation(place.inboxId, place.contactId));
  return { id: conversation.id, status: conversation.status };
}

async function newest(
  sql: Sql,
  accountId: number,
  { contactId, inboxId, condition, status }: ContactPlace & { condition: string; status: string | null },
): Promise<FoundConversation | null> {
  const [found] = await sql<FoundConversation>(
    `SELECT id, status FROM conversations WHERE account_id = $1 AND contact_id = $2 AND inbox_id = $3 AND ${condition}
     ORDER BY created_at DESC, id DESC LIMIT 1`,
    [accountId, contactId, inboxId, status],
  );
  return found ?? null;
}

async function needInbox(
  sql: Sql,
  { accountId, acting }: { accountId: number; acting: ActingIn },
  id: number,
): Promise<void> {
  const [inbox] = await sql<{ agent_bot_id: number | null }>(
    'SELECT agent_bot_id FROM inboxes WHERE account_id = $1 AND id = $2',
    [accountId, id],
  );
  if (!inbox) throw notFound('Inbox');
  const isOwn = 'botId' in acting ? inbox.agent_bot_id === acting.botId : (acting.inboxIds?.includes(id) ?? true);
  if (!isOwn) throw forbidden('The bot does not serve this inbox');
}

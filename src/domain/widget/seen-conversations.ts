import type { ConversationStatus } from '../../records/conversations/conversation.ts';
import { moment, type Sql } from '../../postgres/sql.ts';
import type { SeenConversation } from './records.ts';

interface Row {
  id: number;
  inbox_id: number;
  contact_id: number;
  status: ConversationStatus;
  assignee: string | null;
  created_at: string;
  last_activity_at: string;
}

/** A conversation as its contact sees it, with its inbox and contact. */
type Found = SeenConversation & { inboxId: number; contactId: number };

/** Returns those of the conversations that belong to one of the contacts, by their ids. */
export async function findSeenConversations(
  sql: Sql,
  accountId: number,
  { ids, contacts }: { ids: readonly number[]; contacts: readonly number[] },
): Promise<Map<number, Found>> {
  if (ids.length === 0 || contacts.length === 0) return new Map();
  const rows = await sql<Row>(
    `SELECT c.id, c.inbox_id, c.contact_id, c.status, u.name AS assignee, c.created_at, c.last_activity_at
     FROM conversations c LEFT JOIN seats u ON u.account_id = c.account_id AND u.id = c.assignee_id
     WHERE c.account_id = $1 AND c.id = ANY ($2) AND c.contact_id = ANY ($3)`,
    [accountId, ids, contacts],
  );
  return new Map(rows.map((row) => [row.id, toFound(row)]));
}

function toFound({ id, status, assignee, ...row }: Row): Found {
  return {
    id,
    status,
    assignee: assignee === null ? null : { name: assignee },
    inboxId: row.inbox_id,
    contactId: row.contact_id,
    createdAt: moment(row.created_at),
    lastActivityAt: moment(row.last_activity_at),
  };
}

/** Returns which of the contacts' tokens are still valid, by their ids: a merged contact's tokens are another contact's. */
export async function findValidTokens(
  sql: Sql,
  tokens: readonly { accountId: number; tokenId: number; contactId: number }[],
): Promise<ReadonlySet<number>> {
  if (tokens.length === 0) return new Set();
  const rows = await sql<{ id: number }>(
    `SELECT k.id FROM unnest($1::bigint[], $2::bigint[], $3::bigint[]) AS held (account_id, id, contact_id)
     JOIN contact_tokens k ON k.account_id = held.account_id AND k.id = held.id AND k.contact_id = held.contact_id`,
    [
      tokens.map(({ accountId }) => accountId),
      tokens.map(({ tokenId }) => tokenId),
      tokens.map(({ contactId }) => contactId),
    ],
  );
  return new Set(rows.map(({ id }) => id));
}

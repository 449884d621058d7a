import type { Named } from '../../records/conversations/conversation.ts';
import { notFound } from '../../errors.ts';
import type { Transaction } from '../../events/transaction.ts';
import { moment, type Sql } from '../../postgres/sql.ts';
import { rowsPerPage, type Page } from '../small-rows.ts';

/** A note about a contact; `user` is null when the author no longer exists. */
export interface ContactNote {
  id: number;
  accountId: number;
  contactId: number;
  content: string;
  user: Named | null;
  createdAt: Date;
}

interface Row {
  id: number;
  content: string;
  user_id: number | null;
  user_name: string | null;
  created_at: string;
}

/** Creates a note about a contact, with the actor as author. Errors: 404. */
export async function createContactNote(tx: Transaction, contactId: number, content: string): Promise<ContactNote> {
  const { id: userId, name } = tx.actor;
  const [row] = await tx.sql<{ id: number }>(
    `INSERT INTO contact_notes (account_id, contact_id, user_id, content, created_at)
     SELECT $1, id, $3, $4, $5 FROM contacts WHERE account_id = $1 AND id = $2 FOR KEY SHARE RETURNING id`,
    [tx.account.id, contactId, userId, content, tx.now],
  );
  if (!row) throw notFound('Contact');
  const user = userId === null ? null : { id: userId, name };
  return { id: row.id, accountId: tx.account.id, contactId, content, user, createdAt: tx.now };
}

/** Returns one page of the notes about a contact, newest first. */
export async function listContactNotes(
  sql: Sql,
  { accountId, contactId }: { accountId: number; contactId: number },
  page: number,
): Promise<Page<ContactNote>> {
  const [total] = await sql<{ count: number; bytes: number | null }>(
    `SELECT count(*) AS count, max(octet_length(content)) AS bytes FROM contact_notes
     WHERE account_id = $1 AND contact_id = $2`,
    [accountId, contactId],
  );
  const perPage = rowsPerPage(total?.bytes ?? 0);
  const found = await sql<Row>(
    `SELECT n.id, n.content, n.user_id, u.name AS user_name, n.created_at
     FROM contact_notes n LEFT JOIN seats u ON u.account_id = n.account_id AND u.id = n.user_id
     WHERE n.account_id = $1 AND n.contact_id = $2 ORDER BY n.id DESC LIMIT $3 OFFSET $4`,
    [accountId, contactId, perPage, (page - 1) * perPage],
  );
  const rows = found.map((row) => ({
    id: row.id,
    accountId,
    contactId,
    content: row.content,
    user: row.user_id === null ? null : { id: row.user_id, name: row.user_name ?? '' },
    createdAt: moment(row.created_at),
  }));
  return { rows, count: total?.count ?? 0, page, perPage };
}

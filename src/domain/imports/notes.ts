import type { Transaction } from '../../events/transaction.ts';
import { lockImported } from './imports.ts';

/** A note about a contact, to be copied. */
export interface ForeignNote {
  content: string;
  /** The author's seat; null where nobody is named. */
  userId: number | null;
  createdAt: Date;
}

// Longer texts, or more, are not written in the time that a statement has.
const notesAtOnce = 20;

/**
 * Copies all notes about a contact, once, in their order, without telling anybody; how many it copied. A contact that was deleted
 * here, or has its notes, gets none.
 */
export async function importNotes(
  tx: Transaction,
  { importId, foreignId }: { importId: number; foreignId: number },
  notes: readonly ForeignNote[],
): Promise<number> {
  const known = (await lockImported(tx, importId, { kind: 'contact', foreignIds: [foreignId] })).get(foreignId);
  if (!known || known.complete) return 0;
  let copied = 0;
  for (let at = 0; at < notes.length; at += notesAtOnce)
    copied += await write(tx, known.localId, notes.slice(at, at + notesAtOnce));
  await tx.sql(
    `UPDATE imported SET complete = true WHERE account_id = $1 AND import_id = $2 AND kind = 'contact' AND foreign_id = $3`,
    [tx.account.id, importId, foreignId],
  );
  return copied;
}

async function write(tx: Transaction, contactId: number, notes: readonly ForeignNote[]): Promise<number> {
  const rows = await tx.sql(
    `WITH held AS MATERIALIZED (SELECT id FROM contacts
       WHERE account_id = $1 AND id = $2 AND deletion_requested_at IS NULL FOR KEY SHARE)
     INSERT INTO contact_notes (account_id, contact_id, user_id, content, created_at)
     SELECT $1, held.id, user_id, content, created_at
     FROM held, unnest($3::bigint[], $4::text[], $5::timestamptz[]) WITH ORDINALITY AS given (user_id, content, created_at, place)
     ORDER BY place RETURNING id`,
    [
      tx.account.id,
      contactId,
      notes.map(({ userId }) => userId),
      notes.map(({ content }) => content),
      notes.map(({ createdAt }) => createdAt),
    ],
  );
  return rows.length;
}

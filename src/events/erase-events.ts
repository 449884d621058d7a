import type { Transaction } from './transaction.ts';

// Bounded statements: one statement for all could exceed the statement timeout.
const rowsAtOnce = 2000;

const lockStatement = (column: string): string => `
  SELECT id FROM events WHERE account_id = $1 AND ${column} = ANY ($2) LIMIT ${rowsAtOnce} FOR UPDATE`;

const eraseStatement = (kind: string, column: string): string => `
  WITH noted AS (
    INSERT INTO erased_positions (account_id, position, subject_kind, subject_id)
    SELECT f.account_id, f.position, '${kind}', e.${column} FROM events e
    JOIN event_feed f ON f.account_id = e.account_id AND f.event_id = e.id
    WHERE e.account_id = $1 AND e.id = ANY ($2)
  )
  DELETE FROM events WHERE account_id = $1 AND id = ANY ($2)`;

const statements = {
  conversation: { lock: lockStatement('conversation_id'), erase: eraseStatement('conversation', 'conversation_id') },
  contact: { lock: lockStatement('contact_id'), erase: eraseStatement('contact', 'contact_id') },
};

/**
 * Deletes the events of conversations or contacts that are deleted in the same transaction, and notes the positions that they
 * had in the feed. Events are locked first: until the end of the transaction none of them gets a position.
 */
export async function eraseEvents(
  { sql, account }: Pick<Transaction, 'sql' | 'account'>,
  kind: keyof typeof statements,
  ids: readonly number[],
): Promise<void> {
  const { lock, erase } = statements[kind];
  let locked: { id: number }[];
  do {
    locked = await sql<{ id: number }>(lock, [account.id, ids]);
    await sql(erase, [account.id, locked.map(({ id }) => id)]);
  } while (locked.length === rowsAtOnce);
}

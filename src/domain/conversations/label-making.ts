import { invalid } from '../../errors.ts';
import type { Transaction } from '../../events/transaction.ts';

/** Labels of an account at most: bots create labels by naming them, so nobody watches their number. */
export const maxLabelsPerAccount = 1000;

/** Locks the making of labels in the account until the transaction ends: later makers see the labels of earlier ones. */
export async function takeLabelTurn(tx: Transaction): Promise<void> {
  await tx.sql(`SELECT pg_advisory_xact_lock(hashtextextended('labels', $1))`, [tx.account.id]);
}

// In the order of their titles, as where bots make them: two transactions must not wait for each other's.
const making = `
  INSERT INTO labels (account_id, title, created_at, updated_at)
  SELECT $1, title, $3, $3 FROM unnest($2::text[]) AS title
  WHERE (SELECT count(*) FROM labels WHERE account_id = $1) + cardinality($2::text[]) <= ${maxLabelsPerAccount}
  ORDER BY title ON CONFLICT (account_id, title) DO NOTHING`;

/**
 * Makes labels of the titles that the account lacks, all of them or none, where the actor may make labels. Errors: 422 when
 * there is not room for all.
 */
export async function makeMissingLabels(tx: Transaction, titles: readonly string[]): Promise<void> {
  if (tx.actor.role !== 'administrator' || (await findMissing(tx, titles)).length === 0) return;
  await takeLabelTurn(tx);
  await tx.sql(making, [tx.account.id, await findMissing(tx, titles), tx.now]);
  const [left] = await findMissing(tx, titles);
  if (left === undefined) return;
  const sentence = `An account can have at most ${maxLabelsPerAccount} labels: there is no room for all that are new, such as \`${left}\``;
  throw invalid('/labels', 'limit', sentence);
}

async function findMissing(tx: Transaction, titles: readonly string[]): Promise<string[]> {
  const rows = await tx.sql<{ title: string }>(
    `SELECT DISTINCT title FROM unnest($2::text[]) AS title
     WHERE NOT EXISTS (SELECT FROM labels l WHERE l.account_id = $1 AND l.title = title.title) ORDER BY title`,
    [tx.account.id, titles],
  );
  return rows.map(({ title }) => title);
}

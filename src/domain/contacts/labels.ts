import { Contact } from '../../records/contacts/contact.ts';
import { invalid } from '../../errors.ts';
import type { Transaction } from '../../events/transaction.ts';
import type { Sql } from '../../postgres/sql.ts';
import { makeMissingLabels } from '../conversations/label-making.ts';
import { lockOne, save } from '../small-rows.ts';

const titlesOf = `SELECT l.title FROM contact_labels cl JOIN labels l ON l.account_id = cl.account_id AND l.id = cl.label_id
  WHERE cl.account_id = $1 AND cl.contact_id = $2 ORDER BY l.title`;

/** The titles of a contact's labels, in their order. */
export async function findContactLabels(sql: Sql, accountId: number, contactId: number): Promise<string[]> {
  const rows = await sql<{ title: string }>(titlesOf, [accountId, contactId]);
  return rows.map(({ title }) => title);
}

/**
 * Replaces the labels of a contact, by title, and returns them; `make` makes those that the account lacks, for who may. Says
 * contact_updated when the set changes; a label that is renamed or deleted changes the sets of contacts without a word. Errors: 404,
 * 422 for a title that is no label of the account, and when there is not room for all that are made.
 */
export async function setContactLabels(
  tx: Transaction,
  contactId: number,
  { titles, make = false }: { titles: readonly string[]; make?: boolean | undefined },
): Promise<string[]> {
  const { sql, account } = tx;
  const contact = await lockOne(sql, Contact, { id: contactId, accountId: account.id });
  const wanted = [...new Set(titles)];
  if (make) await makeMissingLabels(tx, wanted);
  // A label that stays could be renamed meanwhile, one that goes be deleted: all are locked before a row of theirs.
  const labels = await sql<{ id: number; title: string; had: boolean }>(
    `SELECT l.id, l.title, EXISTS (SELECT FROM contact_labels cl
         WHERE cl.account_id = $1 AND cl.contact_id = $2 AND cl.label_id = l.id) AS had
       FROM labels l WHERE l.account_id = $1 AND (l.title = ANY ($3) OR l.id IN (
         SELECT label_id FROM contact_labels WHERE account_id = $1 AND contact_id = $2))
       ORDER BY l.id FOR KEY SHARE OF l`,
    [account.id, contactId, wanted],
  );
  const unknown = wanted.find((title) => !labels.some((label) => label.title === title));
  if (unknown !== undefined) throw invalid('/labels', 'exists', `There is no label \`${unknown}\``);
  const isWanted = ({ title }: { title: string }) => wanted.includes(title);
  const previous = labels.filter(({ had }) => had);
  const current = labels.filter(isWanted);
  const gone = previous.filter((label) => !isWanted(label));
  const added = current.filter(({ had }) => !had);
  if (gone.length === 0 && added.length === 0) return sorted(current);
  const scope = [account.id, contactId];
  const idsOf = (some: readonly { id: number }[]) => some.map(({ id }) => id);
  await sql('DELETE FROM contact_labels WHERE account_id = $1 AND contact_id = $2 AND label_id = ANY ($3)', [
    ...scope,
    idsOf(gone),
  ]);
  await sql(
    'INSERT INTO contact_labels (account_id, contact_id, label_id) SELECT $1, $2, id FROM unnest($3::bigint[]) AS id',
    [...scope, idsOf(added)],
  );
  contact.updatedAt = tx.now;
  await save(sql, contact);
  const changed = { labels: { previous: sorted(previous), current: sorted(current) } };
  tx.record('contact_updated', { contact, account, changed });
  return changed.labels.current;
}

// Labels are locked in the order of their ids: none must be deleted before the commit.
const copyStatement = `
  WITH held AS MATERIALIZED (
    SELECT id FROM labels WHERE account_id = $1 AND id IN (
      SELECT label_id FROM contact_labels WHERE account_id = $1 AND contact_id = $3) ORDER BY id FOR KEY SHARE
  )
  INSERT INTO contact_labels (account_id, contact_id, label_id) SELECT $1, $2, id FROM held ON CONFLICT DO NOTHING`;

/** Gives a locked contact the labels of another one; null when it has them all. */
export async function copyContactLabels(
  { sql, account }: Transaction,
  { from, to }: { from: number; to: number },
): Promise<{ previous: string[]; current: string[] } | null> {
  const previous = await findContactLabels(sql, account.id, to);
  await sql(copyStatement, [account.id, to, from]);
  const current = await findContactLabels(sql, account.id, to);
  return current.length > previous.length ? { previous, current } : null;
}

function sorted(labels: readonly { title: string }[]): string[] {
  return labels.map(({ title }) => title).sort();
}

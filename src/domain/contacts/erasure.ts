import type { Database } from '../../postgres/database.ts';
import { Contact } from '../../records/contact.ts';
import { notFound } from '../../errors.ts';
import { system, transact, type Transact, type Transaction } from '../../events/transaction.ts';
import { sql } from '../../postgres/sql.ts';
import { deleteLanes } from '../../deliveries/queue/erase.ts';
import { eraseConversations } from '../conversations/deletion.ts';
import { lockIfThere } from '../small-rows.ts';
import { sweep } from '../upkeep/sweep.ts';

// One transaction erases no more, so that none holds many conversations for long.
const batch = 200;
const ofContact = `SELECT id FROM conversations WHERE account_id = $1 AND contact_id = $2 ORDER BY id LIMIT ${batch}`;

// From now on nobody begins a conversation with the contact, so that the erasure comes to an end.
async function requestErasure(tx: Transaction, contact: Contact): Promise<void> {
  contact.deletionRequestedAt ??= tx.now;
  await tx.em.flush();
  await sql(tx.em, 'DELETE FROM contact_tokens WHERE account_id = $1 AND contact_id = $2', [tx.account.id, contact.id]);
}

/** Erases some of a contact's conversations, and the contact with the last of them. `gone`: there is no such contact. */
async function eraseSome(tx: Transaction, id: number): Promise<'more' | 'erased' | 'gone'> {
  // Lock order (deliveries/queue/lock-order.ts): conversations before their contact.
  const some = await tx.conversations({ ids: ofContact, parameters: [id] });
  const contact = await lockIfThere(tx.em, Contact, { id, accountId: tx.account.id });
  if (!contact) return 'gone';
  if (some.length === batch) {
    await eraseConversations(tx, some);
    await requestErasure(tx, contact);
    return 'more';
  }
  // One may have begun before the contact was locked.
  await eraseConversations(tx, await tx.conversations({ ids: ofContact, parameters: [id] }));
  tx.record('contact_deleted', { contact, account: tx.account });
  await deleteLanes(tx, 'contact', [id]);
  await sql(tx.em, 'DELETE FROM contacts WHERE account_id = $1 AND id = $2', [tx.account.id, id]);
  return 'erased';
}

/**
 * Deletes a contact for good, with its notes, its conversations and all that belongs to them: at once, or, where there
 * are very many, a batch to a transaction. Until it is through, the contact tells since when it is being deleted; after a
 * crash in between, the service goes on by itself. Says conversation_deleted for each conversation and contact_deleted,
 * which stay. Errors: 404.
 */
export async function deleteContact(transactHere: Transact, id: number): Promise<void> {
  let step = await transactHere((tx) => eraseSome(tx, id));
  if (step === 'gone') throw notFound(Contact.noun);
  // Somebody else may be at it too, and be through first.
  while (step === 'more') step = await transactHere((tx) => eraseSome(tx, id));
}

interface Unfinished {
  id: number;
  account_id: number;
  account_name: string;
  /** As text, in the database's precision. */
  requested_at: string;
}

// Longer than a request takes for its next batch: what moves needs no help.
const abandonedMs = 60_000;
const pageSize = 20;

function findUnfinished(database: Database, after: Unfinished | null): Promise<Unfinished[]> {
  return sql<Unfinished>(
    database.em(),
    `SELECT c.id, c.account_id, a.name AS account_name, c.deletion_requested_at AS requested_at
     FROM contacts c JOIN accounts a ON a.id = c.account_id
     WHERE c.deletion_requested_at < $1 AND (c.deletion_requested_at, c.id) > ($2::timestamptz, $3::bigint)
     ORDER BY c.deletion_requested_at, c.id LIMIT ${pageSize}`,
    [new Date(database.clock.now().getTime() - abandonedMs), after?.requested_at ?? '-infinity', after?.id ?? 0],
  );
}

async function finishErasure(database: Database, { id, account_id, account_name }: Unfinished): Promise<number> {
  const account = { id: account_id, name: account_name };
  let step: Awaited<ReturnType<typeof eraseSome>>;
  do step = await transact(database, { account, actor: system }, (tx) => eraseSome(tx, id));
  while (step === 'more');
  return step === 'erased' ? 1 : 0;
}

/**
 * Goes on with the deletion of contacts that their requests did not bring to an end: a process died, or the database went
 * away. Answers how many are through. One that fails keeps back no other.
 */
export function finishErasures(database: Database): Promise<number> {
  return sweep<Unfinished>(database, {
    name: 'deleting contacts',
    nameOf: ({ id, account_id: accountId }) => `contact ${id} of account ${accountId}`,
    page: (after) => findUnfinished(database, after),
    pageSize,
    atOnce: 1,
    work: async ([contact]) => (contact ? finishErasure(database, contact) : 0),
  });
}

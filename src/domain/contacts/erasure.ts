import type { Database } from '../../postgres/database.ts';
import { Contact } from '../../records/contacts/contact.ts';
import type { Conversation } from '../../records/conversations/conversation.ts';
import { notFound } from '../../errors.ts';
import { eraseEvents } from '../../events/erase-events.ts';
import { system, transact, type Transact, type Transaction } from '../../events/transaction.ts';
import { deleteLanes } from '../../deliveries/log/erase.ts';
import { eraseConversations } from '../conversations/deletion.ts';
import { lockIfThere, save } from '../small-rows.ts';
import { eraseAnswers } from '../upkeep/idempotency-keys.ts';
import { sweep } from '../upkeep/sweep.ts';
import { forgetCopiedConversations, forgetCopies } from './copies.ts';
import { lockDoors } from './doors.ts';

// Conversations that one transaction erases, so that none locks many for long.
const batch = 200;
const ofContact = `SELECT id FROM conversations WHERE account_id = $1 AND contact_id = $2 ORDER BY id LIMIT ${batch}`;

/**
 * Deletes a contact with its notes and conversations, in batches, one transaction each. Until the last batch the contact
 * shows since when it is being deleted; after a crash a sweep continues. Says conversation_deleted for each conversation,
 * and contact_deleted. Errors: 404.
 */
export async function deleteContact(transactHere: Transact, id: number): Promise<void> {
  let step = await transactHere((tx) => eraseSome(tx, id));
  if (step === 'gone') throw notFound(Contact.noun);
  // A concurrent deletion may finish first, so `gone` is no error here.
  while (step === 'more') step = await transactHere((tx) => eraseSome(tx, id));
}

/** Erases a batch of a contact's conversations, and the contact with the last batch; `gone` when there is no contact. */
async function eraseSome(tx: Transaction, id: number): Promise<'more' | 'erased' | 'gone'> {
  // Lock order (deliveries/lanes/lock-order.ts): by what the contact comes in, conversations, then the contact.
  await lockDoors(tx, id);
  const some = await tx.conversations({ ids: ofContact, parameters: [id] });
  const contact = await lockIfThere(tx.sql, Contact, { id, accountId: tx.account.id });
  if (!contact) return 'gone';
  if (some.length === batch) {
    await erase(tx, some);
    await requestErasure(tx, contact);
    return 'more';
  }
  // Another conversation may have begun before the contact was locked.
  await erase(tx, await tx.conversations({ ids: ofContact, parameters: [id] }));
  tx.record('contact_deleted', { contact, account: tx.account });
  await deleteLanes(tx, 'contact', [id]);
  await forgetCopies(tx, id);
  await eraseAnswers(tx.sql, 'contact', [id]);
  await eraseEvents(tx, 'contact', [id]);
  await tx.sql('DELETE FROM contacts WHERE account_id = $1 AND id = $2', [tx.account.id, id]);
  return 'erased';
}

async function erase(tx: Transaction, conversations: readonly Conversation[]): Promise<void> {
  await eraseConversations(tx, conversations);
  await forgetCopiedConversations(
    tx,
    conversations.map(({ id }) => id),
  );
}

// Once the erasure is requested no conversation with the contact can begin, so the erasure terminates.
async function requestErasure(tx: Transaction, contact: Contact): Promise<void> {
  contact.deletionRequestedAt ??= tx.now;
  await save(tx.sql, contact);
  for (const table of ['contact_tokens', 'contact_inboxes']) {
    await tx.sql(`DELETE FROM ${table} WHERE account_id = $1 AND contact_id = $2`, [tx.account.id, contact.id]);
  }
}

interface Unfinished {
  id: number;
  account_id: number;
  account_name: string;
  /** As text, in the database's precision. */
  requested_at: string;
}

// Longer than a request needs for a batch: deletions in progress need no help.
const abandonedMs = 60_000;
const pageSize = 20;

function findUnfinished(database: Database, after: Unfinished | null): Promise<Unfinished[]> {
  return database.sql<Unfinished>(
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
 * Continues the deletion of contacts that a crash or an outage interrupted; returns how many were completed. A contact that
 * fails does not hold back the others.
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

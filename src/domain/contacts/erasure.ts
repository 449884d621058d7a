import type { Database } from '../../postgres/database.ts';
import { Contact } from '../../records/contacts/contact.ts';
import type { Conversation } from '../../records/conversations/conversation.ts';
import { notFound } from '../../errors.ts';
import { eraseEvents } from '../../events/erase-events.ts';
import { system, transact, type Transact, type Transaction } from '../../events/transaction.ts';
import { deleteLanes } from '../../deliveries/log/erase.ts';
import { eraseConversations } from '../conversations/deletion.ts';
import { moment } from '../../postgres/sql.ts';
import { lockIfThere, save } from '../small-rows.ts';
import { eraseHookRequests } from '../upkeep/hook-subjects.ts';
import { eraseAnswers } from '../upkeep/idempotency-keys.ts';
import { sweep } from '../upkeep/sweep.ts';
import { forgetCopiedConversations, forgetCopies } from './copies.ts';
import { lockDoors } from './doors.ts';

// Conversations that one transaction erases, so that none locks many for long.
const batch = 200;
const ofContact = `SELECT id FROM conversations WHERE account_id = $1 AND contact_id = $2 ORDER BY id LIMIT ${batch}`;

// Batches of one request: the rest of a larger contact goes in sweeps.
const batchesPerRequest = 5;
// Batches of one contact per sweep, so that none delays the others for long.
const batchesPerSweep = 50;
/** SQL: whoever is at a deletion writes when each batch ends; after this time without that, another one continues. */
const isAlive = `coalesce(deletion_beat_at > now() - interval '30 seconds', false)`;
const beatText = 'extract(epoch FROM deletion_beat_at)::text';

/** Progress of a deletion that goes on after the request. */
export interface DeletionProgress {
  requestedAt: Date;
  /** Conversations that are still there; 100,000 where there are more. */
  conversationsLeft: number;
}

/** A batch of a deletion: `beat` is the time that it wrote, by which its holder is known; `elsewhere` when another one is at it. */
type Step = { state: 'more'; beat: string } | { state: 'erased' | 'gone' | 'elsewhere' };

/**
 * Deletes a contact with its notes and conversations, in batches, one transaction each. Until the last batch the contact
 * shows since when it is being deleted. Returns null when all is deleted, else the progress: of a large contact, and of one that
 * somebody else is deleting. A sweep does the rest, also after a crash. Says conversation_deleted for each conversation, and
 * contact_deleted. Errors: 404.
 */
export async function deleteContact(transactHere: Transact, id: number): Promise<DeletionProgress | null> {
  const state = await eraseBatches(transactHere, id, batchesPerRequest);
  if (state === 'gone') throw notFound(Contact.noun);
  return state === 'erased' ? null : transactHere((tx) => readProgress(tx, id));
}

// Without an end to it, the beat is given back: the next sweep continues at once.
async function eraseBatches(transactHere: Transact, id: number, most: number): Promise<Step['state']> {
  let step = await transactHere((tx) => eraseSome(tx, id, null));
  if (step.state !== 'more') return step.state;
  let { beat } = step;
  try {
    for (let done = 0; done < most; done++) {
      const held = beat;
      step = await transactHere((tx) => eraseSome(tx, id, held));
      // A concurrent deletion may finish first, so `gone` is no error here.
      if (step.state !== 'more') return step.state === 'elsewhere' ? 'elsewhere' : 'erased';
      ({ beat } = step);
    }
  } catch (error) {
    await transactHere((tx) => release(tx, id, beat)).catch(() => undefined);
    throw error;
  }
  await transactHere((tx) => release(tx, id, beat));
  return 'more';
}

/**
 * Begins the deletion of a contact with many conversations, or erases a batch of them, and the contact with the last batch.
 * `held` is the beat of the batch before.
 */
async function eraseSome(tx: Transaction, id: number, held: string | null): Promise<Step> {
  // Nobody waits for the locks of somebody who is at it.
  const standing = await readStanding(tx, id);
  if (!standing) return { state: 'gone' };
  if (isOthers(standing, held)) return { state: 'elsewhere' };
  // Lock order (deliveries/lanes/lock-order.ts): by what the contact comes in, conversations, then the contact.
  await lockDoors(tx, id);
  const begins = held === null && standing.is_large;
  const some = begins ? [] : await tx.conversations({ ids: ofContact, parameters: [id] });
  const contact = await lockIfThere(tx.sql, Contact, { id, accountId: tx.account.id });
  if (!contact) return { state: 'gone' };
  const locked = await readStanding(tx, id);
  if (!locked || isOthers(locked, held)) return { state: 'elsewhere' };
  if (begins) return { state: 'more', beat: await requestErasure(tx, contact) };
  // Another conversation may have begun before the contact was locked.
  const found = some.length === batch ? some : await tx.conversations({ ids: ofContact, parameters: [id] });
  await erase(tx, found);
  if (found.length === batch) return { state: 'more', beat: await requestErasure(tx, contact) };
  await eraseContact(tx, contact);
  return { state: 'erased' };
}

async function eraseContact(tx: Transaction, contact: Contact): Promise<void> {
  const { id } = contact;
  tx.record('contact_deleted', { contact, account: tx.account });
  await deleteLanes(tx, 'contact', [id]);
  await forgetCopies(tx, id);
  await eraseHookRequests(tx, 'contact', [id]);
  await eraseAnswers(tx.sql, 'contact', [id]);
  await eraseEvents(tx, 'contact', [id]);
  await tx.sql('DELETE FROM contacts WHERE account_id = $1 AND id = $2', [tx.account.id, id]);
}

interface Standing {
  beat: string | null;
  is_alive: boolean;
  is_large: boolean;
}

const standingStatement = `
  SELECT ${beatText} AS beat, ${isAlive} AS is_alive, (SELECT count(*) FROM (${ofContact}) few) = ${batch} AS is_large
  FROM contacts WHERE account_id = $1 AND id = $2`;

async function readStanding(tx: Transaction, id: number): Promise<Standing | undefined> {
  const [standing] = await tx.sql<Standing>(standingStatement, [tx.account.id, id]);
  return standing;
}

function isOthers({ beat, is_alive: isBeating }: Standing, held: string | null): boolean {
  return isBeating && beat !== held;
}

const releaseStatement = `
  UPDATE contacts SET deletion_beat_at = NULL WHERE account_id = $1 AND id = $2 AND ${beatText} = $3`;

async function release(tx: Transaction, id: number, beat: string): Promise<void> {
  await tx.sql(releaseStatement, [tx.account.id, id, beat]);
}

const progressStatement = `
  SELECT deletion_requested_at AS requested_at, (SELECT count(*)::int FROM (
    SELECT FROM conversations v WHERE v.account_id = c.account_id AND v.contact_id = c.id LIMIT 100000) few) AS conversations_left
  FROM contacts c WHERE account_id = $1 AND id = $2 AND deletion_requested_at IS NOT NULL`;

async function readProgress(tx: Transaction, id: number): Promise<DeletionProgress | null> {
  const parameters = [tx.account.id, id];
  const [row] = await tx.sql<{ requested_at: string; conversations_left: number }>(progressStatement, parameters);
  return row ? { requestedAt: moment(row.requested_at), conversationsLeft: row.conversations_left } : null;
}

async function erase(tx: Transaction, conversations: readonly Conversation[]): Promise<void> {
  await eraseConversations(tx, conversations);
  await forgetCopiedConversations(
    tx,
    conversations.map(({ id }) => id),
  );
}

const beatStatement = `
  UPDATE contacts SET deletion_beat_at = clock_timestamp() WHERE account_id = $1 AND id = $2 RETURNING ${beatText} AS beat`;

// Once the erasure is requested no conversation with the contact can begin, so the erasure terminates.
async function requestErasure(tx: Transaction, contact: Contact): Promise<string> {
  contact.deletionRequestedAt ??= tx.now;
  await save(tx.sql, contact);
  for (const table of ['contact_tokens', 'contact_inboxes']) {
    await tx.sql(`DELETE FROM ${table} WHERE account_id = $1 AND contact_id = $2`, [tx.account.id, contact.id]);
  }
  const [row] = await tx.sql<{ beat: string }>(beatStatement, [tx.account.id, contact.id]);
  if (!row) throw new Error('The contact was locked');
  return row.beat;
}

interface Unfinished {
  id: number;
  account_id: number;
  account_name: string;
  /** As text, in the database's precision. */
  requested_at: string;
}

const pageSize = 20;

function findUnfinished(database: Database, after: Unfinished | null): Promise<Unfinished[]> {
  return database.sql<Unfinished>(
    `SELECT c.id, c.account_id, a.name AS account_name, c.deletion_requested_at AS requested_at
     FROM contacts c JOIN accounts a ON a.id = c.account_id
     WHERE c.deletion_requested_at IS NOT NULL AND NOT ${isAlive}
       AND (c.deletion_requested_at, c.id) > ($1::timestamptz, $2::bigint)
     ORDER BY c.deletion_requested_at, c.id LIMIT ${pageSize}`,
    [after?.requested_at ?? '-infinity', after?.id ?? 0],
  );
}

async function finishErasure(database: Database, { id, account_id, account_name }: Unfinished): Promise<number> {
  const account = { id: account_id, name: account_name };
  const transactHere: Transact = (work) => transact(database, { account, actor: system }, work);
  return (await eraseBatches(transactHere, id, batchesPerSweep)) === 'erased' ? 1 : 0;
}

/**
 * Continues the deletion of contacts that nobody is at: the rest of large ones, and after a crash or an outage; returns how many were completed. A contact that
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

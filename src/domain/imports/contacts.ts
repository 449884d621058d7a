import { createHash } from 'node:crypto';
import { Contact } from '../../records/contacts/contact.ts';
import { maxSourceIds } from '../../records/contacts/source-ids.ts';
import type { Transaction } from '../../events/transaction.ts';
import { maxAttributeBytes } from '../changes.ts';
import { countRows, createRow, findRow, save, update } from '../small-rows.ts';
import type { NewContact } from '../contacts/contacts.ts';
import { lockImported, noteImported, type Imported } from './imports.ts';

/** A contact to copy. */
export interface ForeignContact {
  foreignId: number;
  contact: Omit<NewContact, 'visitorAttributes'>;
  lastActivityAt: Date | null;
  createdAt: Date;
  /** Identifiers in inboxes; `admits`: the identifier lets its holder in, if the contact has no other there. */
  sources: readonly { inboxId: number; sourceId: string; admits: boolean }[];
  /** Titles of labels; titles that the account does not have are left out. */
  labels: readonly string[];
}

/**
 * Outcome of a contact: created, found by its identifier, unchanged, updated, kept because it was changed here, or deleted
 * here.
 */
export interface ContactOutcome {
  outcome: 'created' | 'found' | 'unchanged' | 'updated' | 'kept' | 'deleted';
  /** Its id here. */
  localId: number;
}

/**
 * Copies contacts, each once, in one transaction; copies that have changed in the source since are updated, unless they were
 * changed here. Says nothing: subscribers must not take old contacts for new ones.
 */
export async function importContacts(
  tx: Transaction,
  importId: number,
  contacts: readonly ForeignContact[],
): Promise<ContactOutcome[]> {
  const known = await lockImported(tx, importId, {
    kind: 'contact',
    foreignIds: contacts.map(({ foreignId }) => foreignId),
  });
  const present = await findPresent(
    tx,
    Array.from(known.values(), ({ localId }) => localId),
  );
  const outcomes: ContactOutcome[] = [];
  for (const given of contacts) {
    const copied = known.get(given.foreignId);
    if (!copied) outcomes.push(await create(tx, importId, given));
    else if (isAsCopied(given, copied, present.get(copied.localId)))
      outcomes.push({ outcome: 'unchanged', localId: copied.localId });
    else outcomes.push({ outcome: await renew(tx, importId, given, copied), localId: copied.localId });
  }
  return outcomes;
}

// Whether each identifier admits, by inbox and source id. A contact that is being deleted has no entry.
type Present = ReadonlyMap<string, boolean>;

/** Returns the present state of copied contacts, by their ids: in a second run, most of them are unchanged. */
async function findPresent(tx: Transaction, ids: readonly number[]): Promise<ReadonlyMap<number, Present>> {
  if (ids.length === 0) return new Map();
  const rows = await tx.sql<{ id: number; inbox_id: number | null; source_id: string; admits: boolean }>(
    `SELECT c.id, k.inbox_id, k.source_id, k.admits FROM contacts c
     LEFT JOIN contact_inboxes k ON k.account_id = c.account_id AND k.contact_id = c.id
     WHERE c.account_id = $1 AND c.id = ANY ($2) AND c.deletion_requested_at IS NULL`,
    [tx.account.id, ids],
  );
  const found = new Map<number, Map<string, boolean>>();
  for (const { id, inbox_id: inboxId, source_id: sourceId, admits } of rows) {
    const places = found.get(id) ?? new Map<string, boolean>();
    if (inboxId !== null) places.set(`${inboxId} ${sourceId}`, admits);
    found.set(id, places);
  }
  return found;
}

function isAsCopied(given: ForeignContact, { version }: Imported, present: Present | undefined): boolean {
  if (!present || (version !== null && version !== versionOf(given))) return false;
  return given.sources.every(({ inboxId, sourceId, admits }) => present.get(`${inboxId} ${sourceId}`) === admits);
}

async function create(tx: Transaction, importId: number, given: ForeignContact): Promise<ContactOutcome> {
  const { identifier } = given.contact;
  const present = identifier === null ? null : await findRow(tx.sql, Contact, { accountId: tx.account.id, identifier });
  const contact = present ?? (await insert(tx, given));
  if (present) await fill(tx, present, given);
  await join(tx, contact.id, given.sources);
  await label(tx, contact.id, given.labels);
  const version = present ? null : versionOf(given);
  await noteImported(tx, importId, 'contact', [
    { foreignId: given.foreignId, localId: contact.id, version, complete: false },
  ]);
  return { outcome: present ? 'found' : 'created', localId: contact.id };
}

// Adds values that the contact here lacks; a contact that is being deleted stays as it is.
async function fill(tx: Transaction, present: Contact, { contact, lastActivityAt }: ForeignContact): Promise<void> {
  if (present.deletionRequestedAt) return;
  const { email, phoneNumber, avatarUrl, customAttributes, additionalAttributes } = contact;
  const values = {
    email: present.email ?? email,
    phoneNumber: present.phoneNumber ?? phoneNumber,
    avatarUrl: present.avatarUrl ?? avatarUrl,
    lastActivityAt: present.lastActivityAt ?? lastActivityAt,
    customAttributes: filled(present.customAttributes, customAttributes),
    additionalAttributes: filled(present.additionalAttributes, additionalAttributes),
  };
  if (update(present, values, tx.now)) await save(tx.sql, present);
}

type Attributes = Record<string, unknown>;

// Attributes that would grow too large by the copied ones stay as they are.
function filled(present: Attributes, theirs: Attributes): Attributes {
  const all = { ...theirs, ...present };
  return Buffer.byteLength(JSON.stringify(all)) > maxAttributeBytes ? present : all;
}

async function insert(tx: Transaction, { contact, lastActivityAt, createdAt }: ForeignContact): Promise<Contact> {
  return createRow(tx.sql, Contact, {
    ...contact,
    visitorAttributes: {},
    accountId: tx.account.id,
    lastActivityAt,
    createdAt,
    updatedAt: tx.now,
  });
}

// A contact that was found here has no version: it stays as it is.
async function renew(
  tx: Transaction,
  importId: number,
  given: ForeignContact,
  copied: Imported,
): Promise<ContactOutcome['outcome']> {
  const version = versionOf(given);
  const contact = await findRow(tx.sql, Contact, { accountId: tx.account.id, id: copied.localId });
  if (!contact || contact.deletionRequestedAt) return 'deleted';
  await join(tx, contact.id, given.sources);
  if (copied.version === null || copied.version === version) return 'unchanged';
  if (contact.updatedAt > copied.writtenAt || (await isTaken(tx, contact.id, given.contact.identifier))) return 'kept';
  update(contact, given.contact, tx.now);
  await save(tx.sql, contact);
  const { complete } = copied;
  await noteImported(tx, importId, 'contact', [{ foreignId: given.foreignId, localId: contact.id, version, complete }]);
  return 'updated';
}

async function isTaken(tx: Transaction, id: number, identifier: string | null): Promise<boolean> {
  if (identifier === null) return false;
  return (await countRows(tx.sql, Contact, { accountId: tx.account.id, identifier, id: { $ne: id } })) > 0;
}

function versionOf({ contact }: ForeignContact): string {
  return createHash('sha256').update(JSON.stringify(contact)).digest('base64url');
}

// An identifier of another contact here stays that contact's. The last run decides whether it admits, but never beside another
// identifier: they may belong to two persons, and each would lead to the conversations of both.
async function join(tx: Transaction, contactId: number, sources: ForeignContact['sources']): Promise<void> {
  for (const { inboxId, sourceId, admits } of sources) {
    await tx.sql(
      `INSERT INTO contact_inboxes (account_id, contact_id, inbox_id, source_id, admits, created_at)
       SELECT $1, $2, id, $4, $5 AND NOT EXISTS (SELECT FROM contact_inboxes
           WHERE account_id = $1 AND contact_id = $2 AND inbox_id = $3 AND source_id <> $4), $6
       FROM inboxes WHERE account_id = $1 AND id = $3 AND (
         SELECT count(*) FROM contact_inboxes
           WHERE account_id = $1 AND contact_id = $2 AND inbox_id = $3 AND source_id <> $4) < ${maxSourceIds}
       ON CONFLICT (account_id, inbox_id, source_id) DO UPDATE SET admits = excluded.admits
         WHERE contact_inboxes.contact_id = excluded.contact_id AND contact_inboxes.admits <> excluded.admits`,
      [tx.account.id, contactId, inboxId, sourceId, admits, tx.now],
    );
  }
}

async function label(tx: Transaction, contactId: number, titles: readonly string[]): Promise<void> {
  if (titles.length === 0) return;
  await tx.sql(
    `INSERT INTO contact_labels (account_id, contact_id, label_id)
     SELECT $1, $2, id FROM labels WHERE account_id = $1 AND title = ANY ($3) ORDER BY id ON CONFLICT DO NOTHING`,
    [tx.account.id, contactId, titles],
  );
}

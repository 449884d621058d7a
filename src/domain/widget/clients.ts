import type { Contact } from '../../records/contacts/contact.ts';
import { invalid, notFound } from '../../errors.ts';
import type { Transaction } from '../../events/transaction.ts';
import { addContactInbox, findContactBySource } from '../contacts/contact-inboxes.ts';
import { createContact, readContact, updateContact, type ContactChanges } from '../contacts/contacts.ts';
import { contactBlocked } from './messages.ts';
import type { Visit } from './visits.ts';

/** Profile of a contact, as its client sends it. */
export type ClientProfile = Pick<ContactChanges, 'email' | 'phoneNumber' | 'avatarUrl' | 'visitorAttributes'> & {
  name: string | null | undefined;
};

/** Identity that a client claims, or will get. */
export interface ClientClaim {
  /** Identifier of the contact in the inbox; null for `made`. */
  sourceId: string | null;
  /** The site's own identifier, proven; else null. */
  identifier: string | null;
  /** A new identifier that nobody can guess. */
  made: string;
}

/** A contact, and the `source_id` that admits its client. */
export interface Client {
  contact: Contact;
  sourceId: string;
}

/** A client that was let in, and whether its contact is new. */
export type OpenedClient = Client & { isNew: boolean };

const nameless = 'Visitor';
// Serializes clients by their identifiers: otherwise two would both create the contact, and one would fail.
const takeTurnsStatement = `SELECT pg_advisory_xact_lock(hashtextextended('visitor ' || $2, $1))`;

/**
 * Lets a client in: as the contact with the proven identifier, else as the contact of the `source_id`, if that admits, else as a
 * new one. A known contact stays unchanged, except that it gets a proven identifier if it has none. Says contact_created or
 * contact_updated. Errors: 422 for a `source_id` that does not admit, or that is of another contact than the proven one.
 */
export async function openClient(
  tx: Transaction,
  { inbox }: Visit,
  { claim, profile }: { claim: ClientClaim; profile: ClientProfile },
): Promise<OpenedClient> {
  await takeTurns(tx, inbox.id, claim);
  const known = await findKnown(tx, inbox.id, claim);
  if (!known) {
    const contact = await createClient(tx, profile, claim.identifier);
    return admit(tx, inbox.id, { contact, sourceId: claim.sourceId ?? claim.made, isNew: true });
  }
  const contact = await identify(tx, known.contactId, known.isProven ? null : claim.identifier);
  const sourceId = claim.sourceId ?? (await findKey(tx, inbox.id, contact.id)) ?? claim.made;
  return admit(tx, inbox.id, { contact, sourceId, isNew: false });
}

async function takeTurns(tx: Transaction, inboxId: number, { identifier, sourceId }: ClientClaim): Promise<void> {
  for (const turn of [identifier, sourceId && `${inboxId} ${sourceId}`]) {
    if (turn !== null) await tx.sql(takeTurnsStatement, [tx.account.id, turn]);
  }
}

async function findKnown(
  tx: Transaction,
  inboxId: number,
  { identifier, sourceId }: ClientClaim,
): Promise<{ contactId: number; isProven: boolean } | null> {
  const place = sourceId === null ? null : { inboxId, sourceId };
  const bySource = place && (await findContactBySource(tx.sql, tx.account.id, place));
  if (bySource && !bySource.admits) throw taken();
  const proven = identifier === null ? null : await findByIdentifier(tx, identifier);
  if (proven === null) return bySource && { contactId: bySource.contactId, isProven: false };
  if (bySource && bySource.contactId !== proven) throw taken();
  return { contactId: proven, isProven: true };
}

async function admit(tx: Transaction, inboxId: number, client: OpenedClient): Promise<OpenedClient> {
  const { contact, sourceId } = client;
  await addContactInbox(tx, { contactId: contact.id, inboxId, sourceId, made: sourceId, admits: true });
  return client;
}

function taken(): Error {
  return invalid('/source_id', 'unique', 'Another contact of the inbox has this `source_id`');
}

// A client that proves a new identifier and holds the key of a contact without one is that contact.
async function identify(tx: Transaction, id: number, identifier: string | null): Promise<Contact> {
  const contact = await readContact(tx.sql, tx.account.id, tx.actor, id);
  if (identifier === null) return contact;
  if (contact.identifier) throw taken();
  return updateContact(tx, id, { ...unchanged, identifier });
}

const unchanged: ContactChanges = {
  name: undefined,
  email: undefined,
  phoneNumber: undefined,
  identifier: undefined,
  blocked: undefined,
  avatarUrl: undefined,
  customAttributes: undefined,
  visitorAttributes: undefined,
  additionalAttributes: undefined,
};

async function findByIdentifier(tx: Transaction, identifier: string): Promise<number | null> {
  const statement = 'SELECT id FROM contacts WHERE account_id = $1 AND identifier = $2';
  const [row] = await tx.sql<{ id: number }>(statement, [tx.account.id, identifier]);
  return row?.id ?? null;
}

async function findKey(tx: Transaction, inboxId: number, contactId: number): Promise<string | null> {
  const [row] = await tx.sql<{ source_id: string }>(
    `SELECT source_id FROM contact_inboxes WHERE account_id = $1 AND contact_id = $2 AND inbox_id = $3 AND admits
     ORDER BY id DESC LIMIT 1`,
    [tx.account.id, contactId, inboxId],
  );
  return row?.source_id ?? null;
}

function createClient(tx: Transaction, profile: ClientProfile, identifier: string | null): Promise<Contact> {
  return createContact(tx, {
    name: profile.name ?? nameless,
    email: profile.email ?? null,
    phoneNumber: profile.phoneNumber ?? null,
    identifier,
    blocked: false,
    avatarUrl: profile.avatarUrl ?? null,
    customAttributes: {},
    visitorAttributes: profile.visitorAttributes ?? {},
    additionalAttributes: {},
  });
}

/**
 * Locks the place of the visit's contact in its inbox until the transaction ends; returns the contact's id, which is another one
 * if it was merged meanwhile. Errors: 404 when it was deleted.
 */
export async function lockClient(tx: Transaction, { inbox, sourceId }: Visit): Promise<number> {
  const [row] = await tx.sql<{ contact_id: number }>(
    `SELECT contact_id FROM contact_inboxes WHERE account_id = $1 AND inbox_id = $2 AND source_id = $3 AND admits
     FOR NO KEY UPDATE`,
    [tx.account.id, inbox.id, sourceId],
  );
  if (!row) throw notFound('Contact');
  return row.contact_id;
}

/** Changes the contact's fields that its client may set. Says contact_updated. Errors: 403 `contact_blocked`, 404, 422. */
export async function updateClient(tx: Transaction, visit: Visit, profile: ClientProfile): Promise<Contact> {
  const contact = await updateContact(tx, await lockClient(tx, visit), {
    ...unchanged,
    ...profile,
    name: profile.name ?? undefined,
  });
  if (contact.blocked) throw contactBlocked();
  return contact;
}

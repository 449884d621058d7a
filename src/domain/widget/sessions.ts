import { surroundingOf, type Contact } from '../../records/contacts/contact.ts';
import type { Conversation } from '../../records/conversations/conversation.ts';
import { findConversation } from '../../records/conversations/rows.ts';
import { findInboxBots } from '../../records/conversations/serving-bot.ts';
import { ApiError, notFound } from '../../errors.ts';
import type { Transaction } from '../../events/transaction.ts';
import type { Sql } from '../../postgres/sql.ts';
import { hashToken } from '../../lib/secrets/tokens.ts';
import { decide } from '../conversations/arbiter.ts';
import { createContact, updateContact, type ContactChanges } from '../contacts/contacts.ts';
import { createConversation, plainConversation } from '../conversations/lifecycle.ts';
import type { Visit } from './visits.ts';

/** Fields that visitors may set themselves. */
export type VisitorProfile = Pick<ContactChanges, 'email' | 'phoneNumber' | 'visitorAttributes'> & {
  name: string | null | undefined;
  /** The site's own identifier of the visitor, if its proof is valid; else null. */
  identifier: string | null;
};

const nameless = 'Visitor';

/**
 * Locks the visit's contact in this inbox until the transaction ends; returns its id, which is another one where the contact
 * was merged meanwhile. Errors: 401 when it was deleted.
 */
export async function lockVisitor(tx: Transaction, { contact, inbox, tokenId }: Visit): Promise<number> {
  const locked = await lockIfThere(tx, inbox.id, contact?.id ?? null);
  if (locked !== null) return locked;
  const statement = 'SELECT contact_id FROM contact_tokens WHERE account_id = $1 AND id = $2';
  const [token] = await tx.sql<{ contact_id: number }>(statement, [tx.account.id, tokenId]);
  return lockContact(tx, inbox.id, token?.contact_id ?? null);
}

async function lockContact(tx: Transaction, inboxId: number, contactId: number | null): Promise<number> {
  const locked = await lockIfThere(tx, inboxId, contactId);
  if (locked === null) throw new ApiError(401, 'unauthenticated', 'The contact of this token was deleted');
  return locked;
}

async function lockIfThere(tx: Transaction, inboxId: number, contactId: number | null): Promise<number | null> {
  const [token] = await tx.sql<{ contact_id: number }>(
    `SELECT contact_id FROM contact_tokens WHERE account_id = $1 AND inbox_id = $2 AND contact_id = $3 ORDER BY id LIMIT 1
     FOR NO KEY UPDATE`,
    [tx.account.id, inboxId, contactId],
  );
  return token?.contact_id ?? null;
}

const currentId = `SELECT id FROM conversations WHERE account_id = $1 AND inbox_id = $2 AND contact_id = $3
  ORDER BY status = 'resolved', id DESC LIMIT 1`;
const unresolvedId = `SELECT id FROM conversations WHERE account_id = $1 AND inbox_id = $2 AND contact_id = $3
  AND status <> 'resolved' ORDER BY id DESC LIMIT 1`;

/**
 * The conversation that a contact continues in an inbox: the newest unresolved one, else the newest. Null when there is
 * none.
 */
export async function findCurrent(
  sql: Sql,
  accountId: number,
  { inboxId, contactId }: { inboxId: number; contactId: number },
): Promise<Conversation | null> {
  const [row] = await sql<{ id: number }>(currentId, [accountId, inboxId, contactId]);
  return row ? findConversation(sql, accountId, row.id) : null;
}

/** Like findCurrent, with the conversation locked. */
export async function lockCurrent(
  tx: Transaction,
  { inboxId, contactId }: { inboxId: number; contactId: number },
): Promise<Conversation | null> {
  const parameters = [inboxId, contactId];
  const [conversation = null] = await tx.conversations({ ids: currentId, parameters, hot: true, reserves: true });
  return conversation;
}

/** Creates a conversation of the contact in the visit's inbox. Says conversation_created. */
export async function begin(tx: Transaction, { inbox }: Visit, contactId: number): Promise<Conversation> {
  const { conversation } = await createConversation(tx, plainConversation(inbox.id, contactId));
  return conversation;
}

async function lockUnresolved(tx: Transaction, { inbox }: Visit, contactId: number): Promise<Conversation | null> {
  const parameters = [inbox.id, contactId];
  const [conversation = null] = await tx.conversations({ ids: unresolvedId, parameters, hot: true, reserves: true });
  return conversation;
}

// Without a bot that may speak first, an empty conversation would only clutter the inbox.
async function isAwaited(tx: Transaction, { inbox }: Visit): Promise<boolean> {
  const bots = await findInboxBots(tx.sql, tx.account.id, [inbox.id]);
  const bot = bots.get(inbox.id);
  return bot !== undefined && bot.unfit === null && bot.events.includes('webwidget_triggered');
}

function createVisitor(tx: Transaction, profile: VisitorProfile): Promise<Contact> {
  return createContact(tx, {
    name: profile.name ?? nameless,
    email: profile.email ?? null,
    phoneNumber: profile.phoneNumber ?? null,
    identifier: profile.identifier,
    blocked: false,
    avatarUrl: null,
    customAttributes: {},
    visitorAttributes: profile.visitorAttributes ?? {},
    additionalAttributes: {},
  });
}

function updateVisitor(
  tx: Transaction,
  contactId: number,
  { name, email, phoneNumber, visitorAttributes, identifier }: Partial<VisitorProfile>,
): Promise<Contact> {
  return updateContact(tx, contactId, {
    name: name ?? undefined,
    email,
    phoneNumber,
    identifier: identifier ?? undefined,
    blocked: undefined,
    avatarUrl: undefined,
    customAttributes: undefined,
    visitorAttributes,
    additionalAttributes: undefined,
  });
}

// Enough for a visitor's devices. The oldest token beyond this number is revoked; that device then counts as new.
const maxTokensPerContact = 20;

async function grantContactToken(
  tx: Transaction,
  { inbox }: Visit,
  { contactId, token }: { contactId: number; token: string },
): Promise<void> {
  const kept = await tx.sql(
    `INSERT INTO contact_tokens (account_id, inbox_id, contact_id, token_hash, created_at)
     SELECT account_id, id, $3, $4, $5 FROM inboxes WHERE account_id = $1 AND id = $2 FOR KEY SHARE RETURNING id`,
    [tx.account.id, inbox.id, contactId, hashToken(token), tx.now],
  );
  if (kept.length === 0) throw notFound('Inbox');
  await tx.sql(
    `DELETE FROM contact_tokens WHERE account_id = $1 AND id IN (
       SELECT id FROM contact_tokens WHERE account_id = $1 AND inbox_id = $2 AND contact_id = $3
       ORDER BY id DESC OFFSET ${maxTokensPerContact})`,
    [tx.account.id, inbox.id, contactId],
  );
}

// Serializes sessions by identifier: otherwise two devices of a new visitor would both create the contact, and one would fail.
const takeTurnsStatement = `SELECT pg_advisory_xact_lock(hashtextextended('visitor ' || $2, $1))`;

/**
 * The id of the visit's contact: the one with the proven identifier, else the token's. Null for a new contact, also when
 * the token's contact has another identifier (another visitor used this device).
 */
async function findVisitor(tx: Transaction, { contact }: Visit, identifier: string | null): Promise<number | null> {
  if (identifier === null) return contact?.id ?? null;
  await tx.sql(takeTurnsStatement, [tx.account.id, identifier]);
  const [known] = await tx.sql<{ id: number }>(
    `SELECT id FROM contacts WHERE account_id = $1 AND (identifier = $2 OR id = $3 AND identifier IS NULL)
     ORDER BY identifier NULLS LAST LIMIT 1`,
    [tx.account.id, identifier, contact?.id ?? null],
  );
  return known?.id ?? null;
}

function triggered(
  tx: Transaction,
  { inbox }: Visit,
  { contact, conversation, begun }: { contact: Contact; conversation: Conversation | null; begun: boolean },
): void {
  const session = { contact, inbox, account: tx.account, conversation, begun };
  if (!conversation) return tx.record('webwidget_triggered', { contact, session });
  const decision = decide('webwidget_triggered', conversation, tx.actor);
  tx.record('webwidget_triggered', { conversation, contact, session }, decision);
}

// Lock order: the conversation before its contact.
async function holdVisitor(
  tx: Transaction,
  visit: Visit,
  { contactId, token }: { contactId: number; token: string | null },
): Promise<Conversation | null> {
  if (token !== null) await grantContactToken(tx, visit, { contactId, token });
  await lockContact(tx, visit.inbox.id, contactId);
  return lockUnresolved(tx, visit, contactId);
}

/** Gives the contact of the locked conversation an e-mail address. Says contact_updated. */
export async function keepEmail(tx: Transaction, conversation: Conversation, email: string): Promise<void> {
  conversation.contact = surroundingOf(await updateVisitor(tx, conversation.contact.id, { email }));
}

/** An opened session. */
export interface Session {
  contact: Contact;
  conversation: Conversation | null;
  /** Whether the new token was granted: the contact is new, or the visitor came without a token of this contact. */
  granted: boolean;
}

/**
 * Opens a session: of the contact with the proven identifier, else of the visit's contact, else of a new one; the contact
 * gets the profile's values. A visitor without a token of this contact is granted `token`. The session continues the
 * contact's unresolved conversation in the inbox, or creates one if the inbox's bot receives webwidget_triggered. Says
 * contact_created or contact_updated, conversation_created, and always webwidget_triggered. Errors: 401, 404, 422 for
 * attributes that grow too large.
 */
export async function openSession(
  tx: Transaction,
  visit: Visit,
  { profile, token }: { profile: VisitorProfile; token: string },
): Promise<Session> {
  const known = await findVisitor(tx, visit, profile.identifier);
  const granted = known === null || known !== visit.contact?.id;
  const held =
    known === null ? null : await holdVisitor(tx, visit, { contactId: known, token: granted ? token : null });
  const contact = known === null ? await createVisitor(tx, profile) : await updateVisitor(tx, known, profile);
  if (known === null) await grantContactToken(tx, visit, { contactId: contact.id, token });
  const begun = !held && !contact.blocked && (await isAwaited(tx, visit));
  if (held) held.contact = surroundingOf(contact);
  const conversation = begun ? await begin(tx, visit, contact.id) : held;
  triggered(tx, visit, { contact, conversation, begun });
  return { contact, conversation, granted };
}

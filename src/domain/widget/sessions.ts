import type { Contact } from '../../records/contact.ts';
import type { Conversation, ConversationStatus } from '../../records/conversation.ts';
import { findConversation } from '../../records/conversation-rows.ts';
import { findInboxBots } from '../../records/serving-bot.ts';
import { ApiError, notFound } from '../../errors.ts';
import type { Transaction } from '../../events/transaction.ts';
import { sql, type Executor } from '../../postgres/sql.ts';
import { hashToken } from '../../lib/tokens.ts';
import { decide } from '../conversations/arbiter.ts';
import { createContact, updateContact, type ContactChanges } from '../contacts/contacts.ts';
import { createConversation } from '../conversations/lifecycle.ts';
import type { Visit } from './visits.ts';

/** What visitors may tell about themselves. */
export type VisitorProfile = Pick<ContactChanges, 'email' | 'phoneNumber' | 'visitorAttributes'> & {
  name: string | null | undefined;
  /** The site's own identifier of the visitor, if the site proved it: who only claims one has none. */
  identifier: string | null;
};

const nameless = 'Visitor';

/** The contact of a visit; nobody else acts for it in this inbox until the transaction ends. Errors: 401 when it is gone. */
export function lockVisitor(tx: Transaction, { contact, inbox }: Visit): Promise<number> {
  return lockContact(tx, inbox.id, contact?.id ?? null);
}

async function lockContact(tx: Transaction, inboxId: number, contactId: number | null): Promise<number> {
  const [token] = await sql<{ contact_id: number }>(
    tx.em,
    `SELECT contact_id FROM contact_tokens WHERE account_id = $1 AND inbox_id = $2 AND contact_id = $3 ORDER BY id LIMIT 1
     FOR NO KEY UPDATE`,
    [tx.account.id, inboxId, contactId],
  );
  if (!token) throw new ApiError(401, 'unauthenticated', 'The contact of this token was deleted');
  return token.contact_id;
}

const currentId = `SELECT id FROM conversations WHERE account_id = $1 AND inbox_id = $2 AND contact_id = $3
  ORDER BY status = 'resolved', id DESC LIMIT 1`;
const unresolvedId = `SELECT id FROM conversations WHERE account_id = $1 AND inbox_id = $2 AND contact_id = $3
  AND status <> 'resolved' ORDER BY id DESC LIMIT 1`;

/**
 * The conversation that a contact goes on with in an inbox: the newest that is not resolved, else the newest. Null when
 * there is none.
 */
export async function findCurrent(
  executor: Executor,
  accountId: number,
  { inboxId, contactId }: { inboxId: number; contactId: number },
): Promise<Conversation | null> {
  const [row] = await sql<{ id: number }>(executor, currentId, [accountId, inboxId, contactId]);
  return row ? findConversation(executor, accountId, row.id) : null;
}

/** Locks the conversation that findCurrent would find. */
export async function lockCurrent(
  tx: Transaction,
  { inboxId, contactId }: { inboxId: number; contactId: number },
): Promise<Conversation | null> {
  const parameters = [inboxId, contactId];
  const [conversation = null] = await tx.conversations({ ids: currentId, parameters, hot: true });
  return conversation;
}

/** Opens a conversation of the contact in the inbox of the visit. Says conversation_created. */
export function begin(
  tx: Transaction,
  { inbox }: Visit,
  { contactId, status = null }: { contactId: number; status?: ConversationStatus | null },
): Promise<Conversation> {
  return createConversation(tx, {
    inboxId: inbox.id,
    contactId,
    sourceId: null,
    status,
    snoozedUntil: null,
    assigneeId: null,
    teamId: null,
    message: null,
    additionalAttributes: {},
    customAttributes: {},
  });
}

async function lockUnresolved(tx: Transaction, { inbox }: Visit, contactId: number): Promise<Conversation | null> {
  const parameters = [inbox.id, contactId];
  const [conversation = null] = await tx.conversations({ ids: unresolvedId, parameters, hot: true });
  return conversation;
}

// Without somebody who speaks first, an empty conversation would only lie in the people's way.
async function isAwaited(tx: Transaction, { inbox }: Visit): Promise<boolean> {
  const bots = await findInboxBots(tx.em, tx.account.id, [inbox.id]);
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
  { name, email, phoneNumber, visitorAttributes, identifier }: VisitorProfile,
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

// A visitor opens the site on a few devices; who opened it on more is asked again on the one unused for longest.
const maxTokensPerContact = 20;

async function grantContactToken(
  tx: Transaction,
  { inbox }: Visit,
  { contactId, token }: { contactId: number; token: string },
): Promise<void> {
  const kept = await sql(
    tx.em,
    `INSERT INTO contact_tokens (account_id, inbox_id, contact_id, token_hash, created_at)
     SELECT account_id, id, $3, $4, $5 FROM inboxes WHERE account_id = $1 AND id = $2 FOR KEY SHARE RETURNING id`,
    [tx.account.id, inbox.id, contactId, hashToken(token), tx.now],
  );
  if (kept.length === 0) throw notFound('Inbox');
  await sql(
    tx.em,
    `DELETE FROM contact_tokens WHERE account_id = $1 AND id IN (
       SELECT id FROM contact_tokens WHERE account_id = $1 AND inbox_id = $2 AND contact_id = $3
       ORDER BY id DESC OFFSET ${maxTokensPerContact})`,
    [tx.account.id, inbox.id, contactId],
  );
}

// Two devices of one new visitor would otherwise make two contacts of the identifier, and one of them be refused.
const takeTurnsStatement = `SELECT pg_advisory_xact_lock(hashtextextended('visitor ' || $2, $1))`;

/**
 * Which contact a visit is about: the one whose identifier was proven, else that of the token. Null when it is a new one:
 * also where another visitor has proven another identifier on this device.
 */
async function findVisitor(tx: Transaction, { contact }: Visit, identifier: string | null): Promise<number | null> {
  if (identifier === null) return contact?.id ?? null;
  await sql(tx.em, takeTurnsStatement, [tx.account.id, identifier]);
  const [known] = await sql<{ id: number }>(
    tx.em,
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

// The conversation before its contact, as all do who lock both.
async function holdVisitor(
  tx: Transaction,
  visit: Visit,
  { contactId, token }: { contactId: number; token: string | null },
): Promise<Conversation | null> {
  if (token !== null) await grantContactToken(tx, visit, { contactId, token });
  await lockContact(tx, visit.inbox.id, contactId);
  return lockUnresolved(tx, visit, contactId);
}

// A conversation tells of its contact, which has just taken on what the profile says.
function surroundingOf(contact: Contact): Conversation['contact'] {
  const { id, name, email = null, phoneNumber = null, identifier = null, avatarUrl = null, blocked } = contact;
  return { id, name, email, phoneNumber, identifier, avatarUrl, blocked };
}

/** A session as it stands after it was opened. */
export interface Session {
  contact: Contact;
  conversation: Conversation | null;
  /** Whether the token is the contact's from now on: it is new, or came without one of its own. */
  granted: boolean;
}

/**
 * Opens a session of the visitor: of the contact whose identifier was proven, of the contact of the visit, or of a new one,
 * which takes on what the profile says. Who came without a token of this contact is known by `token` from now on. It goes
 * on with the contact's unresolved conversation in the inbox, or begins one where a bot hears of sessions. Says
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
  const conversation = begun ? await begin(tx, visit, { contactId: contact.id }) : held;
  triggered(tx, visit, { contact, conversation, begun });
  return { contact, conversation, granted };
}

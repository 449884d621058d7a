import type { Contact } from '../entities/contact.ts';
import {
  findConversation,
  saveConversation,
  type Conversation,
  type ConversationStatus,
} from '../entities/conversation.ts';
import { ApiError, notFound } from '../errors.ts';
import { record } from '../events/outbox.ts';
import type { Transaction } from '../events/transaction.ts';
import { sql, type Executor } from '../lib/sql.ts';
import { hashToken } from '../lib/tokens.ts';
import { lockConversation } from './access.ts';
import { decide } from './arbiter.ts';
import { createContact, updateContact, type ContactChanges } from './contacts.ts';
import { createConversation } from './conversations.ts';
import type { Visit } from './visits.ts';

/** What visitors may tell about themselves. */
export type VisitorProfile = Omit<ContactChanges, 'name' | 'blocked' | 'additionalAttributes'> & {
  name: string | null | undefined;
};

const nameless = 'Visitor';

/** The contact of a visit; nobody else acts for it in this inbox until the transaction ends. Errors: 401 when it is gone. */
export async function lockVisitor(tx: Transaction, { contact, inbox }: Visit): Promise<number> {
  const [token] = await sql<{ contact_id: number }>(
    tx.em,
    `SELECT contact_id FROM contact_tokens WHERE account_id = $1 AND inbox_id = $2 AND contact_id = $3 ORDER BY id LIMIT 1
     FOR NO KEY UPDATE`,
    [tx.account.id, inbox.id, contact?.id ?? null],
  );
  if (!token) throw new ApiError(401, 'unauthenticated', 'This contact is no more');
  return token.contact_id;
}

/**
 * The conversation that a contact goes on with in an inbox: the newest that is not resolved, else the newest. Null when
 * there is none.
 */
export async function findCurrent(
  executor: Executor,
  accountId: number,
  { inboxId, contactId }: { inboxId: number; contactId: number },
): Promise<{ id: number; resolved: boolean } | null> {
  const [row] = await sql<{ id: number; resolved: boolean }>(
    executor,
    `SELECT id, status = 'resolved' AS resolved FROM conversations
     WHERE account_id = $1 AND contact_id = $3 AND inbox_id = $2 ORDER BY resolved, id DESC LIMIT 1`,
    [accountId, inboxId, contactId],
  );
  return row ?? null;
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
  const current = await findCurrent(tx.em, tx.account.id, { inboxId: inbox.id, contactId });
  return current && !current.resolved ? lockConversation(tx, current.id) : null;
}

// Without somebody who speaks first, an empty conversation would only lie in the people's way.
async function isAwaited(tx: Transaction, { inbox }: Visit): Promise<boolean> {
  const listening = await sql(
    tx.em,
    `SELECT FROM inboxes i JOIN agent_bots b ON b.id = i.agent_bot_id
     WHERE i.account_id = $1 AND i.id = $2 AND b.installed AND 'webwidget_triggered' = ANY (b.events)`,
    [tx.account.id, inbox.id],
  );
  return listening.length > 0;
}

async function createVisitor(
  tx: Transaction,
  { inbox }: Visit,
  profile: VisitorProfile,
  token: string,
): Promise<Contact> {
  const contact = await createContact(tx, {
    name: profile.name ?? nameless,
    email: profile.email ?? null,
    phoneNumber: profile.phoneNumber ?? null,
    identifier: profile.identifier ?? null,
    blocked: false,
    customAttributes: profile.customAttributes ?? {},
    additionalAttributes: {},
  });
  const kept = await sql(
    tx.em,
    `INSERT INTO contact_tokens (account_id, inbox_id, contact_id, token_hash, created_at)
     SELECT account_id, id, $3, $4, $5 FROM inboxes WHERE account_id = $1 AND id = $2 FOR KEY SHARE RETURNING id`,
    [tx.account.id, inbox.id, contact.id, hashToken(token), tx.now],
  );
  if (kept.length === 0) throw notFound('Inbox');
  return contact;
}

function updateVisitor(tx: Transaction, contactId: number, { name, ...rest }: VisitorProfile): Promise<Contact> {
  const unchanged = { blocked: undefined, additionalAttributes: undefined };
  return updateContact(tx, contactId, { ...rest, ...unchanged, name: name ?? undefined });
}

async function triggered(
  tx: Transaction,
  { inbox }: Visit,
  { contact, conversation, begun }: { contact: Contact; conversation: Conversation | null; begun: boolean },
): Promise<void> {
  const session = { contact, inbox, account: tx.account, conversation, begun };
  if (!conversation) return record(tx, 'webwidget_triggered', { contact, session });
  const decision = decide('webwidget_triggered', conversation, tx.actor);
  record(tx, 'webwidget_triggered', { conversation, contact, session }, decision);
  await saveConversation(tx.em, conversation);
}

/** A session as it stands after it was opened. */
export interface Session {
  contact: Contact;
  conversation: Conversation | null;
  /** Whether the contact is new, and the token its own. */
  isNew: boolean;
}

/**
 * Opens a session of the visitor: of a new contact, who is known by `token` from now on, or of the contact of the visit,
 * which takes on what the profile says. It goes on with the contact's unresolved conversation in the inbox, or begins one
 * where a bot hears of sessions. Says contact_created or contact_updated, conversation_created, and always
 * webwidget_triggered. Errors: 401, 404, 422 for an `identifier` that another contact has.
 */
export async function openSession(
  tx: Transaction,
  visit: Visit,
  { profile, token }: { profile: VisitorProfile; token: string },
): Promise<Session> {
  const isNew = visit.contact === null;
  const contactId = isNew ? null : await lockVisitor(tx, visit);
  // The conversation before its contact, as all do who lock both.
  const held = contactId === null ? null : await lockUnresolved(tx, visit, contactId);
  const contact =
    contactId === null ? await createVisitor(tx, visit, profile, token) : await updateVisitor(tx, contactId, profile);
  const begun = !held && !contact.blocked && (await isAwaited(tx, visit));
  // Read again: it tells of its contact.
  const present = held && (await findConversation(tx.em, tx.account.id, held.id));
  const conversation = begun ? await begin(tx, visit, { contactId: contact.id }) : present;
  await triggered(tx, visit, { contact, conversation, begun });
  return { contact, conversation, isNew };
}

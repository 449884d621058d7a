import { system, type Actor, type Transaction } from '../../events/transaction.ts';
import type { Sql } from '../../postgres/sql.ts';
import type { Attachment } from '../../records/messages/attachment.ts';
import type { Contact } from '../../records/contacts/contact.ts';
import type { Conversation } from '../../records/conversations/conversation.ts';
import { findMessagesById } from '../../records/messages/message.ts';
import { addContactInbox } from '../contacts/contact-inboxes.ts';
import { createContact } from '../contacts/contacts.ts';
import { createConversation, plainConversation } from '../conversations/lifecycle.ts';
import { saveEdit } from '../conversations/messages/edits.ts';
import { sendInto } from '../conversations/send.ts';
import { attachAwaited, jsonOf, nameMissing, type AwaitedFile, type MissingFile } from './awaited-files.ts';
import { conversationOf, findByExternalId, keepExternalId } from './external-ids.ts';

/** A message of a customer, which a channel brings in. */
export interface IncomingMessage {
  /** The customer, as the other system knows the customer. */
  sourceId: string;
  /** The message there. */
  externalId: string;
  content: string;
  /** Fields of a customer who is new. */
  profile: { name: string | null; email: string | null; phoneNumber: string | null };
  /** When it was written, in Unix seconds. */
  at: number | null;
  /** Whether the customer changed a message that may be known already. */
  isEdit: boolean;
  /** Whether nobody wrote it, so that nothing may answer it by itself. */
  isAutomatic: boolean;
  /** Ids there of messages that it answers; null where the other system has no threads. */
  thread: readonly string[] | null;
  /** Kept beside the text; null for what is no mail. */
  mail: Record<string, unknown> | null;
  /** Files that are stored, and belong to no message yet. */
  attachments: readonly Attachment[];
  /** Files that the service could not get, and why. */
  missing: readonly MissingFile[];
  /** Files that the service could not get yet. */
  awaited: readonly AwaitedFile[];
  /** The places that were awaited when its files were fetched; empty for a message that is new. */
  expected: readonly number[];
  /** The request of a hook that brought it; null for none. */
  requestId: number | null;
}

/**
 * Adds a customer's message to the customer's conversation in the inbox that is not resolved, else to a new one; the customer
 * becomes a contact. A message that is known by its external id changes nothing, unless the customer edited it. Says the events of
 * `send`, contact_created, conversation_created; message_updated for an edit, and for files that it awaited. Returns the id of the conversation; null where there is
 * none any more.
 */
export async function receiveMessage(tx: Transaction, inboxId: number, given: IncomingMessage): Promise<number | null> {
  await holdSource(tx, inboxId, given.sourceId);
  const known = await findByExternalId(tx, inboxId, given.externalId);
  if (known !== null) return reachKnown(tx, { inboxId, messageId: known }, given);
  const contact = await findContact(tx, inboxId, given);
  const conversation = await openConversation(tx, { inboxId, contact, given });
  if (!conversation) return null;
  const message = await sendInto(given.isAutomatic ? tx.as(system) : tx.as(asContact(contact)), conversation, {
    ...(given.isAutomatic ? { type: 'outgoing', private: true } : { type: 'incoming' }),
    content: contentOf(given),
    sourceId: given.externalId,
    contentAttributes: {
      ...(given.at === null ? {} : { external_created_at: given.at }),
      ...(given.mail === null ? {} : { mail: given.mail }),
      ...(given.awaited.length === 0 ? {} : { awaited_files: given.awaited.length }),
    },
    attachments: given.attachments,
  });
  const awaited = jsonOf(given.awaited);
  const place = { inboxId, externalId: given.externalId, messageId: message.id };
  await keepExternalId(tx, {
    ...place,
    ...(awaited === null ? {} : { awaited: { files: awaited, requestId: given.requestId } }),
  });
  await nameMissing(tx, conversation, given.missing);
  return conversation.id;
}

// Requests about one customer may come by several lanes: the first makes the contact.
async function holdSource({ sql, account }: Transaction, inboxId: number, sourceId: string): Promise<void> {
  await sql('SELECT pg_advisory_xact_lock($1::int, hashtext($2))', [account.id % 2 ** 31, `${inboxId} ${sourceId}`]);
}

// A message has content or files.
function contentOf({ content, attachments, missing, awaited }: IncomingMessage): string {
  if (content.trim() !== '' || attachments.length > 0) return content;
  return [...missing, ...awaited].map(({ name }) => name).join(', ') || '…';
}

async function reachKnown(
  tx: Transaction,
  place: { inboxId: number; messageId: number },
  given: IncomingMessage,
): Promise<number | null> {
  const { messageId } = place;
  const conversationId = await conversationOf(tx, messageId);
  if (conversationId === null) return null;
  if (given.isEdit) await editMessage(tx, { conversationId, messageId }, given);
  await attachAwaited(tx, conversationId, { ...given, ...place });
  return conversationId;
}

async function editMessage(
  tx: Transaction,
  { conversationId, messageId }: { conversationId: number; messageId: number },
  { content }: IncomingMessage,
): Promise<void> {
  const conversation = await tx.conversation(conversationId);
  const [message] = await findMessagesById(tx.sql, tx.account.id, [messageId]);
  // Neither a deleted message nor one that the customer did not write.
  const isOpen = message?.type === 'incoming' && !message.contentAttributes['deleted'];
  if (!conversation || !isOpen || content.trim() === '' || content === message.content) return;
  const changed = { content: { previous: message.content, current: content } };
  await saveEdit(tx, { conversation, message: { ...message, content } }, changed);
}

type Known = Pick<Contact, 'id' | 'name' | 'email' | 'avatarUrl'>;

async function findContact(tx: Transaction, inboxId: number, given: IncomingMessage): Promise<Known> {
  const known = await findBySource(tx.sql, tx.account.id, { inboxId, sourceId: given.sourceId });
  if (known) return known;
  // A contact who is being erased leaves the place to a new one.
  await tx.sql('DELETE FROM contact_inboxes WHERE account_id = $1 AND inbox_id = $2 AND source_id = $3', [
    tx.account.id,
    inboxId,
    given.sourceId,
  ]);
  const { name, email, phoneNumber } = given.profile;
  const contact = await createContact(tx, {
    name: name ?? email ?? phoneNumber ?? given.sourceId,
    email,
    phoneNumber,
    identifier: null,
    blocked: false,
    avatarUrl: null,
    customAttributes: {},
    additionalAttributes: {},
  });
  const source = { contactId: contact.id, inboxId, sourceId: given.sourceId, made: given.sourceId };
  await addContactInbox(tx, source);
  return contact;
}

async function findBySource(
  sql: Sql,
  accountId: number,
  { inboxId, sourceId }: { inboxId: number; sourceId: string },
): Promise<Known | null> {
  const [found] = await sql<{ id: number; name: string; email: string | null; avatar_url: string | null }>(
    `SELECT c.id, c.name, c.email, c.avatar_url FROM contact_inboxes k
     JOIN contacts c ON c.account_id = k.account_id AND c.id = k.contact_id AND c.deletion_requested_at IS NULL
     WHERE k.account_id = $1 AND k.inbox_id = $2 AND k.source_id = $3 FOR KEY SHARE OF c`,
    [accountId, inboxId, sourceId],
  );
  return found ? { id: found.id, name: found.name, email: found.email, avatarUrl: found.avatar_url } : null;
}

interface Place {
  inboxId: number;
  contact: Known;
  given: Pick<IncomingMessage, 'sourceId' | 'thread' | 'mail'>;
}

// A customer who was merged from two has a conversation for each of the places where the customer writes.
const unresolved = `SELECT id FROM conversations WHERE account_id = $1 AND inbox_id = $2 AND contact_id = $3
  AND status <> 'resolved' AND (source_id = $4 OR source_id IS NULL) ORDER BY id DESC LIMIT 1`;

// The conversation of the first message that is known, of the same customer: ids in mails are guessed, and forwarded.
const inThread = `SELECT c.id FROM unnest($5::text[]) WITH ORDINALITY AS t (external_id, place)
  JOIN channel_messages k ON k.account_id = $1 AND k.inbox_id = $2 AND k.external_id = t.external_id
  JOIN messages m ON m.account_id = k.account_id AND m.id = k.message_id
  JOIN conversations c ON c.account_id = m.account_id AND c.id = m.conversation_id
  WHERE c.inbox_id = $2 AND c.contact_id = $3 AND (c.source_id = $4 OR c.source_id IS NULL) ORDER BY t.place LIMIT 1`;

async function openConversation(tx: Transaction, { inboxId, contact, given }: Place): Promise<Conversation | null> {
  const { sourceId, thread, mail } = given;
  const parameters = [inboxId, contact.id, sourceId];
  const [found] = await (thread === null
    ? tx.conversations({ ids: unresolved, parameters, reserves: true })
    : tx.conversations({ ids: inThread, parameters: [...parameters, thread], reserves: true }));
  if (found) return found;
  const { conversation } = await createConversation(tx.as(asContact(contact)), {
    ...plainConversation(inboxId, contact.id),
    sourceId,
    ...(typeof mail?.['subject'] === 'string' ? { additionalAttributes: { mail_subject: mail['subject'] } } : {}),
  });
  return conversation;
}

function asContact({ id, name, email, avatarUrl }: Known): Actor {
  return { kind: 'contact', id, name, role: null, email: email ?? null, avatarUrl: avatarUrl ?? null, depth: 0 };
}

import { forbidden, invalid, notFound } from '../../errors.ts';
import type { Actor, Transaction } from '../../events/transaction.ts';
import type { Sql } from '../../postgres/sql.ts';
import { maxSourceIds } from '../../records/contacts/source-ids.ts';
import { mayServeInbox, seesEverything } from '../conversations/access.ts';

/** An inbox where a contact is known. */
interface ContactPlace {
  id: number;
  name: string;
  channelType: string;
  avatarUrl: string | null;
}

/** An inbox in which a contact is known, and by which external identifier. */
export interface ContactInbox {
  contactId: number;
  /** Null where it would admit somebody who may not see the inbox. */
  sourceId: string | null;
  inbox: ContactPlace;
}

interface Row {
  contact_id: number;
  source_id: string | null;
  inbox_id: number;
  name: string;
  channel_type: string;
  avatar_url: string | null;
}

/** The caller, and the account of the call. */
interface Asking {
  accountId: number;
  actor: Actor;
}

// Holders of an admitting identifier read the contact's conversations in the inbox: `$2` is the agent, null for all others.
const columns = `k.contact_id, k.inbox_id, i.name, i.channel_type, i.avatar_url, CASE WHEN NOT k.admits OR $2::bigint IS NULL OR EXISTS (
  SELECT FROM inbox_members m WHERE m.account_id = $1 AND m.inbox_id = k.inbox_id AND m.user_id = $2) THEN k.source_id END
  AS source_id`;
const joined = `FROM contact_inboxes k JOIN inboxes i ON i.account_id = k.account_id AND i.id = k.inbox_id
  WHERE k.account_id = $1 AND k.contact_id = ANY ($3)`;

const agentOf = (actor: Actor) => (seesEverything(actor) ? null : actor.id);

/** Returns the inboxes of the contacts, each once, with the newest external identifier there. */
export async function findContactInboxes(
  sql: Sql,
  { accountId, actor }: Asking,
  contactIds: readonly number[],
): Promise<ContactInbox[]> {
  const statement = `SELECT DISTINCT ON (k.contact_id, k.inbox_id) ${columns} ${joined}
    ORDER BY k.contact_id, k.inbox_id, k.id DESC`;
  return (await sql<Row>(statement, [accountId, agentOf(actor), contactIds])).map(toContactInbox);
}

/** Returns all external identifiers of a contact, the newest first. */
export async function listContactInboxes(
  sql: Sql,
  { accountId, actor }: Asking,
  contactId: number,
): Promise<ContactInbox[]> {
  const statement = `SELECT ${columns} ${joined} ORDER BY k.id DESC`;
  return (await sql<Row>(statement, [accountId, agentOf(actor), [contactId]])).map(toContactInbox);
}

function toContactInbox(row: Row): ContactInbox {
  return { contactId: row.contact_id, sourceId: row.source_id, inbox: placeOf({ ...row, id: row.inbox_id }) };
}

/** Values that determine the contact's address in an inbox of a channel. */
interface Reach {
  channel_type: string;
  email: string | null;
  phone_number: string | null;
}

// These channels reach customers at an address that the contact has.
function addressFor({ channel_type: channel, email, phone_number: phone }: Reach): string | null {
  if (channel === 'Channel::Email') return email;
  if (channel === 'Channel::Sms') return phone;
  return channel === 'Channel::Whatsapp' ? (phone?.slice(1) ?? null) : null;
}

/**
 * Returns the inboxes that the actor may see and in which a conversation with the contact can begin: where the contact is known,
 * with its newest identifier; where its address is one, with that; and inboxes of the API, where one will be made (null).
 */
export async function findContactable(
  sql: Sql,
  { accountId, actor }: Asking,
  contactId: number,
): Promise<ContactInbox[]> {
  const rows = await sql<Row & Reach>(
    `SELECT c.id AS contact_id, c.email, c.phone_number, i.id AS inbox_id, i.name, i.channel_type, i.avatar_url,
       (SELECT k.source_id FROM contact_inboxes k WHERE k.account_id = $1 AND k.contact_id = c.id AND k.inbox_id = i.id
         ORDER BY k.id DESC LIMIT 1) AS source_id
     FROM contacts c JOIN inboxes i ON i.account_id = c.account_id
     WHERE c.account_id = $1 AND c.id = $3 AND ($2::bigint IS NULL OR EXISTS (
       SELECT FROM inbox_members m WHERE m.account_id = $1 AND m.inbox_id = i.id AND m.user_id = $2))
     ORDER BY lower(i.name), i.id`,
    [accountId, agentOf(actor), contactId],
  );
  return rows
    .map((row) => ({ ...row, source_id: row.source_id ?? addressFor(row) }))
    .filter(({ source_id: id, channel_type: channel }) => id !== null || channel === 'Channel::Api')
    .map(toContactInbox);
}

/** Returns the contact of an identifier in the inbox, and whether it admits its holder; null when there is none. */
export async function findContactBySource(
  sql: Sql,
  accountId: number,
  { inboxId, sourceId }: { inboxId: number; sourceId: string },
): Promise<{ contactId: number; admits: boolean } | null> {
  const [row] = await sql<{ contact_id: number; admits: boolean }>(
    'SELECT contact_id, admits FROM contact_inboxes WHERE account_id = $1 AND inbox_id = $2 AND source_id = $3',
    [accountId, inboxId, sourceId],
  );
  return row ? { contactId: row.contact_id, admits: row.admits } : null;
}

/** Returns the id of the contact of an identifier in the inbox. Errors: 404 for the inbox, or when there is none. */
export async function needContactBySource(
  sql: Sql,
  accountId: number,
  place: { inboxId: number; sourceId: string },
): Promise<number> {
  const found = await findContactBySource(sql, accountId, place);
  if (found) return found.contactId;
  await readInbox(sql, accountId, place.inboxId);
  throw notFound('Contact');
}

interface InboxRow {
  id: number;
  name: string;
  channel_type: string;
  avatar_url: string | null;
}

function placeOf({ id, name, channel_type: channelType, avatar_url: avatarUrl }: InboxRow): ContactPlace {
  return { id, name, channelType, avatarUrl };
}

// FOR KEY SHARE: the inbox must not be deleted before a contact is known in it.
async function readInbox(sql: Sql, accountId: number, id: number): Promise<InboxRow> {
  const [inbox] = await sql<InboxRow>(
    'SELECT id, name, channel_type, avatar_url FROM inboxes WHERE account_id = $1 AND id = $2 FOR KEY SHARE',
    [accountId, id],
  );
  if (!inbox) throw notFound('Inbox');
  return inbox;
}

async function lockContact(tx: Transaction, id: number): Promise<Omit<Reach, 'channel_type'>> {
  const [contact] = await tx.sql<Omit<Reach, 'channel_type'>>(
    `SELECT email, phone_number FROM contacts WHERE account_id = $1 AND id = $2 AND deletion_requested_at IS NULL
     FOR NO KEY UPDATE`,
    [tx.account.id, id],
  );
  if (!contact) throw notFound('Contact');
  return contact;
}

/** A new identifier of a contact in an inbox. */
export interface NewSource {
  contactId: number;
  inboxId: number;
  /** Null for the contact's address in that channel, or else `made`. */
  sourceId: string | null;
  /** A new identifier that nobody can guess. */
  made: string;
  /** Whether the identifier admits its holder by the public door even if the caller chose it. */
  admits?: boolean;
}

/**
 * Adds an external identifier of a contact in an inbox; `isNew` is false if the contact has it already. Errors: 403 for an agent
 * outside the inbox; 404 for a contact or inbox that the account does not have; 422 for an identifier of another contact, and
 * when the contact has too many there.
 */
export async function addContactInbox(
  tx: Transaction,
  { contactId, inboxId, sourceId, made, admits = false }: NewSource,
): Promise<ContactInbox & { isNew: boolean }> {
  const inbox = await readInbox(tx.sql, tx.account.id, inboxId);
  const contact = await lockContact(tx, contactId);
  await checkMember(tx, inboxId);
  const given = sourceId ?? addressFor({ ...contact, channel_type: inbox.channel_type });
  const id = given ?? made;
  const isNew = await insertSource(tx, { contactId, inboxId, sourceId: id, admits: admits || given === null });
  return { contactId, sourceId: id, inbox: placeOf(inbox), isNew };
}

async function checkMember({ sql, account, actor }: Transaction, inboxId: number): Promise<void> {
  if (actor.role !== 'agent' || (await mayServeInbox(sql, account.id, actor.id, inboxId))) return;
  throw forbidden('You are not a member of this inbox');
}

// The contact is locked, so it gets no other identifier meanwhile; but another contact may get this one.
async function insertSource(
  tx: Transaction,
  { contactId, inboxId, sourceId, admits }: { contactId: number; inboxId: number; sourceId: string; admits: boolean },
): Promise<boolean> {
  const inserted = await tx.sql(
    `INSERT INTO contact_inboxes (account_id, contact_id, inbox_id, source_id, admits, created_at)
     SELECT $1, $2, $3, $4, $5, $6 WHERE (
       SELECT count(*) FROM contact_inboxes WHERE account_id = $1 AND contact_id = $2 AND inbox_id = $3) < ${maxSourceIds}
     ON CONFLICT (account_id, inbox_id, source_id) DO NOTHING RETURNING id`,
    [tx.account.id, contactId, inboxId, sourceId, admits, tx.now],
  );
  if (inserted.length > 0) return true;
  const known = await findContactBySource(tx.sql, tx.account.id, { inboxId, sourceId });
  if (known?.contactId === contactId) return false;
  if (known) throw invalid('/source_id', 'unique', 'Another contact of the inbox has this `source_id`');
  throw invalid('/source_id', 'limit', `A contact can have at most ${maxSourceIds} source ids in an inbox`);
}

import { Contact } from '../entities/contact.ts';
import { invalid, notFound } from '../errors.ts';
import { record } from '../events/outbox.ts';
import type { Transaction } from '../events/transaction.ts';
import { sql, type Executor } from '../lib/sql.ts';
import { brokenUniqueConstraint } from '../lib/sql-errors.ts';

export interface NewContact {
  name: string;
  email: string | null;
  phoneNumber: string | null;
  identifier: string | null;
  blocked: boolean;
  customAttributes: Record<string, unknown>;
  additionalAttributes: Record<string, unknown>;
}

/** Creates a contact and says contact_created. Errors: 422 for an `identifier` that another contact has. */
export async function createContact(tx: Transaction, input: NewContact): Promise<Contact> {
  const contact = tx.em.create(Contact, {
    ...input,
    accountId: tx.account.id,
    createdAt: tx.now,
    updatedAt: tx.now,
  });
  try {
    await tx.em.flush();
  } catch (error) {
    if (brokenUniqueConstraint(error) !== 'contacts_identifier_unique') throw error;
    throw invalid('/identifier', 'unique', 'Another contact of this account has this identifier');
  }
  record(tx, 'contact_created', { contact, account: tx.account });
  return contact;
}

/** The contact of the account; 404 when it has none such. */
export async function readContact(em: Transaction['em'], accountId: number, id: number): Promise<Contact> {
  const contact = await em.findOne(Contact, { id, accountId });
  if (!contact) throw notFound('Contact');
  return contact;
}

const sortColumns = {
  name: 'lower(name)',
  email: 'lower(email)',
  phone_number: 'phone_number',
  last_activity_at: 'last_activity_at',
  created_at: 'created_at',
} as const;

export type ContactSort = keyof typeof sortColumns;

/** Contacts on one page of the list; the contract's number. */
export const contactsPerPage = 15;

/** One page of the account's contacts, and how many there are in all. */
export async function listContacts(
  em: Transaction['em'],
  accountId: number,
  { page, sort, descending }: { page: number; sort: ContactSort; descending: boolean },
): Promise<{ contacts: Contact[]; count: number }> {
  const direction = descending ? 'DESC' : 'ASC';
  const rows = await sql<{ id: number }>(
    em,
    `SELECT id FROM contacts WHERE account_id = $1 ORDER BY ${sortColumns[sort]} ${direction} NULLS LAST, id ${direction}
     LIMIT $2 OFFSET $3`,
    [accountId, contactsPerPage, (page - 1) * contactsPerPage],
  );
  const ids = rows.map(({ id }) => id);
  const found = await em.find(Contact, { accountId, id: ids });
  const contacts = found.sort((one, other) => ids.indexOf(one.id) - ids.indexOf(other.id));
  return { contacts, count: await em.count(Contact, { accountId }) };
}

/** An inbox that a contact has a conversation in, and the external identifier it goes by there. */
export interface ContactInbox {
  contactId: number;
  sourceId: string | null;
  inbox: { id: number; name: string; channelType: string };
}

interface ContactInboxRow {
  contact_id: number;
  source_id: string | null;
  inbox_id: number;
  name: string;
  channel_type: string;
}

/** The inboxes of the named contacts, by their latest conversation there. */
export async function findContactInboxes(
  executor: Executor,
  accountId: number,
  contactIds: readonly number[],
): Promise<ContactInbox[]> {
  const rows = await sql<ContactInboxRow>(
    executor,
    `SELECT DISTINCT ON (c.contact_id, c.inbox_id) c.contact_id, c.source_id, c.inbox_id, i.name, i.channel_type
     FROM conversations c JOIN inboxes i ON i.account_id = c.account_id AND i.id = c.inbox_id
     WHERE c.account_id = $1 AND c.contact_id = ANY ($2) ORDER BY c.contact_id, c.inbox_id, c.id DESC`,
    [accountId, contactIds],
  );
  return rows.map((row) => ({
    contactId: row.contact_id,
    sourceId: row.source_id,
    inbox: { id: row.inbox_id, name: row.name, channelType: row.channel_type },
  }));
}

import type { Sql } from '../../postgres/sql.ts';
import { Contact } from '../../records/contacts/contact.ts';
import { forbidden } from '../../errors.ts';
import type { ChangedAttributes } from '../../events/catalog.ts';
import type { Actor, Transaction } from '../../events/transaction.ts';
import { visibleConversations } from '../conversations/access.ts';
import { merge } from '../changes.ts';
import {
  countRows,
  createRow,
  findRows,
  lockOne,
  readOne,
  save,
  uniqueOr422,
  update,
  type Page,
} from '../small-rows.ts';

export interface NewContact {
  name: string;
  email: string | null;
  phoneNumber: string | null;
  identifier: string | null;
  blocked: boolean;
  avatarUrl: string | null;
  customAttributes: Record<string, unknown>;
  /** Attributes from visitors, at most 8 KB. */
  visitorAttributes?: Record<string, unknown>;
  additionalAttributes: Record<string, unknown>;
}

/** Bytes of JSON that visitors may store, since their values are unverified. */
export const maxVisitorAttributes = 8192;

const refuseIdentifier = uniqueOr422(
  'contacts_identifier_unique',
  '/identifier',
  'Another contact of this account has this identifier',
);

/** Creates a contact. Says contact_created. Errors: 422 for an `identifier` in use. */
export async function createContact(tx: Transaction, input: NewContact): Promise<Contact> {
  const contact = await createRow(tx.sql, Contact, {
    ...input,
    visitorAttributes: mergeVisitor({}, input.visitorAttributes) ?? {},
    accountId: tx.account.id,
    createdAt: tx.now,
    updatedAt: tx.now,
  }).catch(refuseIdentifier);
  tx.record('contact_created', { contact, account: tx.account });
  return contact;
}

// Visitors send them as `custom_attributes`.
function mergeVisitor(current: Record<string, unknown>, added: Record<string, unknown> | undefined) {
  return merge('/custom_attributes', current, added, maxVisitorAttributes);
}

/** Changes of a contact; undefined leaves a field unchanged, attributes are merged key by key. */
export type ContactChanges = { [Field in keyof NewContact]: NewContact[Field] | undefined };

/**
 * Changes a contact. Says contact_updated when something changed. Errors: 404, 422 for an `identifier` in use and for
 * attributes that grow too large.
 */
export async function updateContact(tx: Transaction, id: number, changes: ContactChanges): Promise<Contact> {
  const contact = await lockOne(tx.sql, Contact, { id, accountId: tx.account.id });
  const { customAttributes, visitorAttributes, additionalAttributes } = contact;
  const values = {
    ...changes,
    customAttributes: merge('/custom_attributes', customAttributes, changes.customAttributes),
    visitorAttributes: mergeVisitor(visitorAttributes, changes.visitorAttributes),
    additionalAttributes: merge('/additional_attributes', additionalAttributes, changes.additionalAttributes),
  };
  const changed = update(contact, values, tx.now);
  if (!changed) return contact;
  await save(tx.sql, contact).catch(refuseIdentifier);
  sayUpdated(tx, contact, changed);
  return contact;
}

/** Blocks a contact. Says contact_updated unless it is blocked already. Errors: 404. */
export async function blockContact(tx: Transaction, id: number): Promise<void> {
  const contact = await lockOne(tx.sql, Contact, { id, accountId: tx.account.id });
  const changed = update(contact, { blocked: true }, tx.now);
  if (!changed) return;
  await save(tx.sql, contact);
  sayUpdated(tx, contact, changed);
}

/** Says contact_updated of a contact that was changed. */
export function sayUpdated(tx: Transaction, contact: Contact, changed: ChangedAttributes): void {
  // Events show a contact's picture as `thumbnail`.
  const { avatar_url: thumbnail, ...others } = changed;
  tx.record('contact_updated', {
    contact,
    account: tx.account,
    changed: thumbnail ? { ...others, thumbnail } : others,
  });
}

/** Returns the contact of the account. Errors: 404, 403 for a bot that serves none of its conversations. */
export async function readContact(sql: Sql, accountId: number, actor: Actor, id: number): Promise<Contact> {
  const contact = await readOne(sql, Contact, { id, accountId });
  if (actor.kind !== 'agent_bot') return contact;
  const served = await sql(
    `SELECT FROM conversations c WHERE c.account_id = $1 AND c.contact_id = $3 AND ${visibleConversations(actor)} LIMIT 1`,
    [accountId, actor.id, id],
  );
  if (served.length === 0) throw forbidden('This bot may not see the contact: it serves none of its conversations');
  return contact;
}

// Orders match an index of the column, read forwards or backwards.
const orders = {
  name: { column: 'lower(name)', ascending: 'ASC NULLS LAST', descending: 'DESC NULLS FIRST' },
  email: { column: 'lower(email)', ascending: 'ASC NULLS LAST', descending: 'DESC NULLS FIRST' },
  phone_number: { column: 'phone_number', ascending: 'ASC NULLS LAST', descending: 'DESC NULLS FIRST' },
  // The index groups moments coarsely: contacts of one group are sorted by their exact time.
  last_activity_at: {
    column: 'activity_order',
    ascending: 'ASC, last_activity_at ASC',
    descending: 'DESC, last_activity_at DESC',
  },
  created_at: { column: 'created_at', ascending: 'ASC', descending: 'DESC' },
} as const;

export type ContactSort = keyof typeof orders;

/** Contacts on one page: the contract's number. */
export const contactsPerPage = 15;

/** Returns the contacts with these ids, in their order. */
export async function findContacts(sql: Sql, accountId: number, ids: readonly number[]): Promise<Contact[]> {
  const found = await findRows(sql, Contact, { accountId, id: [...ids] });
  return found.sort((one, other) => ids.indexOf(one.id) - ids.indexOf(other.id));
}

/** Returns one page of the account's contacts, and their total number. */
export async function listContacts(
  sql: Sql,
  accountId: number,
  { page, sort, descending }: { page: number; sort: ContactSort; descending: boolean },
): Promise<Page<Contact>> {
  const { column, ...directions } = orders[sort];
  const found = await sql<{ id: number }>(
    `SELECT id FROM contacts WHERE account_id = $1
     ORDER BY ${column} ${descending ? directions.descending : directions.ascending}, id ${descending ? 'DESC' : 'ASC'}
     LIMIT $2 OFFSET $3`,
    [accountId, contactsPerPage, (page - 1) * contactsPerPage],
  );
  const rows = await findContacts(
    sql,
    accountId,
    found.map(({ id }) => id),
  );
  return { rows, count: await countRows(sql, Contact, { accountId }), page, perPage: contactsPerPage };
}

import { addContactInbox, findContactInboxes } from '../../../domain/contacts/contact-inboxes.ts';
import { deleteContact } from '../../../domain/contacts/erasure.ts';
import { refuseTakenAddresses } from '../../../domain/contacts/taken-addresses.ts';
import { createContactNote, listContactNotes, type ContactNote } from '../../../domain/contacts/notes.ts';
import {
  createContact,
  listContacts,
  readContact,
  updateContact,
  type ContactSort,
} from '../../../domain/contacts/contacts.ts';
import { filterContacts, searchContacts } from '../../../domain/contacts/search.ts';
import { conversationsPerPage, listConversations } from '../../../domain/conversations/finding/list.ts';
import type { Contact } from '../../../records/contacts/contact.ts';
import { contactRecord } from '../../../events/payloads.ts';
import { doors } from '../../../http/route/admission/doors.ts';
import type { Page } from '../../../domain/small-rows.ts';
import { Unchanged } from '../../../http/route/route.ts';
import { readConditions } from '../../conditions.ts';
import { pageMeta, presentPage } from '../../page.ts';
import { unixSeconds } from '../../../lib/unix-time.ts';
import type { Shape } from '../../../schemas.ts';
import { contactInboxRoutes, presentContactInbox } from './contact-inboxes.ts';
import { contactLabelRoutes } from './contact-labels.ts';
import { presentListed } from '../conversations/records.ts';

const base = '/api/v1/accounts/:account_id/contacts';
const times: ReadonlySet<ContactSort> = new Set(['last_activity_at', 'created_at']);

// Without a minus, times sort newest first and text ascending.
function readSort(sort: string): { sort: ContactSort; descending: boolean } {
  const field = sort.replace(/^-/, '') as ContactSort;
  return { sort: field, descending: times.has(field) !== sort.startsWith('-') };
}

function presentNote(note: ContactNote): Shape<'resources/contact-note'> {
  const { id, accountId, contactId, content, user, createdAt } = note;
  return { id, account_id: accountId, contact_id: contactId, content, user, created_at: unixSeconds(createdAt) };
}

function presentSingle(contact: Contact): Shape<'resources/single-contact'> {
  const record = contactRecord(contact);
  return { ...record, payload: record };
}

// A page of contacts; with the inboxes in which they are known where that is wished.
async function presentContacts(
  sql: Parameters<typeof findContactInboxes>[0],
  scope: Parameters<typeof findContactInboxes>[1],
  contacts: Page<Contact>,
  withInboxes = false,
): Promise<Shape<'resources/contact-list'>> {
  if (!withInboxes) return presentPage(contacts, contactRecord);
  const ids = contacts.rows.map(({ id }) => id);
  const inboxes = await findContactInboxes(sql, scope, ids);
  return presentPage(contacts, (contact) => ({
    ...contactRecord(contact),
    contact_inboxes: inboxes.filter(({ contactId }) => contactId === contact.id).map(presentContactInbox),
  }));
}

const searchRoute = doors.account(
  ['GET', `${base}/search`, 'Search contacts'],
  { query: 'requests/contact.search.query', reply: 'resources/contact-list', paged: true, role: 'agent' },
  async ({ sql, account, actor, query }) => {
    const { q, page = 1, include_contacts: withContacts = true, include_contact_inboxes: withInboxes } = query;
    const found = await searchContacts(sql, account.id, { text: q, page });
    if (!withContacts) return { payload: [], meta: pageMeta(found) };
    return presentContacts(sql, { accountId: account.id, actor }, found, withInboxes);
  },
);

const filterRoute = doors.account(
  ['POST', `${base}/filter`, 'Filter contacts'],
  {
    body: 'requests/contact.filter',
    query: 'requests/contact.filter.query',
    reply: 'resources/contact-list',
    role: 'agent',
    keyed: false,
  },
  async ({ sql, account, actor, body: { payload }, query: { page = 1, include_contact_inboxes: withInboxes } }) => {
    const found = await filterContacts(sql, account.id, { conditions: readConditions(payload), page });
    return presentContacts(sql, { accountId: account.id, actor }, found, withInboxes);
  },
);

const createRoute = doors.account(
  ['POST', base, 'Create a contact'],
  { body: 'requests/contact.create', largeBody: true, reply: 'resources/created-contact', role: 'agent', status: 201 },
  async ({ services, body, transact }) => {
    const { inbox_id: inboxId, source_id: sourceId = null } = body;
    const created = await transact(async (tx) => {
      if (body.unique_addresses) await refuseTakenAddresses(tx, body);
      const contact = await createContact(tx, {
        name: body.name,
        email: body.email ?? null,
        phoneNumber: body.phone_number ?? null,
        identifier: body.identifier ?? null,
        blocked: body.blocked ?? false,
        avatarUrl: body.avatar_url ?? null,
        customAttributes: body.custom_attributes ?? {},
        additionalAttributes: body.additional_attributes ?? {},
      });
      if (inboxId === undefined) return { contact, place: null };
      const made = services.random.uuid();
      return { contact, place: await addContactInbox(tx, { contactId: contact.id, inboxId, sourceId, made }) };
    });
    const contact = contactRecord(created.contact);
    const place = created.place ? { contact_inbox: presentContactInbox(created.place) } : {};
    return { ...contact, ...place, payload: { contact, ...place } };
  },
);

const updateRoute = doors.account(
  ['PATCH', `${base}/:id`, 'Update a contact'],
  { body: 'requests/contact.update', largeBody: true, reply: 'resources/single-contact', role: 'agent' },
  async ({ params, body, transact }) => {
    const changes = {
      name: body.name,
      email: body.email,
      phoneNumber: body.phone_number,
      identifier: body.identifier,
      blocked: body.blocked,
      avatarUrl: body.avatar_url,
      customAttributes: body.custom_attributes,
      additionalAttributes: body.additional_attributes,
    };
    return presentSingle(
      await transact(async (tx) => {
        if (body.unique_addresses) await refuseTakenAddresses(tx, body, params.id);
        return updateContact(tx, params.id, changes);
      }),
    );
  },
);

const conversationsRoute = doors.account(
  ['GET', `${base}/:id/conversations`, 'List the conversations of a contact'],
  { query: 'requests/page.query', reply: 'resources/conversation-page', paged: true, role: 'agent' },
  async ({ services, sql, account, actor, params, query: { page = 1 } }) => {
    const { id } = await readContact(sql, account.id, actor, params.id);
    const { conversations, count } = await listConversations(sql, account.id, actor, {
      status: null,
      assigneeType: 'all',
      labels: null,
      contactId: id,
      inboxId: null,
      teamId: null,
      text: null,
      sort: 'last_activity_at',
      ascending: false,
      page,
    });
    return {
      payload: conversations.map((listed) => presentListed(listed, services.fileLinks)),
      meta: pageMeta({ count, page, perPage: conversationsPerPage }),
    };
  },
);

const noteRoutes = [
  doors.account(
    ['GET', `${base}/:id/notes`, 'List the notes of a contact'],
    { query: 'requests/page.query', reply: 'resources/contact-note-list', paged: true, role: 'agent' },
    async ({ sql, account, actor, params, query: { page = 1 } }) => {
      const { id: contactId } = await readContact(sql, account.id, actor, params.id);
      return presentPage(await listContactNotes(sql, { accountId: account.id, contactId }, page), presentNote);
    },
  ),
  doors.account(
    ['POST', `${base}/:id/notes`, 'Create a note of a contact'],
    {
      body: 'requests/contact-note.create',
      largeBody: true,
      reply: 'resources/contact-note',
      role: 'agent',
      status: 201,
    },
    async ({ params, body, transact }) =>
      presentNote(await transact((tx) => createContactNote(tx, params.id, body.content))),
  ),
];

export const contactRoutes = [
  doors.account(
    ['GET', base, 'List contacts'],
    { query: 'requests/contact.list.query', reply: 'resources/contact-list', paged: true, role: 'agent' },
    async ({ sql, account, actor, query }) => {
      const { page = 1, sort = 'name', include_contact_inboxes: withInboxes } = query;
      const contacts = await listContacts(sql, account.id, { page, ...readSort(sort) });
      return presentContacts(sql, { accountId: account.id, actor }, contacts, withInboxes);
    },
  ),
  searchRoute,
  filterRoute,
  doors.account(
    ['GET', `${base}/:id`, 'Get a contact'],
    { reply: 'resources/single-contact', record: true, role: 'bot' },
    async ({ sql, account, actor, params }) => presentSingle(await readContact(sql, account.id, actor, params.id)),
  ),
  createRoute,
  updateRoute,
  doors.account(
    ['DELETE', `${base}/:id`, 'Delete a contact'],
    {
      reply: 'resources/contact-deletion',
      role: 'administrator',
      status: 202,
      unchanged: true,
      inBatches: true,
      description:
        'Answers 200 when all is deleted: at once, with up to 1,000 conversations. Of a larger contact the rest is deleted in the background; the answer is then 202 with the progress, and so is a repeated request until the contact is gone (404).',
    },
    async ({ params, transact }) => {
      const progress = await deleteContact(transact, params.id);
      if (!progress) return new Unchanged({});
      return {
        deletion_requested_at: unixSeconds(progress.requestedAt),
        conversations_left: progress.conversationsLeft,
      };
    },
  ),
  conversationsRoute,
  ...noteRoutes,
  ...contactLabelRoutes,
  ...contactInboxRoutes,
];

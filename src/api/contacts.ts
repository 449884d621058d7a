import {
  createContact,
  findContactInboxes,
  listContacts,
  readContact,
  type ContactInbox,
  type ContactSort,
} from '../domain/contacts.ts';
import { contactRecord } from '../events/payloads.ts';
import { route } from '../http/route.ts';
import { pageMeta } from '../lib/page.ts';
import { contactsPerPage } from '../domain/contacts.ts';

const base = '/api/v1/accounts/:account_id/contacts';
const times: ReadonlySet<ContactSort> = new Set(['last_activity_at', 'created_at']);

// Times come newest first and text in its own order; a minus turns either round.
function readSort(sort: string): { sort: ContactSort; descending: boolean } {
  const field = sort.replace(/^-/, '') as ContactSort;
  return { sort: field, descending: times.has(field) !== sort.startsWith('-') };
}

function presentInbox({ sourceId, inbox }: ContactInbox) {
  return { source_id: sourceId, inbox: { id: inbox.id, name: inbox.name, channel_type: inbox.channelType } };
}

export const contactRoutes = [
  route(
    ['GET', base],
    { query: 'requests/contact.list.query', reply: 'resources/contact-list', role: 'agent' },
    async ({ em, account, query }) => {
      const { page = 1, sort = 'name', include_contact_inboxes: withInboxes } = query;
      const { contacts, count } = await listContacts(em, account.id, { page, ...readSort(sort) });
      const meta = pageMeta(count, page, contactsPerPage);
      if (!withInboxes) return { payload: contacts.map(contactRecord), meta };
      const inboxes = await findContactInboxes(em, account.id, contacts.map(({ id }) => id));
      const payload = contacts.map((contact) => ({
        ...contactRecord(contact),
        contact_inboxes: inboxes.filter(({ contactId }) => contactId === contact.id).map(presentInbox),
      }));
      return { payload, meta };
    },
  ),
  route(['GET', `${base}/:id`], { reply: 'resources/contact', role: 'agent' }, async ({ em, account, ids }) =>
    contactRecord(await readContact(em, account.id, ids.id ?? 0)),
  ),
  route(
    ['POST', base],
    { body: 'requests/contact.create', reply: 'resources/contact', role: 'agent', status: 201 },
    async ({ body, transact }) => {
      const contact = await transact((tx) =>
        createContact(tx, {
          name: body.name,
          email: body.email ?? null,
          phoneNumber: body.phone_number ?? null,
          identifier: body.identifier ?? null,
          blocked: body.blocked ?? false,
          customAttributes: body.custom_attributes ?? {},
          additionalAttributes: body.additional_attributes ?? {},
        }),
      );
      return contactRecord(contact);
    },
  ),
];

import {
  addContactInbox,
  findContactable,
  listContactInboxes,
  type ContactInbox,
} from '../../../domain/contacts/contact-inboxes.ts';
import { readContact } from '../../../domain/contacts/contacts.ts';
import { doors } from '../../../http/route/admission/doors.ts';
import { Unchanged } from '../../../http/route/route.ts';
import type { Shape } from '../../../schemas.ts';
import { presentWhole } from '../../page.ts';

const base = '/api/v1/accounts/:account_id/contacts/:id';

/** An inbox of a contact in REST answers. */
export function presentContactInbox({ sourceId, inbox }: ContactInbox): Shape<'resources/contact-inbox'> {
  const { id, name, channelType, avatarUrl } = inbox;
  return { source_id: sourceId, inbox: { id, name, channel_type: channelType, avatar_url: avatarUrl } };
}

/** In which inboxes a contact is known, and can be. */
export const contactInboxRoutes = [
  doors.account(
    ['GET', `${base}/contact_inboxes`, 'List the inboxes in which a contact is known'],
    {
      reply: 'resources/contact-inbox-list',
      role: 'agent',
      description: 'By all its external identifiers, the newest first.',
    },
    async ({ sql, account, actor, params }) => {
      const { id } = await readContact(sql, account.id, actor, params.id);
      const found = await listContactInboxes(sql, { accountId: account.id, actor }, id);
      return presentWhole(found, presentContactInbox);
    },
  ),
  doors.account(
    ['POST', `${base}/contact_inboxes`, 'Have a contact be known in an inbox'],
    {
      body: 'requests/contact-inbox.create',
      reply: 'resources/contact-inbox',
      role: 'agent',
      status: 201,
      unchanged: true,
    },
    async ({ services, params, body, transact }) => {
      const source = { contactId: params.id, inboxId: body.inbox_id, sourceId: body.source_id ?? null };
      const made = services.random.uuid();
      const added = await transact((tx) => addContactInbox(tx, { ...source, made }));
      const record = presentContactInbox(added);
      return added.isNew ? record : new Unchanged(record);
    },
  ),
  doors.account(
    ['GET', `${base}/contactable_inboxes`, 'List the inboxes in which a conversation with a contact can begin'],
    {
      reply: 'resources/contact-inbox-list',
      role: 'agent',
      description:
        'Those that the caller may see: where the contact is known, where its e-mail address or phone number reaches it, and inboxes of the API (`source_id` null: one is made with the conversation).',
    },
    async ({ sql, account, actor, params }) => {
      const { id } = await readContact(sql, account.id, actor, params.id);
      const found = await findContactable(sql, { accountId: account.id, actor }, id);
      return presentWhole(found, presentContactInbox);
    },
  ),
];

import { mergeContacts } from '../../../domain/contacts/merge.ts';
import { contactRecord } from '../../../events/payloads.ts';
import { doors } from '../../../http/route/admission/doors.ts';

export const mergeRoutes = [
  doors.account(
    ['POST', '/api/v1/accounts/:account_id/actions/contact_merge', 'Merge two contacts'],
    {
      body: 'requests/contact.merge',
      reply: 'resources/contact',
      role: 'agent',
      description:
        'Conversations, notes, inboxes, sessions and what bots stored become those of the base contact, which keeps its values and takes over those that it lacks; a block of either holds. Whoever has a session or a `source_id` of the other contact is the base contact from then on, and sees its conversations in that inbox. Up to 1,000 conversations.',
    },
    async ({ body: { base_contact_id: baseId, mergee_contact_id: otherId }, transact }) =>
      contactRecord(await transact((tx) => mergeContacts(tx, { baseId, otherId }))),
  ),
];

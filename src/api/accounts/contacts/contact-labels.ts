import { readContact } from '../../../domain/contacts/contacts.ts';
import { findContactLabels, setContactLabels } from '../../../domain/contacts/labels.ts';
import { doors } from '../../../http/route/admission/doors.ts';

const base = '/api/v1/accounts/:account_id/contacts/:id/labels';

export const contactLabelRoutes = [
  doors.account(
    ['GET', base, 'List the labels of a contact'],
    { reply: 'resources/contact-labels', role: 'agent' },
    async ({ sql, account, actor, params }) => {
      const { id } = await readContact(sql, account.id, actor, params.id);
      return { payload: await findContactLabels(sql, account.id, id) };
    },
  ),
  doors.account(
    ['POST', base, 'Set the labels of a contact'],
    { body: 'requests/contact.set-labels', reply: 'resources/contact-labels', role: 'agent' },
    async ({ params, body, transact }) => ({
      payload: await transact((tx) =>
        setContactLabels(tx, params.id, { titles: body.labels, make: body.create_missing }),
      ),
    }),
  ),
];

import type { Section } from '../../page-row.ts';
import { ContactPage } from './contact.tsx';
import { ContactsPage } from './contacts.tsx';
import { NewContactPage } from './new-contact.tsx';

export const contacts: Section = {
  title: 'Contacts',
  rows: [
    { path: '/console/contacts', nav: 'Contacts', view: ContactsPage },
    { path: '/console/contacts/new', view: NewContactPage },
    { path: '/console/contacts/:id', view: ContactPage },
  ],
};

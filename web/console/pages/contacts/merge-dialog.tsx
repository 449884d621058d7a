import { useState } from 'preact/hooks';
import type { Reply } from '../../../shared/call.ts';
import { Action } from '../../kit/action.tsx';
import { Dialog } from '../../kit/dialog.tsx';
import { Form, TextField } from '../../kit/form.tsx';
import { call } from '../../session.ts';
import { nameOf } from '../conversations/words.tsx';
import type { ContactDialog } from './contact.tsx';

type Found = Reply<'GET contacts/search'>['payload'];

/** Looks for another record of the same person, which the contact takes over. */
export function MergeDialog({ contact, changed, close }: ContactDialog) {
  const [typed, setTyped] = useState('');
  const [found, setFound] = useState<Found | null>(null);
  async function search(): Promise<void> {
    const { payload } = await call('GET contacts/search', { query: { q: typed.trim() } });
    setFound(payload.filter(({ id }) => id !== contact.id));
  }
  async function merge(other: number): Promise<void> {
    await call('POST actions/contact_merge', { body: { base_contact_id: contact.id, mergee_contact_id: other } });
    await changed();
    close();
  }
  return (
    <Dialog title={`Merge into ${nameOf(contact)}`} onClose={close}>
      <p>The other contact is deleted. Its conversations, notes and missing fields move to this one.</p>
      <Form submit="Search" send={search} isScratch>
        {(problemOf) => (
          <TextField label="Other contact" type="search" value={typed} onChange={setTyped} problem={problemOf('q')} />
        )}
      </Form>
      {found?.length === 0 && <p role="status">No other contact matches.</p>}
      <ul>
        {found?.map((other) => (
          <li key={other.id}>
            {nameOf(other)} {[other.email, other.phone_number].filter(Boolean).join(' · ')}{' '}
            <Action
              kind="danger"
              label={`Merge ${nameOf(other)}`}
              question={`Merge ${nameOf(other)} into ${nameOf(contact)}? This cannot be undone.`}
              done="Contacts merged."
              act={() => merge(other.id)}
            >
              Merge
            </Action>
          </li>
        ))}
      </ul>
    </Dialog>
  );
}

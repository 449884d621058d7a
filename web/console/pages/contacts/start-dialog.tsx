import { useState } from 'preact/hooks';
import { Dialog } from '../../kit/dialog.tsx';
import { ChoiceField, Form, TextField } from '../../kit/form.tsx';
import { Show, useLoad } from '../../kit/load.tsx';
import { go } from '../../router.ts';
import { call } from '../../session.ts';
import { nameOf } from '../conversations/words.tsx';
import type { ContactDialog } from './contact.tsx';

interface Reachable {
  id: number;
  name: string;
  sourceId: string | null;
}

/** Starts a conversation with a contact by a first message. */
export function StartDialog({ contact, close }: ContactDialog) {
  const inboxes = useLoad((signal) => readReachable(contact.id, signal), [contact.id]);
  return (
    <Dialog title={`Write to ${nameOf(contact)}`} onClose={close}>
      <Show of={inboxes}>
        {(found) =>
          found.length === 0 ? (
            <p>No inbox reaches this contact yet. Add an email address or a phone number first.</p>
          ) : (
            <FirstMessage contactId={contact.id} inboxes={found} />
          )
        }
      </Show>
    </Dialog>
  );
}

async function readReachable(id: number, signal: AbortSignal): Promise<Reachable[]> {
  const { payload } = await call('GET contacts/:id/contactable_inboxes', { id, signal });
  return payload.map(({ inbox, source_id: sourceId }) => ({ id: inbox.id, name: inbox.name, sourceId }));
}

function FirstMessage({ contactId, inboxes }: { contactId: number; inboxes: readonly Reachable[] }) {
  const [inboxId, setInbox] = useState(String(inboxes[0]?.id ?? ''));
  const [content, setContent] = useState('');
  async function start(): Promise<void> {
    const inbox = inboxes.find(({ id }) => String(id) === inboxId);
    if (!inbox) return;
    const { id } = await call('POST conversations', {
      body: {
        inbox_id: inbox.id,
        contact_id: contactId,
        ...(inbox.sourceId === null ? {} : { source_id: inbox.sourceId }),
        message: { content },
      },
    });
    go(`/console/conversations/${id}`);
  }
  return (
    <Form submit="Send" send={start}>
      {(problemOf) => (
        <>
          <ChoiceField
            label="Inbox"
            value={inboxId}
            onChange={setInbox}
            problem={problemOf('inbox_id')}
            options={inboxes.map(({ id, name }) => [String(id), name] as const)}
          />
          <TextField
            label="Message"
            required
            rows={5}
            value={content}
            onChange={setContent}
            problem={problemOf('message/content')}
          />
        </>
      )}
    </Form>
  );
}

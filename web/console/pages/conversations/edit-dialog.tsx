import { useState } from 'preact/hooks';
import { tagOf } from '../../../shared/call.ts';
import { ServiceError } from '../../../shared/service-error.ts';
import { Dialog } from '../../kit/dialog.tsx';
import { Form, TextField } from '../../kit/form.tsx';
import { Show, useLoad } from '../../kit/load.tsx';
import { call } from '../../session.ts';
import type { Message } from './transcript.ts';

interface Props {
  message: Message;
  /** Gets the message as it is then. */
  changed: (message: Message) => void;
  close: () => void;
}

/** Changes the text of a message as it is when the dialog opens. What somebody else writes meanwhile is not overwritten unseen. */
export function EditDialog({ message, changed, close }: Props) {
  const read = useLoad((signal) => readAgain(message, signal), [message.id]);
  return (
    <Dialog title="Edit message" onClose={close}>
      {isDeleted(message) && (
        <p class="note error" role="alert">
          The message was deleted in the meantime. Your changes can no longer be saved.
        </p>
      )}
      <Show of={read}>{(present) => <EditForm message={present} changed={changed} close={close} />}</Show>
    </Dialog>
  );
}

function EditForm({ message, changed, close }: Props) {
  const [content, setContent] = useState(message.content);
  /** The message that the text in the field takes the place of. */
  const [replaced, setReplaced] = useState(message);
  async function send(): Promise<void> {
    const outcome = await save(replaced, content);
    changed(outcome.message);
    if (outcome.isSaved) return close();
    setReplaced(outcome.message);
    throw new Error('Not saved: someone else changed the message. Save again to overwrite their version.');
  }
  return (
    <Form submit="Save" send={send}>
      {(problemOf) => (
        <>
          {replaced !== message && (
            <div class="note" role="group" aria-label="Current version">
              {' '}
              <p>Current version:</p>
              <p class="text" dir="auto">
                {replaced.content}
              </p>
            </div>
          )}
          <TextField
            label="Text"
            hint={message.private ? 'Visible to your team only.' : 'The customer sees the edited text.'}
            rows={5}
            value={content}
            onChange={setContent}
            problem={problemOf('content')}
          />
        </>
      )}
    </Form>
  );
}

/** Not saved: the message as somebody else has written it. */
interface Outcome {
  isSaved: boolean;
  message: Message;
}

/** A proxy that writes tags of its own has none of them match: then the text that was just read again decides. */
const tagTries = 3;

async function save(read: Message, content: string, tries = tagTries): Promise<Outcome> {
  try {
    const sent = { ...placeOf(read), body: { content }, match: tries > 0 ? tagOf(read) : undefined };
    return { isSaved: true, message: await call('PATCH conversations/:conversation_id/messages/:message_id', sent) };
  } catch (error) {
    if (!(error instanceof ServiceError && error.status === 412)) throw error;
    const present = await readAgain(read);
    // A receipt has changed its state, and nobody its text; of what is deleted the service says why it cannot be changed.
    if (present.content === read.content || isDeleted(present)) return save(present, content, tries - 1);
    // It may have been saved by a try whose answer was lost.
    return { isSaved: present.content === content, message: present };
  }
}

function readAgain(message: Message, signal?: AbortSignal): Promise<Message> {
  const asked = { ...placeOf(message), ...(signal ? { signal } : {}) };
  return call('GET conversations/:conversation_id/messages/:message_id', asked);
}

function placeOf({ id, conversation_id: conversationId }: Message): { conversation_id: number; message_id: number } {
  return { conversation_id: conversationId, message_id: id };
}

function isDeleted({ content_attributes: attributes }: Message): boolean {
  return attributes['deleted'] === true;
}

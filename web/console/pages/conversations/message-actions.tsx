import { useState } from 'preact/hooks';
import { Action } from '../../kit/action.tsx';
import { EditDialog } from './edit-dialog.tsx';
import { call, currentAccount, isAdministrator } from '../../session.ts';
import type { Message } from './transcript.ts';

interface Props {
  message: Message;
  /** Gets the message as it is then. */
  changed: (message: Message) => void;
}

/** Edit and delete of a message. Agents edit their own messages, administrators all. */
export function MessageActions({ message, changed }: Props) {
  const [isEdited, setEdited] = useState(false);
  const { id, conversation_id: conversationId, content_attributes: attributes, private: isNote } = message;
  const isDeleted = attributes['deleted'] === true;
  // A person who is editing when somebody else deletes the message keeps their text.
  if (isDeleted && !isEdited) return null;
  async function remove(): Promise<void> {
    await call('DELETE conversations/:conversation_id/messages/:message_id', {
      conversation_id: conversationId,
      message_id: id,
    });
    changed({ ...message, content: '', content_attributes: { deleted: true }, attachments: [] });
  }
  return (
    <span class="message-actions">
      {!isDeleted && mayEdit(message) && (
        <button type="button" class="quiet" aria-label={`Edit message ${id}`} onClick={() => setEdited(true)}>
          Edit
        </button>
      )}
      {!isDeleted && (
        <Action
          kind="quiet"
          label={`Delete message ${id}`}
          question={`${isNote ? 'Your team sees' : 'Your team and the customer see'} “Message deleted” instead. Attached files are deleted too. This cannot be undone.`}
          done="Message deleted."
          act={remove}
        >
          Delete
        </Action>
      )}
      {isEdited && <EditDialog message={message} changed={changed} close={() => setEdited(false)} />}
    </span>
  );
}

function mayEdit({ sender }: Message): boolean {
  return isAdministrator() || (sender?.type === 'User' && sender.id === currentAccount()?.agent_id);
}

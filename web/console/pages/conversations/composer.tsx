import { useEffect, useRef, useState } from 'preact/hooks';
import { sentenceOf } from '../../../shared/service-error.ts';
import { useStore } from '../../../shared/store.ts';
import { confirm } from '../../kit/dialog.tsx';
import { Form } from '../../kit/form.tsx';
import { toast } from '../../kit/toast.tsx';
import { call } from '../../session.ts';
import type { Uploaded } from '../../upload.ts';
import { draftOf, type Sent } from './drafts.ts';
import { ChosenFiles, FilesField, Uploading } from './files-field.tsx';
import { MessageField } from './message-field.tsx';
import { unfilledIn } from './message-variables.ts';
import { sendFiles } from './send-files.ts';
import type { Message } from './transcript.ts';
import type { Conversation } from './words.tsx';

const kinds = [
  ['reply', 'Reply', 'Visible to the customer.'],
  ['note', 'Note', 'Visible to your team only.'],
] as const;

interface Props {
  conversation: Conversation;
  sent: (message: Message) => void;
}

/** The field for a reply to the customer, or for a private note, with files or without. */
export function Composer({ conversation, sent }: Props) {
  const { id: conversationId } = conversation;
  const [draft] = useState(() => draftOf(conversationId));
  const { kind, content, files, since, uploading } = useStore(draft.state);
  const isShown = useRef(true);
  useEffect(() => () => void (isShown.current = false), []);
  const send = (): Promise<void> =>
    draft
      .send(async (given) => sent(await (given.files.length === 0 ? post(given) : upload(given))))
      .catch((error: unknown) => {
        if (!isShown.current) toast(`Message not sent. Your draft is kept. ${sentenceOf(error)}`, 'error');
        throw error;
      });
  function post({ kind: sentKind, content: sentContent, key }: Sent): Promise<Message> {
    const body = { content: sentContent, message_type: 'outgoing' as const, private: sentKind === 'note' };
    return call('POST conversations/:conversation_id/messages', { conversation_id: conversationId, body, key });
  }
  function upload({ kind: sentKind, ...given }: Sent): Promise<Message> {
    const cancelling = new AbortController();
    const cancel = (): void => cancelling.abort();
    const progressed = (uploaded: Uploaded): void => draft.change({ uploading: { uploaded, cancel } });
    const message = { conversationId, isPrivate: sentKind === 'note', ...given };
    return sendFiles(message, { progressed, signal: cancelling.signal });
  }
  const add = (chosen: readonly File[]): void => draft.change({ files: [...draft.state.value.files, ...chosen] });
  const unfilled = unfilledIn(content);
  const mayBeSent = (): boolean | Promise<boolean> =>
    unfilled.length === 0 || confirm(`The message is sent with ${unfilled.join(', ')} as written.`);
  const [, label, hint] = kinds.find(([one]) => one === kind) ?? kinds[0];
  return (
    <div class={`panel composer for-${kind}`}>
      <div class="actions" role="group" aria-label="Message type">
        {kinds.map(([one, text]) => (
          <button key={one} type="button" aria-pressed={kind === one} onClick={() => draft.change({ kind: one })}>
            {text}
          </button>
        ))}
      </div>
      <Form submit="Send" send={send} since={since} mayBeSent={mayBeSent} isScratch>
        {(problemOf) => (
          <div onKeyDown={sendByKey} onPaste={(event) => addPasted(event, add)}>
            <MessageField
              conversation={conversation}
              label={label}
              hint={since === null ? `${hint} Type / for canned responses. Ctrl+Enter sends.` : 'Sending…'}
              value={content}
              onChange={(now) => draft.change({ content: now })}
              problem={problemOf('content') ?? problemOfVariables(unfilled)}
            />
            <FilesField add={add} problem={problemOf('attachments') ?? problemOf('attachments[]')} />
            <ChosenFiles
              files={files}
              remove={(file) => draft.change({ files: draft.state.value.files.filter((one) => one !== file) })}
            />
            {uploading && <Uploading {...uploading} />}
          </div>
        )}
      </Form>
    </div>
  );
}

function problemOfVariables(unfilled: readonly string[]): string | undefined {
  return unfilled.length === 0 ? undefined : `No value for ${unfilled.join(', ')}. Replace it before you send.`;
}

function addPasted(event: ClipboardEvent, add: (files: readonly File[]) => void): void {
  const files = [...(event.clipboardData?.files ?? [])];
  if (files.length === 0) return;
  event.preventDefault();
  add(files);
}

function sendByKey(event: KeyboardEvent): void {
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || !(event.target instanceof HTMLTextAreaElement))
    return;
  event.preventDefault();
  event.target.form?.requestSubmit();
}

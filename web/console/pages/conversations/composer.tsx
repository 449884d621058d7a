import { useEffect, useRef, useState } from 'preact/hooks';
import { SameTry } from '../../../shared/same-try.ts';
import { Form, TextField } from '../../kit/form.tsx';
import { call } from '../../session.ts';
import type { Uploaded } from '../../upload.ts';
import { draftOf, keepDraft } from './drafts.ts';
import { ChosenFiles, FilesField, Uploading } from './files-field.tsx';
import { sendFiles } from './send-files.ts';
import type { Message } from './transcript.ts';

const kinds = [
  ['reply', 'Reply', 'The customer reads it.'],
  ['note', 'Note', 'Only the people of your team read it.'],
] as const;
type Kind = (typeof kinds)[number][0];

/** The field for a reply to the customer, or for a private note, with files or without. */
export function Composer({ conversationId, sent }: { conversationId: number; sent: (message: Message) => void }) {
  const [atFirst] = useState(() => draftOf(conversationId));
  const [kind, setKind] = useState<Kind>(atFirst.kind);
  const [content, setContent] = useState(atFirst.content);
  const [files, setFiles] = useState(atFirst.files);
  useEffect(() => keepDraft(conversationId, { kind, content, files }), [conversationId, kind, content, files]);
  const [uploading, setUploading] = useState<{ uploaded: Uploaded; cancel: () => void } | null>(null);
  // Whoever gets no answer sends the same again: with the same key the service takes it once.
  const [tries] = useState(() => new SameTry());
  const isSending = useRef(false);
  async function send(): Promise<void> {
    if (isSending.current) return;
    isSending.current = true;
    try {
      sent(await (files.length === 0 ? post() : upload()));
      tries.answered();
      setContent((now) => (now === content ? '' : now));
      setFiles((now) => now.filter((file) => !files.includes(file)));
    } finally {
      isSending.current = false;
      setUploading(null);
    }
  }
  const isPrivate = kind === 'note';
  const key = (): string => tries.keyOf(kind, content, ...files);
  function post(): Promise<Message> {
    const body = { content, message_type: 'outgoing' as const, private: isPrivate };
    const sending = { conversation_id: conversationId, body, key: key() };
    return call('POST conversations/:conversation_id/messages', sending);
  }
  function upload(): Promise<Message> {
    const cancelling = new AbortController();
    const progressed = (uploaded: Uploaded): void => setUploading({ uploaded, cancel: () => cancelling.abort() });
    const message = { conversationId, content, isPrivate, files, key: key() };
    return sendFiles(message, { progressed, signal: cancelling.signal });
  }
  const add = (chosen: readonly File[]): void => setFiles((now) => [...now, ...chosen]);
  const [, label, hint] = kinds.find(([one]) => one === kind) ?? kinds[0];
  return (
    <div class={`panel composer for-${kind}`}>
      <div class="actions" role="group" aria-label="Who reads it">
        {kinds.map(([one, text]) => (
          <button key={one} type="button" aria-pressed={kind === one} onClick={() => setKind(one)}>
            {text}
          </button>
        ))}
      </div>
      <Form submit="Send" send={send}>
        {(problemOf) => (
          <div onKeyDown={sendByKey} onPaste={(event) => addPasted(event, add)}>
            <TextField
              label={label}
              hint={`${hint} Ctrl and Enter sends it.`}
              rows={3}
              value={content}
              onChange={setContent}
              problem={problemOf('content')}
            />
            <FilesField add={add} problem={problemOf('attachments') ?? problemOf('attachments[]')} />
            <ChosenFiles files={files} remove={(file) => setFiles((now) => now.filter((one) => one !== file))} />
            {uploading && <Uploading {...uploading} />}
          </div>
        )}
      </Form>
    </div>
  );
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

import { useRef, useState } from 'preact/hooks';
import { Form, TextField } from '../../kit/form.tsx';
import { call } from '../../session.ts';
import type { Message } from './transcript.ts';

const kinds = [
  ['reply', 'Reply', 'The customer reads it.'],
  ['note', 'Note', 'Only the people of your team read it.'],
] as const;
type Kind = (typeof kinds)[number][0];

interface Sent {
  kind: Kind;
  content: string;
  key: string;
}

/** The field for a reply to the customer, or for a private note. */
export function Composer({ conversationId, sent }: { conversationId: number; sent: (message: Message) => void }) {
  const [kind, setKind] = useState<Kind>('reply');
  const [content, setContent] = useState('');
  const last = useRef<Sent | null>(null);
  const isSending = useRef(false);
  async function send(): Promise<void> {
    if (isSending.current) return;
    isSending.current = true;
    try {
      sent(await post(conversationId, sameOrNew(last, { kind, content })));
      last.current = null;
      setContent((now) => (now === content ? '' : now));
    } finally {
      isSending.current = false;
    }
  }
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
          <div onKeyDown={sendByKey}>
            <TextField
              label={label}
              hint={`${hint} Ctrl and Enter sends it.`}
              rows={3}
              value={content}
              onChange={setContent}
              problem={problemOf('content')}
            />
          </div>
        )}
      </Form>
    </div>
  );
}

function post(conversationId: number, { kind, content, key }: Sent): Promise<Message> {
  const body = { content, message_type: 'outgoing' as const, private: kind === 'note' };
  return call('POST conversations/:conversation_id/messages', { conversation_id: conversationId, body, key });
}

// Whoever gets no answer sends the same again: with the same key the service takes it once.
function sameOrNew(last: { current: Sent | null }, { kind, content }: Omit<Sent, 'key'>): Sent {
  if (last.current?.kind !== kind || last.current.content !== content) last.current = { kind, content, key: newKey() };
  return last.current;
}

// crypto.randomUUID is for pages of https alone.
function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

function sendByKey(event: KeyboardEvent): void {
  if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey) || !(event.target instanceof HTMLTextAreaElement))
    return;
  event.preventDefault();
  event.target.form?.requestSubmit();
}

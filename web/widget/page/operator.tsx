import { useEffect, useState } from 'preact/hooks';
import { SameTry } from '../../shared/same-try.ts';
import { sentenceOf } from '../../shared/service-error.ts';
import type { Chat } from '../chat.ts';
import type { Member } from './member.ts';
import { readReceiver, setReceiver } from './receiver.ts';

const snoozeSeconds = 10;

interface OperatorProps {
  member: Member;
  chat: Chat;
}

/** Actions of a member on the conversation and the demo receiver. */
export function Operator({ member, chat }: OperatorProps) {
  const { call, agentId, name, isAdministrator } = member;
  const id = chat.conversation?.id;
  const [refused, setRefused] = useState<{ id: number | undefined; sentence: string } | null>(null);
  const attempt = (work: () => Promise<unknown>) => () => {
    setRefused(null);
    work().catch((error: unknown) => setRefused({ id, sentence: sentenceOf(error) }));
  };
  const onConversation = (work: (id: number) => Promise<unknown>) => ({
    disabled: id === undefined,
    onClick: attempt(async () => {
      if (id !== undefined) await work(id);
    }),
  });
  const setStatus = (status: 'resolved' | 'pending') => (of: number) =>
    call('POST conversations/:id/toggle_status', { id: of, body: { status } });
  const assign = (assignee: number | null) => (of: number) =>
    call('POST conversations/:id/assignments', { id: of, body: { assignee_id: assignee } });
  const snooze = (of: number) => {
    const until = Math.ceil(Date.now() / 1000) + snoozeSeconds;
    return call('POST conversations/:id/toggle_status', { id: of, body: { status: 'snoozed', snoozed_until: until } });
  };
  const isMine = chat.conversation?.assignee !== null && id !== undefined;
  return (
    <>
      <h2>Agent: {name}</h2>
      <div class="buttons">
        <button type="button" onClick={attempt(() => chat.leave())}>
          New contact
        </button>
        <button type="button" {...onConversation(assign(agentId))}>
          Take over
        </button>
        {isMine && (
          <button
            type="button"
            {...onConversation(async (of) => [await assign(null)(of), await setStatus('pending')(of)])}
          >
            Resume bot
          </button>
        )}
        <button type="button" title={`For ${snoozeSeconds} seconds`} {...onConversation(snooze)}>
          Snooze
        </button>
        <button type="button" {...onConversation(setStatus('resolved'))}>
          Resolve
        </button>
        {isAdministrator && <ReceiverSwitch call={call} attempt={attempt} />}
      </div>
      {refused?.id === id && <p role="alert">{refused?.sentence}</p>}
      {id !== undefined && <ReplyForm key={id} member={member} conversationId={id} attempt={attempt} />}
    </>
  );
}

type Attempt = (work: () => Promise<unknown>) => () => void;

function ReplyForm({ member, conversationId, attempt }: { member: Member; conversationId: number; attempt: Attempt }) {
  const [content, setContent] = useState('');
  const [isBusy, setBusy] = useState(false);
  const [tries] = useState(() => new SameTry());
  const send = attempt(async () => {
    if (content.trim() === '' || isBusy) return;
    setBusy(true);
    try {
      const body = { content, message_type: 'outgoing' as const };
      const sent = { conversation_id: conversationId, body, key: tries.keyOf(conversationId, content) };
      await member.call('POST conversations/:conversation_id/messages', sent);
      tries.answered();
      setContent((now) => (now === content ? '' : now));
    } finally {
      setBusy(false);
    }
  });
  return (
    <form
      class="reply"
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      <label>
        Reply to the customer
        <input value={content} onInput={({ currentTarget }) => setContent(currentTarget.value)} />
      </label>
      <button disabled={isBusy}>Reply</button>
    </form>
  );
}

// There is a receiver with the demonstration's data only.
function ReceiverSwitch({ call, attempt }: { call: Member['call']; attempt: Attempt }) {
  const [mode, setMode] = useState<string | null>(null);
  useEffect(() => {
    readReceiver(call).then(setMode, () => setMode(null));
  }, [call]);
  if (mode === null) return null;
  const isFailing = mode === 'fail';
  const change = attempt(async () => setMode(await setReceiver(isFailing ? 'ok' : 'fail')));
  return (
    <button type="button" onClick={change}>
      {isFailing ? 'Stop failing deliveries' : 'Fail deliveries'}
    </button>
  );
}

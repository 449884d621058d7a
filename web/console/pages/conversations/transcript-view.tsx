import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Attached } from '../../../shared/attached.tsx';
import { useStore } from '../../../shared/store.ts';
import type { TraceReader, TraceState } from '../../../shared/trace/trace.ts';
import { Action } from '../../kit/action.tsx';
import { Time } from '../../kit/time.tsx';
import { Lane } from './lane.tsx';
import { RichContent } from './rich-content.tsx';
import { MessageActions } from './message-actions.tsx';
import type { Message, Transcript } from './transcript.ts';

interface Props {
  transcript: Transcript;
  traced: TraceState;
  reader: TraceReader;
}

/** Messages, oldest first, each message of the customer beside its trace. */
export function TranscriptView({ transcript, traced, reader }: Props) {
  const { messages, hasEarlier, isLoading, error } = useStore(transcript.state);
  const log = useRef<HTMLDivElement>(null);
  useEndInView(log);
  return (
    <>
      {error !== null && (
        <p class="note error" role="alert">
          {error}
        </p>
      )}
      <div ref={log} class="log" role="log" aria-label="Messages" tabIndex={0}>
        {hasEarlier && <Action act={() => transcript.readEarlier()}>Earlier messages</Action>}
        {isLoading && <p class="waiting" role="status" aria-label="Loading messages" />}
        {!isLoading && error === null && messages.length === 0 && (
          <p class="empty">No messages yet. Write the first one below.</p>
        )}
        {messages.map((message) => (
          <div key={message.id} class="turn">
            <Said message={message} messages={messages} changed={(now) => transcript.add(now)} />
            {message.message_type === 'incoming' && <LaneOf message={message} traced={traced} reader={reader} />}
          </div>
        ))}
      </div>
    </>
  );
}

// Keeps the end in view as messages and traces arrive, unless the person has scrolled up.
function useEndInView(log: RefObject<HTMLDivElement | null>): void {
  const isAtEnd = useRef(true);
  useLayoutEffect(() => {
    const { current } = log;
    if (!current) return undefined;
    const look = (): void => {
      isAtEnd.current = current.scrollHeight - current.scrollTop - current.clientHeight < nearPx;
    };
    current.addEventListener('scroll', look);
    return () => current.removeEventListener('scroll', look);
  }, []);
  useLayoutEffect(() => {
    if (log.current && isAtEnd.current) log.current.scrollTop = log.current.scrollHeight;
  });
}

const nearPx = 40;

const senders = { Contact: 'customer', User: 'agent', AgentBot: 'bot', Automation: 'automation' } as const;

interface SaidProps {
  message: Message;
  messages: readonly Message[];
  changed: (message: Message) => void;
}

function Said({ message, messages, changed }: SaidProps) {
  const { content, content_attributes: attributes, message_type: type, private: isNote, created_at: at } = message;
  const { sender, status, attachments } = message;
  const side = type === 'incoming' ? 'in' : 'out';
  return (
    <div class={`said ${side} ${isNote ? 'private' : ''}`}>
      <p class="who">
        <b>{sender?.name ?? 'System'}</b> {sender && <small>{senders[sender.type]}</small>}{' '}
        {isNote && <small class="badge wait">private</small>} <Time at={at} />
      </p>
      <p class="text" dir="auto">
        {attributes['deleted'] === true ? <i>Message deleted</i> : content}
      </p>
      <RichContent message={message} messages={messages} />
      <Attached files={attachments} origin={location.origin} />
      <MessageActions message={message} changed={changed} />
      {status === 'failed' && <p class="problem">Not delivered to the customer.</p>}
    </div>
  );
}

function LaneOf({
  message: { id, conversation_id: conversationId },
  traced,
  reader,
}: Omit<Props, 'transcript'> & { message: Message }) {
  const entry = traced.entries.find(({ event }) => event.event === 'message_created' && messageOf(event) === id);
  return (
    <div class="lane" role="group" aria-label={`Trace of message ${id}`}>
      {entry && <Lane key={entry.event.id} conversationId={conversationId} traced={entry} reader={reader} />}
      {!entry && <p>{traced.serving ? 'Trace no longer available.' : 'Loading…'}</p>}
    </div>
  );
}

function messageOf({ payload }: TraceState['entries'][number]['event']): number {
  return Number((payload as { id?: unknown } | null)?.id);
}

import { useLayoutEffect, useRef } from 'preact/hooks';
import { Attached } from '../shared/attached.tsx';
import type { Chat } from './chat.ts';
import type { Outbox, Queued } from './outbox.ts';
import { itemsOf, Question } from './question.tsx';
import type { Message } from './service.ts';
import { Text } from './text.tsx';

/** All that was said, and what is on its way. */
export function Messages({ chat, answered }: { chat: Chat; answered: () => void }) {
  const { messages, outbox, isTyping, hasEarlier } = chat;
  const queue = chat.unsaid;
  const end = useRef<HTMLDivElement>(null);
  const last = queue.at(-1)?.key ?? messages.at(-1)?.id;
  useLayoutEffect(() => end.current?.scrollIntoView({ block: 'nearest' }), [last, isTyping]);
  return (
    <div class="log" role="log" aria-label="Messages" tabIndex={0}>
      {hasEarlier && (
        <button type="button" class="earlier" onClick={() => void chat.readEarlier()}>
          Show earlier messages
        </button>
      )}
      {messages.map((message) => (
        <Bubble key={message.id} message={message} messages={messages} origin={chat.origin}>
          <Question
            message={message}
            isOver={isOver(message, messages, queue)}
            answer={(content) => {
              chat.say(content, message.id);
              answered();
            }}
          />
        </Bubble>
      ))}
      {queue.map((queued) => (
        <Waiting key={queued.key} queued={queued} outbox={outbox} done={answered} />
      ))}
      {isTyping && <p class="typing">typing…</p>}
      <div ref={end} />
    </div>
  );
}

interface BubbleProps {
  message: Message;
  messages: readonly Message[];
  /** The service's. */
  origin: string;
  children: preact.ComponentChildren;
}

function Bubble({ message, messages, origin, children }: BubbleProps) {
  const { content, content_attributes: attributes, message_type: type, created_at: at, sender, attachments } = message;
  const isOwn = type === 'incoming';
  const moment = new Date(at * 1000);
  return (
    <div class={isOwn ? 'own message' : 'message'}>
      <p class="who">{isOwn ? 'You' : (sender?.name ?? 'Automatic message')}</p>
      <p class="bubble">
        {attributes['deleted'] === true ? (
          <i>Message deleted</i>
        ) : (
          <Text text={titleOf(message, messages) ?? content} />
        )}
        <Attached files={attachments} origin={origin} />
      </p>
      {children}
      <time dateTime={moment.toISOString()}>
        {moment.toLocaleTimeString([], { hour: '2-digit', minute: '2-digit' })}
      </time>
    </div>
  );
}

// A choice is shown by its title; what was sent is its value.
function titleOf({ content, content_attributes: attributes }: Message, messages: readonly Message[]): string | null {
  const question = messages.find(({ id }) => id === attributes['in_reply_to']);
  return (question && itemsOf(question).find(({ value }) => value === content)?.title) ?? null;
}

interface WaitingProps {
  queued: Queued;
  outbox: Outbox;
  /** Somebody has decided what happens to it. */
  done: () => void;
}

function Waiting({ queued, outbox, done }: WaitingProps) {
  const { content, files, tries, progress, trouble, refusal } = queued;
  const names = files.map(({ name }) => name);
  const isRemovable = refusal ?? (tries > 0 || files.length > 0 || !outbox.isTrying(queued));
  const button = (name: string, act: (queued: Queued) => void) => (
    <button
      type="button"
      onClick={() => {
        act(queued);
        done();
      }}
    >
      {name}
    </button>
  );
  return (
    <div class="own message waiting">
      <p class="who">You</p>
      <p class="bubble">{[content, ...names].join(' ')}</p>
      {refusal ? (
        <p class="state" role="alert">
          Not sent: {refusal.message || 'connection lost'}.{' '}
        </p>
      ) : (
        <p class="state">
          Sending… {trouble && `${trouble}. `}
          {files.length > 0 && <progress value={progress} aria-label={`Sent of ${names.join(', ')}`} />}
        </p>
      )}
      {refusal?.mayPass && button('Try again', (one) => outbox.retry(one))}
      {isRemovable && button('Remove', (one) => outbox.remove(one))}
    </div>
  );
}

function isOver({ id, content_type: type }: Message, messages: readonly Message[], queue: readonly Queued[]): boolean {
  if (type === 'text') return true;
  const isAnswered = messages.some(({ content_attributes: attributes }) => attributes['in_reply_to'] === id);
  const isBeingAnswered = queue.some(({ answers, refusal }) => answers === id && !refusal);
  return isAnswered || isBeingAnswered || messages.some((later) => later.id > id && later.content_type !== 'text');
}

import { useLayoutEffect, useRef } from 'preact/hooks';
import type { Chat } from './chat.ts';
import type { Queued } from './outbox.ts';
import { itemsOf, Question } from './question.tsx';
import type { Message } from './service.ts';
import { Files } from './files.tsx';
import { Text } from './text.tsx';

/** All that was said, and what is on its way. */
export function Messages({ chat, answered }: { chat: Chat; answered: () => void }) {
  const { messages, outbox, isTyping, hasEarlier } = chat;
  const queue = outbox.queue.filter((queued) => queued.refused !== null || !isSaid(queued, messages));
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
        <Bubble key={message.id} message={message} messages={messages}>
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
        <Waiting key={queued.key} queued={queued} remove={() => outbox.remove(queued)} />
      ))}
      {isTyping && <p class="typing">typing…</p>}
      <div ref={end} />
    </div>
  );
}

interface BubbleProps {
  message: Message;
  messages: readonly Message[];
  children: preact.ComponentChildren;
}

function Bubble({ message, messages, children }: BubbleProps) {
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
        <Files files={attachments} />
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

function Waiting({ queued, remove }: { queued: Queued; remove: () => void }) {
  return (
    <div class="own message waiting">
      <p class="who">You</p>
      <p class="bubble">{[queued.content, ...queued.files.map(({ name }) => name)].join(' ')}</p>
      {queued.refused === null ? (
        <p class="state">Sending…</p>
      ) : (
        <p class="state" role="alert">
          Not sent: {queued.refused}.{' '}
          <button type="button" onClick={remove}>
            Remove
          </button>
        </p>
      )}
    </div>
  );
}

// The stream may tell of a message before the answer to sending it arrives.
function isSaid({ content, files, after }: Queued, messages: readonly Message[]): boolean {
  return messages.some(
    (message) =>
      message.message_type === 'incoming' &&
      message.id > after &&
      message.content === content &&
      message.attachments.length === files.length,
  );
}

function isOver({ id, content_type: type }: Message, messages: readonly Message[], queue: readonly Queued[]): boolean {
  if (type === 'text') return true;
  const isAnswered = messages.some(({ content_attributes: attributes }) => attributes['in_reply_to'] === id);
  const isBeingAnswered = queue.some(({ answers, refused }) => answers === id && refused === null);
  return isAnswered || isBeingAnswered || messages.some((later) => later.id > id && later.content_type !== 'text');
}

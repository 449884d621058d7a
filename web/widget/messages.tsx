import { useLayoutEffect, useRef } from 'preact/hooks';
import { Attached } from '../shared/attached.tsx';
import { chosenIn, submittedIn } from '../shared/rich-content.ts';
import type { Chat } from './chat.ts';
import type { Outbox, Queued } from './outbox.ts';
import { asks, Question } from './question.tsx';
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
        <Bubble key={message.id} message={message} origin={chat.origin}>
          <Question
            message={message}
            isOver={isOver(message, messages, queue)}
            chosen={chosenIn(message, messages) ?? answerTo(message, queue)?.value ?? null}
            origin={chat.origin}
            answer={(content, value) => {
              chat.say(content, { id: message.id, value });
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
  /** The service's. */
  origin: string;
  children: preact.ComponentChildren;
}

function Bubble({ message, origin, children }: BubbleProps) {
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
          <Text text={submittedIn(attributes)?.title ?? content} />
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

function answerTo({ id }: Message, queue: readonly Queued[]): Queued['answers'] {
  return queue.find(({ answers, refusal }) => answers?.id === id && !refusal)?.answers ?? null;
}

function isOver(message: Message, messages: readonly Message[], queue: readonly Queued[]): boolean {
  if (chosenIn(message, messages) !== null || answerTo(message, queue)) return true;
  const later = messages.filter(({ id }) => id > message.id);
  if (later.some(asks)) return true;
  // An address is still of use when the visitor has written something else first; a choice is of its moment.
  return message.content_type !== 'input_email' && later.some((one) => !isSameSide(one, message));
}

// A bot may add a word to its own question.
function isSameSide({ message_type: type, sender }: Message, { message_type: side, sender: other }: Message): boolean {
  return type === side && sender?.type === other?.type;
}

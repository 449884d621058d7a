import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { Chat } from './chat.ts';
import { Messages } from './messages.tsx';

const maxLength = 10_000;

/** The chat itself: what was said, and where the visitor writes. */
export function Panel({ chat, focus }: { chat: Chat; focus: boolean }) {
  const [text, setText] = useState('');
  const field = useRef<HTMLTextAreaElement>(null);
  const isUsable = chat.refusal === null;
  useLayoutEffect(() => {
    if (focus) field.current?.focus();
  }, [focus, isUsable]);
  if (chat.refusal)
    return (
      <p class="refusal" role="alert">
        {chat.refusal.message}.
      </p>
    );
  const send = (files: readonly File[] = []) => {
    if (text.trim() !== '' || files.length > 0) chat.say(text, null, files);
    setText('');
    field.current?.focus();
  };
  return (
    <>
      <Messages chat={chat} answered={() => field.current?.focus()} />
      <p class="notice" role="status">
        {noticeOf(chat)}
      </p>
      <form
        class="composer"
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
      >
        <textarea
          ref={field}
          aria-label="Message"
          placeholder="Write a message…"
          rows={2}
          maxLength={maxLength}
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
          onKeyDown={(event) => {
            // An input method confirms what it composes by Enter, too.
            if (event.key !== 'Enter' || event.shiftKey || event.isComposing) return;
            event.preventDefault();
            send();
          }}
        />
        <label class="attach">
          <input
            type="file"
            multiple
            aria-label="Attach files"
            onChange={({ currentTarget: input }) => {
              send([...(input.files ?? [])]);
              input.value = '';
            }}
          />
          <Clip />
        </label>
        <button class="send">Send</button>
      </form>
    </>
  );
}

function Clip() {
  return (
    <svg viewBox="0 0 24 24" aria-hidden="true">
      <path d="M8 12l6-6a3 3 0 014 4l-8 8a5 5 0 01-7-7l8-8" />
    </svg>
  );
}

function noticeOf({ isConnected, conversation }: Chat): string {
  if (!isConnected) return 'You are offline. Messages are sent when you are back online.';
  if (conversation?.status === 'resolved') return 'This conversation is closed. Write to open it again.';
  return conversation?.assignee ? `You are chatting with ${conversation.assignee.name}.` : '';
}

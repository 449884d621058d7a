import { useEffect, useRef, useState } from 'preact/hooks';
import type { Chat } from './chat.ts';
import { Panel } from './panel.tsx';
import { useChat } from './use-chat.ts';

/** The widget on somebody's page: a button that opens the chat. */
export function Widget({ chat }: { chat: Chat }) {
  useChat(chat);
  const [isOpen, setOpen] = useState(false);
  const launcher = useRef<HTMLButtonElement>(null);
  const { unread, inbox } = chat;
  useEffect(() => {
    if (isOpen) void chat.markRead();
  }, [isOpen, unread]);
  const open = () => {
    setOpen(true);
    void chat.enter();
  };
  const close = () => {
    setOpen(false);
    launcher.current?.focus();
  };
  const name = inbox?.name ?? 'Chat';
  const news = unread === 1 ? ', 1 new message' : `, ${unread} new messages`;
  return (
    <div class="chat floating">
      {isOpen && (
        <section
          class="panel"
          id="panel"
          role="dialog"
          aria-label={name}
          onKeyDown={({ key }) => {
            if (key === 'Escape') close();
          }}
        >
          <header>
            <h2>{name}</h2>
            <button type="button" aria-label="Close chat" onClick={close}>
              <Cross />
            </button>
          </header>
          <Panel chat={chat} focus />
        </section>
      )}
      <button
        type="button"
        class="launcher"
        ref={launcher}
        aria-expanded={isOpen}
        aria-controls={isOpen ? 'panel' : undefined}
        aria-label={isOpen ? 'Close chat' : `Open chat${unread > 0 ? news : ''}`}
        onClick={isOpen ? close : open}
      >
        <Bubbles />
        {unread > 0 && !isOpen && <span class="badge">{unread > 9 ? '9+' : unread}</span>}
      </button>
    </div>
  );
}

function Cross() {
  return (
    <svg viewBox="0 0 24 24" aria-hidden="true">
      <path d="M6 6l12 12M18 6L6 18" />
    </svg>
  );
}

function Bubbles() {
  return (
    <svg viewBox="0 0 24 24" aria-hidden="true">
      <path d="M4 5h16v11H10l-5 4v-4H4z" />
    </svg>
  );
}

import { useEffect, useState } from 'preact/hooks';
import type { Chat } from '../chat.ts';
import { Panel } from '../panel.tsx';
import { useChat } from '../use-chat.ts';
import { findMember, type Member } from './member.ts';
import { Operator } from './operator.tsx';
import { TraceView } from './trace-view.tsx';

interface ChatPageProps {
  chat: Chat;
  identifier: string;
}

/** The customer's chat; beside it, for members of the inbox's account, what happens behind it and what they may do. */
export function ChatPage({ chat, identifier }: ChatPageProps) {
  useChat(chat);
  const [member, setMember] = useState<Member | null>(null);
  useEffect(() => {
    // Strangers see the chat of the customer alone.
    findMember(identifier).then(setMember, () => setMember(null));
  }, [identifier]);
  const { unread, inbox, conversation } = chat;
  useEffect(() => {
    if (!document.hidden) void chat.markRead();
  }, [chat, unread]);
  const name = inbox?.name ?? 'Chat';
  useEffect(() => {
    document.title = name;
  }, [name]);
  return (
    <main class={member ? 'both' : 'alone'}>
      <section class="chat" aria-label="Customer">
        <header>
          <h1>{name}</h1>
        </header>
        <Panel chat={chat} focus={!member} />
      </section>
      {member && (
        <section class="behind" aria-label="Behind the chat">
          <Operator member={member} chat={chat} />
          {conversation ? (
            <TraceView key={conversation.id} member={member} conversationId={conversation.id} />
          ) : (
            <p>Write a message as the customer to see the trace here.</p>
          )}
        </section>
      )}
    </main>
  );
}

import { useState } from 'preact/hooks';
import { useReloadOn } from '../../kit/live.ts';
import { Show, useLoad } from '../../kit/load.tsx';
import { Time } from '../../kit/time.tsx';
import { call } from '../../session.ts';
import { StatusBadge, type Conversation } from './words.tsx';

interface Props {
  contactId: number;
  /** The one that is shown already; null where all are listed. */
  conversationId: number | null;
}

/** Other conversations of a contact, newest first, older ones on request. */
export function OtherConversations({ contactId, conversationId }: Props) {
  const [pages, setPages] = useState(1);
  const loaded = useLoad((signal) => readPages(contactId, pages, signal), [contactId, pages]);
  useReloadOn(
    ({ event, payload }) =>
      event.startsWith('conversation_') && contactOf(payload) === contactId && payload?.['id'] !== conversationId,
    loaded.reload,
  );
  return (
    <Show of={loaded}>
      {({ conversations, isWhole }) => {
        const others = conversations.filter(({ id }) => id !== conversationId);
        return (
          (others.length > 0 || conversationId === null) && (
            <>
              {conversationId !== null && <h3>Other conversations</h3>}
              {others.length === 0 && <p>No conversations yet.</p>}
              <ul>
                {others.map((other) => (
                  <li key={other.id}>
                    <a href={`/console/conversations/${other.id}`}>Conversation {other.id}</a>{' '}
                    <StatusBadge of={other} /> <Time at={other.last_activity_at} />
                  </li>
                ))}
              </ul>
              {!isWhole && (
                <button type="button" aria-busy={loaded.isLoading} onClick={() => setPages(pages + 1)}>
                  Show more
                </button>
              )}
            </>
          )
        );
      }}
    </Show>
  );
}

// As one list: a conversation in which something is said meanwhile moves to the first page.
async function readPages(id: number, pages: number, signal: AbortSignal) {
  const found = new Map<number, Conversation>();
  for (let page = 1; page <= pages; page += 1) {
    const { payload, meta } = await call('GET contacts/:id/conversations', { id, query: { page }, signal });
    for (const conversation of payload) found.set(conversation.id, conversation);
    if (page >= meta.total_pages) return { conversations: [...found.values()], isWhole: true };
  }
  return { conversations: [...found.values()], isWhole: false };
}

// Events of deleted conversations have no contact object.
function contactOf(payload: Readonly<Record<string, unknown>> | null): number | undefined {
  const contact = payload?.['contact'] as { id?: number } | null | undefined;
  return contact?.id ?? (payload?.['contact_id'] as number | undefined);
}

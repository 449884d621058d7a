import { useEffect } from 'preact/hooks';
import { call } from '../../session.ts';
import { loadUnread } from '../../unread.ts';
import type { Conversation } from './words.tsx';

/** Tells the service that somebody has seen the conversation, whenever unread messages are on the screen. */
export function useSeen(
  { id, unread_count: unread }: Conversation,
  changed: (conversation: Conversation) => void,
): void {
  // Notifications about the conversation are read when it is opened.
  useEffect(() => {
    call('POST notifications/read_all', { body: { primary_actor_type: 'Conversation', primary_actor_id: id } })
      .then(loadUnread)
      .catch(() => undefined);
  }, [id]);
  useEffect(() => {
    if (unread === 0) return undefined;
    const tell = (): void => {
      if (document.hidden) return;
      // The unread count is shown in the list alone, and is sent with the next message.
      call('POST conversations/:id/update_last_seen', { id }).then(changed, () => undefined);
    };
    tell();
    document.addEventListener('visibilitychange', tell);
    return () => document.removeEventListener('visibilitychange', tell);
  }, [id, unread]);
}

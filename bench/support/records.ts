import type { Ask } from './load.ts';
import { call } from './service.ts';

const question = { content: 'What are your opening hours?', message_type: 'incoming' };
const madeAtOnce = 8;

/** A customer's message to one of the conversations, in turns. */
export function messages(conversationIds: readonly number[]): () => Ask {
  let next = 0;
  return () => ({
    method: 'POST',
    path: `conversations/${conversationIds[next++ % conversationIds.length]}/messages`,
    body: question,
  });
}

/** A contact and an inbox that no bot serves: what is measured is the path, not an answer to it. */
export async function createSurroundings(url: string): Promise<{ inbox_id: number; contact_id: number }> {
  const inbox = await call<{ id: number }>(url, 'POST', 'inboxes', { name: 'Bench', channel_type: 'Channel::Api' });
  const contact = await call<{ id: number }>(url, 'POST', 'contacts', { name: 'Load' });
  return { inbox_id: inbox.id, contact_id: contact.id };
}

/** Opens conversations, each with a contact of its own and a first message; answers their ids. */
export async function createConversations(url: string, count: number): Promise<number[]> {
  const { inbox_id } = await createSurroundings(url);
  const ids: number[] = [];
  const create = async (): Promise<void> => {
    const contact = await call<{ id: number }>(url, 'POST', 'contacts', { name: 'Load' });
    const body = { inbox_id, contact_id: contact.id, message: { content: 'Hello' } };
    ids.push((await call<{ id: number }>(url, 'POST', 'conversations', body)).id);
  };
  for (let made = 0; made < count; made += madeAtOnce) await Promise.all(Array.from({ length: madeAtOnce }, create));
  return ids;
}

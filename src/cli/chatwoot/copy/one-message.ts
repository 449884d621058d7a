import type { Copying } from '../copying.ts';
import { idOf, listOf, type Foreign } from '../values.ts';

/** A message as it is there; nothing where it is no more. */
export async function readOneMessage(
  { client, account }: Copying,
  { foreignId, foreignConversationId }: { foreignId: number; foreignConversationId: number },
): Promise<Foreign> {
  const range = { after: String(foreignId), before: String(foreignId + 1) };
  const answer = await client.get(`${account}/conversations/${foreignConversationId}/messages`, range);
  return listOf(answer)?.find(({ id }) => idOf(id) === foreignId) ?? {};
}

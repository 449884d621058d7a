import type { EntityManager } from '@mikro-orm/postgresql';
import type { Conversation } from '../../records/conversation.ts';
import { findLastMessages } from '../../records/message.ts';
import { conversationRecord, messageRecord } from '../../events/payloads.ts';
import type { Shape } from '../../schemas.ts';

type Record = Shape<'resources/conversation'>;

/** Conversations in REST answers, each with its last message. */
export async function presentConversations(
  em: EntityManager,
  accountId: number,
  conversations: readonly Conversation[],
): Promise<Record[]> {
  const last = await findLastMessages(
    em,
    accountId,
    conversations.map(({ id }) => id),
  );
  return conversations.map((conversation) => {
    const message = last.get(conversation.id);
    return {
      ...conversationRecord(conversation),
      last_message: message ? messageRecord(message, conversation) : null,
    };
  });
}

/** Like presentConversations, for one conversation. */
export async function presentConversation(em: EntityManager, conversation: Conversation): Promise<Record> {
  const [record] = await presentConversations(em, conversation.account.id, [conversation]);
  return record as Record;
}

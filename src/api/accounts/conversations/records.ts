import type { Sql } from '../../../postgres/sql.ts';
import type { ListedConversation } from '../../../records/conversations/rows.ts';
import type { Conversation } from '../../../records/conversations/conversation.ts';
import type { FileLinks } from '../../../lib/file-links.ts';
import { findLastMessage } from '../../../records/messages/message.ts';
import { conversationRecord, messageRecord } from '../../../events/payloads.ts';
import type { Shape } from '../../../schemas.ts';

type Record = Shape<'resources/conversation'>;

/** A conversation in REST answers, with its last message. */
export function presentListed({ conversation, lastMessage }: ListedConversation, links: FileLinks): Record {
  return {
    ...conversationRecord(conversation),
    last_message: lastMessage && messageRecord(lastMessage, conversation, links),
  };
}

/** Like presentListed; reads the last message. */
export async function presentConversation(sql: Sql, conversation: Conversation, links: FileLinks): Promise<Record> {
  const lastMessage = await findLastMessage(sql, conversation.account.id, conversation.id);
  return presentListed({ conversation, lastMessage }, links);
}

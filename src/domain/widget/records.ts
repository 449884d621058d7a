import type { Conversation } from '../../records/conversations/conversation.ts';
import type { Message } from '../../records/messages/message.ts';
import { attachmentRecords, senderRecord } from '../../events/payloads.ts';
import type { FileLinks } from '../../lib/file-links.ts';
import { unixSeconds } from '../../lib/unix-time.ts';
import type { Shape } from '../../schemas.ts';

/** Fields of a conversation that its contact may see. */
export type SeenConversation = Pick<Conversation, 'id' | 'status' | 'createdAt' | 'lastActivityAt'> & {
  assignee: { name: string } | null;
};

/** Returns a conversation as its contact sees it: without agents' ids, labels and attributes. */
export function widgetConversation({
  id,
  status,
  assignee,
  createdAt,
  lastActivityAt,
}: SeenConversation): Shape<'resources/widget-conversation'> {
  return {
    id,
    status,
    assignee: assignee && { name: assignee.name },
    created_at: unixSeconds(createdAt),
    last_activity_at: unixSeconds(lastActivityAt),
  };
}

/** Returns a public message as the contact sees it. */
export function widgetMessage(
  message: Message,
  accountId: number,
  links: FileLinks,
): Shape<'resources/widget-message'> {
  const sender = senderRecord(message);
  return {
    id: message.id,
    conversation_id: message.conversationId,
    content: message.content,
    message_type: message.type,
    status: message.status,
    content_type: message.contentType,
    content_attributes: message.contentAttributes,
    created_at: unixSeconds(message.createdAt),
    sender: sender && { name: sender.name, type: sender.type, avatar_url: message.sender.avatarUrl },
    attachments: attachmentRecords(message, accountId, links),
  };
}

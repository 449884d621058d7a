import { placeholderOf } from '../lib/file-links.ts';
import { unixSeconds } from '../lib/unix-time.ts';
import { fileTypeOf } from '../records/messages/attachment.ts';
import type { OutgoingMessage } from '../records/messages/outgoing.ts';
import { senderRecord } from './payloads.ts';

/** Returns the event by which a channel is called to send a message: `ctx.message` and `ctx.contact`. */
export function sendEvent({ conversation, message, sourceId, thread }: OutgoingMessage): Record<string, unknown> {
  const { contact, account } = conversation;
  return {
    event: 'send',
    id: message.id,
    message: {
      id: message.id,
      content: message.content,
      content_type: message.contentType,
      content_attributes: message.contentAttributes,
      attachments: message.attachments.map(({ id, name, type, size }) => ({
        id,
        file_name: name,
        file_type: fileTypeOf(type),
        content_type: type,
        file_size: size,
        url: placeholderOf(id),
      })),
      source_id: sourceId,
      in_reply_to: thread.inReplyTo && { external_id: thread.inReplyTo.externalId, mail: thread.inReplyTo.mail },
      references: thread.references,
      conversation_id: conversation.id,
      sender: senderRecord(message),
      created_at: unixSeconds(message.createdAt),
    },
    contact: {
      id: contact.id,
      name: contact.name,
      email: contact.email,
      phone_number: contact.phoneNumber,
      identifier: contact.identifier,
    },
    account: { id: account.id, name: account.name },
  };
}

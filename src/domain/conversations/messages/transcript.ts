import type { Conversation } from '../../../records/conversations/conversation.ts';
import type { Message } from '../../../records/messages/message.ts';
import { plainTextOf } from '../../../records/messages/rich-content.ts';

/** Messages of a transcript at most: the latest. */
export const mostTranscribed = 500;
const mostCharacters = 256 * 1024;

/** Returns the text of a conversation's public messages for a mail. It begins later where the whole would be too long. */
export function transcriptOf({ id, contact }: Conversation, messages: readonly Message[]): string {
  const parts: string[] = [];
  let characters = 0;
  for (const message of messages.filter(({ private: isNote }) => !isNote).toReversed()) {
    const part = partOf(message);
    characters += part.length;
    if (characters > mostCharacters && parts.length > 0) break;
    parts.unshift(part.slice(0, mostCharacters));
  }
  return [`Conversation ${id} with ${contact.name}`, ...parts].join('\n\n');
}

function partOf(message: Message): string {
  const { createdAt, sender, type, attachments } = message;
  const content = plainTextOf(message);
  const minute = createdAt.toISOString().slice(0, 16).replace('T', ' ');
  const name = sender.name || (type === 'incoming' ? 'Customer' : 'Service');
  const files = attachments.map((file) => `[${file.name}]`);
  return [`${name}, ${minute} UTC`, ...(content === '' ? [] : [content]), ...files].join('\n');
}

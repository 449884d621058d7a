import { listOf, objectOf } from './json.ts';
import type { Json } from './operation.ts';

const typeNumbers: Readonly<Record<string, number>> = { incoming: 0, outgoing: 1 };
const senderTypes: Readonly<Record<string, string>> = {
  Contact: 'contact',
  User: 'user',
  AgentBot: 'agent_bot',
  Automation: 'agent_bot',
};

/** Returns a message in Chatwoot's fields: types are numbers, and keys without a value are left out. */
export function theirMessage(message: Json): Json {
  const { sender, attachments, message_type: type, ...rest } = message;
  const files = listOf(attachments);
  // Chatwoot's kind of a message that is stored as text.
  const { content_type: kind } = objectOf(objectOf(message['content_attributes'])['chatwoot']);
  return {
    ...rest,
    ...(typeof kind === 'string' ? { content_type: kind } : {}),
    message_type: typeNumbers[String(type)] ?? type,
    ...(sender ? { sender: theirSender(objectOf(sender)) } : {}),
    ...(files.length > 0 ? { attachments: files.map((file) => ({ ...file, account_id: message['account_id'] })) } : {}),
  };
}

/** Returns the sender of a message in Chatwoot's fields. */
export function theirSender(sender: Json): Json {
  const type = senderTypes[String(sender['type'])] ?? sender['type'];
  return type === 'contact' ? { ...sender, type } : { ...sender, available_name: sender['name'], type };
}

const meantTypes: Readonly<Record<string, string>> = { 0: 'incoming', 1: 'outgoing' };

/** Returns the type of a message that is to be sent; outgoing by default. */
export function meantType(type: unknown): unknown {
  if (type === undefined || type === null || type === '') return 'outgoing';
  return typeof type === 'number' || typeof type === 'string' ? (meantTypes[type] ?? type) : type;
}

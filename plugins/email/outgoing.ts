import type { OutgoingMail, OutgoingMessage } from 'switchboard/bot';
import { cut } from './cut.ts';
import { isAddress } from './mail.ts';
import { metadataOf } from './postmark.ts';

interface Sending {
  id: string;
  address: string;
  provider: string;
}

const maxReferences = 20;
/** A call of the service takes 65,536 characters as JSON. */
const maxMail = 65_000;

/** Returns the mail that sends a message: an answer to the customer's last mail, in its thread. Throws a TypeError for what no mail can bring. */
export function mailOf(message: OutgoingMessage, { id, address, provider }: Sending): OutgoingMail {
  const { in_reply_to: parent, references, attachments, content } = message;
  const to = recipientOf(message);
  if (!isAddress(to)) throw new TypeError(`${to} is not an address that mail can be sent to`);
  const mail = {
    from: address,
    to,
    subject: subjectOf(message),
    text: textOf(message, content),
    message_id: id,
    // Mails without an id are known by that of their provider, which no mail names.
    ...(parent && isMessageId(parent.external_id) ? { in_reply_to: parent.external_id } : {}),
    // Some providers replace the id of a mail: by the last reference, answers and bounces still find the message.
    references: [
      ...new Set([...shortened([...(parent?.mail?.references ?? []), ...references].filter(isMessageId)), id]),
    ],
    headers: { ...byMachine(message), ...(provider === 'postmark' ? ofPostmark(message, id) : {}) },
    attachments: attachments.map((file) => file.id),
  };
  if (JSON.stringify(mail).length > maxMail) throw new TypeError('The message is too long for a mail');
  return mail;
}

/** Returns whom a message is sent to: the customer, or where the customer wants answers. */
export function recipientOf({ in_reply_to: parent, source_id: customer }: OutgoingMessage): string {
  return parent?.mail?.reply_to ?? customer;
}

function subjectOf({ in_reply_to: parent, content_attributes: attributes, content }: OutgoingMessage): string {
  const { subject } = (attributes.mail ?? {}) as { subject?: unknown };
  if (typeof subject === 'string' && subject.trim() !== '') return lineOf(subject);
  const answered = lineOf(parent?.mail?.subject ?? '');
  if (answered !== '') return /^(re|aw|sv|antw)\s?:/i.test(answered) ? answered : `Re: ${answered}`;
  return cut(lineOf(content), 80) || 'Message';
}

function lineOf(text: string): string {
  return cut(text.replace(/[\r\n\t]+/g, ' ').trim(), 500);
}

function textOf({ content_type: type, content_attributes: attributes }: OutgoingMessage, content: string): string {
  if (type !== 'input_select' && type !== 'cards') return content;
  const items = Array.isArray(attributes.items) ? (attributes.items as { title?: unknown }[]) : [];
  const titles = items.flatMap(({ title }) => (typeof title === 'string' ? title : []));
  return [content, '', ...titles.map((title, index) => `${index + 1}. ${title}`)].join('\n');
}

// A person's mail must not say so: other systems may answer it.
function byMachine({ sender, in_reply_to: parent }: OutgoingMessage): Record<string, string> {
  if (sender?.type === 'User' || sender?.type === 'user') return {};
  return {
    'auto-submitted': parent ? 'auto-replied' : 'auto-generated',
    'x-auto-response-suppress': 'All',
  };
}

function ofPostmark(message: OutgoingMessage, id: string): Record<string, string> {
  const metadata = Object.entries(metadataOf(message.id, id));
  const headers = metadata.map(([name, value]) => [`x-pm-metadata-${name}`, value]);
  return { 'x-pm-keepid': 'true', ...Object.fromEntries(headers) };
}

function isMessageId(id: string): boolean {
  return /^<[^<>\s]{1,253}>$/.test(id);
}

// The first and the last ones hold a thread together.
function shortened(ids: readonly string[]): string[] {
  const all = [...new Set(ids)];
  const [first] = all;
  return all.length <= maxReferences || first === undefined ? all : [first, ...all.slice(1 - maxReferences)];
}

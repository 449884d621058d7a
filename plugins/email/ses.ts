import { returnedId } from './kinds.ts';
import { bytesOfBase64 } from './decode.ts';
import { addressIn, type Mail } from './mail.ts';
import { readMime } from './mime.ts';

/** A message of Amazon SNS, which the service has checked. */
export interface SnsEnvelope {
  Type?: string;
  MessageId?: string;
  Message?: string;
}

interface SesRecipient {
  emailAddress?: string;
  status?: string;
  diagnosticCode?: string;
}

/** A notification of Amazon SES. */
interface Notification {
  notificationType?: string;
  eventType?: string;
  receipt?: {
    virusVerdict?: { status?: string };
    dmarcVerdict?: { status?: string };
    action?: { type?: string; encoding?: string };
  };
  mail?: { messageId?: string; headers?: { name: string; value: string }[]; commonHeaders?: { messageId?: string } };
  content?: string;
  bounce?: { bounceType?: string; bouncedRecipients?: SesRecipient[] };
  delivery?: { recipients?: string[] };
}

type Status = { external_id: string; status: 'delivered' | 'failed'; reason?: string };
/** `sentTo`: recipients that Amazon names. */
type Found = { mail: Mail; id: string } | { status: Status; sentTo: readonly string[] } | { why: string };

/** Returns the mail, or what became of one of ours, that a notification brings; `why` where it brings neither. */
export function readSes(envelope: SnsEnvelope | null, address: string): Found {
  const notification = notificationIn(envelope);
  const type = notification.notificationType ?? notification.eventType;
  if (type === 'Received') return readReceived(notification, envelope?.MessageId ?? '');
  const id = returnedId([headerText(notification)], address);
  if (id === undefined) return { why: `A notification of the kind ${type} is about no mail of the inbox` };
  if (type === 'Delivery') {
    const sentTo = addressesIn(listOf(notification.delivery?.recipients));
    return { status: { external_id: id, status: 'delivered' }, sentTo };
  }
  if (type !== 'Bounce' || notification.bounce?.bounceType === 'Transient')
    return { why: `A notification of the kind ${type} changes nothing` };
  const recipients = listOf(notification.bounce?.bouncedRecipients);
  const sentTo = addressesIn(recipients.map(({ emailAddress }) => emailAddress));
  return { status: { external_id: id, status: 'failed', reason: reasonOf(recipients) }, sentTo };
}

function notificationIn(envelope: SnsEnvelope | null): Notification {
  try {
    const found: unknown = JSON.parse(envelope?.Message ?? 'null');
    return typeof found === 'object' && found !== null ? found : {};
  } catch {
    return {};
  }
}

function headerText({ mail = {} }: Notification): string {
  const headers = Array.isArray(mail.headers) ? mail.headers : [];
  return [
    `message-id: ${mail.commonHeaders?.messageId}`,
    ...headers.map(({ name, value }) => `${name}: ${value}`),
  ].join('\n');
}

function listOf<T>(value: readonly T[] | undefined): readonly T[] {
  return Array.isArray(value) ? value.slice(0, 20) : [];
}

function addressesIn(texts: readonly unknown[]): string[] {
  return texts.flatMap((text) => addressIn(String(text)) ?? []);
}

function reasonOf([recipient]: readonly SesRecipient[]): string {
  const words = [
    recipient?.diagnosticCode ?? 'The mail could not be delivered',
    recipient?.status && `(${recipient.status})`,
  ];
  return words.filter(Boolean).join(' ').slice(0, 900);
}

function readReceived({ receipt = {}, content, mail }: Notification, id: string): Found {
  const { virusVerdict: virus, dmarcVerdict: dmarc, action } = receipt;
  if (virus?.status === 'FAIL') return { why: 'Amazon found a virus in the mail, which is left out' };
  if (content === undefined)
    return { why: 'The notification has no content: use the action SNS in the receipt rule, with the encoding Base64' };
  const isText = action?.encoding?.toUpperCase() === 'UTF8';
  const raw = isText ? bytesOf(content) : bytesOfBase64(content);
  // Unless DMARC passes, anybody may have written it in the sender's name.
  return { mail: { ...readMime(raw), isDoubtful: dmarc?.status !== 'PASS' }, id: `ses:${mail?.messageId ?? id}` };
}

function bytesOf(text: string): string {
  return Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join('');
}

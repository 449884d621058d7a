import { ownId, ownHash } from './kinds.ts';
import { addressIn, headersOf, type Mail } from './mail.ts';

/** A request of Postmark: an inbound mail, or what became of one that was sent. */
export interface PostmarkRequest {
  RecordType?: string;
  MessageID?: string;
  FromFull?: { Email?: string; Name?: string };
  Subject?: string;
  TextBody?: string;
  HtmlBody?: string;
  Headers?: { Name?: string; Value?: string }[];
  Attachments?: { Name?: string; Content?: string; ContentType?: string }[];
  Type?: string;
  /** The recipient of a mail that came back. */
  Email?: string;
  /** The recipient of a mail that arrived. */
  Recipient?: string;
  Description?: string;
  Details?: string;
  Metadata?: Record<string, string>;
}

const reportTypes = /^(message\/(delivery-status|rfc822)|text\/rfc822-headers)/i;
/** Types of bounces after which the mail still arrives, or that are none. */
const harmless = new Set([
  'Transient',
  'AutoResponder',
  'AddressChange',
  'Subscribe',
  'Unsubscribe',
  'ChallengeVerification',
  'OpenRelayTest',
  'Unconfirmed',
]);

/** Fields of Postmark's `Metadata`, each of 80 characters at most: a message of ours, and the part of its mail's id that is not known from elsewhere. */
const names = { message: 'switchboard-message', hash: 'switchboard-hash' };

/** A change that Postmark reports; `external_id` is missing for mails that do not repeat it. */
export interface PostmarkStatus {
  message: number;
  external_id?: string;
  status: 'delivered' | 'failed';
  reason?: string;
  /** Recipients that Postmark names. */
  sentTo: readonly string[];
}

/** Returns the metadata of the mail of a message, which Postmark repeats in its reports. */
export function metadataOf(message: number, id: string): Record<string, string> {
  return { [names.message]: String(message), [names.hash]: ownHash(id) };
}

/** Returns an inbound mail. The service keeps the content of its files aside, which are named by their places. */
export function readPostmark(request: PostmarkRequest): Mail {
  const { FromFull: from, Subject: subject = '', TextBody: text = '', HtmlBody: html = '' } = request;
  const address = addressIn(from?.Email ?? '');
  const attachments = listOf(request.Attachments);
  return {
    from: address === null ? null : { address, ...(from?.Name ? { name: from.Name } : {}) },
    subject,
    text,
    html,
    headers: headersOf(listOf(request.Headers).map(({ Name: name = '', Value: value = '' }) => [name, value])),
    files: attachments.map(({ Name: name = '' }, index) => ({
      file_name: name || `file-${index + 1}`,
      hook: `/Attachments/${index}/Content`,
    })),
    reports: attachments
      .filter(({ ContentType: type = '' }) => reportTypes.test(type))
      .flatMap(({ Content: content }) => decoded(content)),
  };
}

/** Returns what became of a message of ours; null for requests that say nothing of it. */
export function readPostmarkStatus(request: PostmarkRequest, address: string): PostmarkStatus | null {
  const { RecordType: record, Type: type = '', Description: description = '', Details: details = '' } = request;
  const about = mailIn(request.Metadata ?? {}, address);
  if (!about) return null;
  if (record === 'Delivery') return { ...about, status: 'delivered', sentTo: recipientIn(request.Recipient) };
  if (record !== 'Bounce' || harmless.has(type)) return null;
  const reason = [description, details].filter(Boolean).join(' ') || `Postmark reports a bounce of the type ${type}`;
  return { ...about, status: 'failed', reason, sentTo: recipientIn(request.Email) };
}

function recipientIn(text: unknown): string[] {
  const recipient = addressIn(String(text));
  return recipient === null ? [] : [recipient];
}

// A report may come before the message is known by its id: the id comes with it.
function mailIn(
  metadata: Record<string, string>,
  address: string,
): Pick<PostmarkStatus, 'message' | 'external_id'> | null {
  // Headers have capitals on their way, and so have the names.
  const fields = new Map(Object.entries(metadata).map(([name, value]) => [name.toLowerCase(), value]));
  const message = Number(fields.get(names.message));
  if (!Number.isSafeInteger(message) || message < 1) return null;
  const hash = fields.get(names.hash) ?? '';
  return /^[0-9a-f]{24}$/.test(hash) ? { message, external_id: ownId({ message, hash, address }) } : { message };
}

function decoded(content: string | undefined): string[] {
  try {
    return content ? [atob(content)] : [];
  } catch {
    return [];
  }
}

function listOf<T>(value: readonly T[] | undefined): readonly T[] {
  return Array.isArray(value) ? value : [];
}

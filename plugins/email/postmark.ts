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

/** The field of Postmark's `Metadata` with the id of a message of ours. */
export const metadataName = 'switchboard-message';

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
export function readPostmarkStatus({
  RecordType: record,
  Type: type = '',
  Description: description = '',
  Details: details = '',
  Metadata: metadata = {},
}: PostmarkRequest): { message: number; status: 'delivered' | 'failed'; reason?: string } | null {
  const message = Number(metadata[metadataName]);
  if (!Number.isSafeInteger(message) || message < 1) return null;
  if (record === 'Delivery') return { message, status: 'delivered' };
  if (record !== 'Bounce' || harmless.has(type)) return null;
  const reason = [description, details].filter(Boolean).join(' ').slice(0, 900);
  return { message, status: 'failed', reason: reason || `Postmark reports a bounce of the type ${type}` };
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

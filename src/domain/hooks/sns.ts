import { createVerify, X509Certificate } from 'node:crypto';
import type { SignatureProblem } from './signatures.ts';

/** A message of Amazon SNS, as its envelope has it: texts by name. */
type Envelope = Readonly<Record<string, string>>;

/** A message whose sender is still to be checked by the certificate at a URL. */
export interface SnsMessage {
  type: 'Notification' | 'SubscriptionConfirmation' | 'UnsubscribeConfirmation';
  certificateUrl: string;
  /** Where a subscription is confirmed; null for other messages. */
  subscribeUrl: string | null;
  envelope: Envelope;
}

const always = ['Type', 'MessageId', 'TopicArn', 'Message', 'Timestamp', 'Signature', 'SigningCertURL'] as const;
const signedNames = {
  Notification: ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'],
  SubscriptionConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
  UnsubscribeConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
} as const;
const algorithms: Readonly<Record<string, string>> = { '1': 'RSA-SHA1', '2': 'RSA-SHA256' };
/** Amazon repeats a message for an hour. */
const windowMs = 2 * 3_600_000;
const host = /^sns\.[a-z]{2}(-[a-z]+)+-\d\.amazonaws\.com(\.cn)?$/;
const certificatePath = /^\/SimpleNotificationService-[A-Za-z0-9]{1,100}\.pem$/;

/**
 * Reads a message for one of the topics, whose URLs are Amazon's own: nothing else is ever called. Returns why it is refused
 * otherwise.
 */
export function readSns(
  json: unknown,
  { topics, now }: { topics: readonly string[]; now: Date },
): SnsMessage | SignatureProblem {
  const envelope = envelopeOf(json);
  const at = (name: string): string => envelope[name] ?? '';
  if (always.some((name) => at(name) === '')) return 'missing_signature';
  const type = at('Type');
  const isKnown = isType(type) && Object.hasOwn(algorithms, at('SignatureVersion')) && topics.includes(at('TopicArn'));
  if (!isKnown || !isCertificateUrl(at('SigningCertURL'))) return 'bad_signature';
  const subscribeUrl = type === 'SubscriptionConfirmation' ? at('SubscribeURL') : null;
  if (subscribeUrl !== null && !amazonUrl(subscribeUrl)) return 'bad_signature';
  const age = Math.abs(now.getTime() - Date.parse(at('Timestamp')));
  return age <= windowMs ? { type, certificateUrl: at('SigningCertURL'), subscribeUrl, envelope } : 'stale_timestamp';
}

/** Returns the certificate that a text holds, where it is valid at the moment; else null. */
export function readCertificate(pem: string, now: Date): X509Certificate | null {
  try {
    const certificate = new X509Certificate(pem);
    const isValid =
      Date.parse(certificate.validFrom) <= now.getTime() && now.getTime() <= Date.parse(certificate.validTo);
    return isValid && certificate.publicKey.asymmetricKeyType === 'rsa' ? certificate : null;
  } catch {
    return null;
  }
}

/** Whether a message was signed by the holder of the certificate. */
export function isSignedBy({ publicKey }: X509Certificate, { type, envelope }: SnsMessage): boolean {
  const lines = signedNames[type].flatMap((name) => {
    const value = envelope[name];
    return value === undefined ? [] : [`${name}\n${value}\n`];
  });
  const algorithm = algorithms[envelope['SignatureVersion'] ?? ''] ?? 'RSA-SHA256';
  return createVerify(algorithm)
    .update(lines.join(''))
    .verify(publicKey, Buffer.from(envelope['Signature'] ?? '', 'base64'));
}

function envelopeOf(json: unknown): Envelope {
  if (typeof json !== 'object' || json === null) return {};
  return Object.fromEntries(
    Object.entries(json).filter((entry): entry is [string, string] => typeof entry[1] === 'string'),
  );
}

function isType(type: string): type is SnsMessage['type'] {
  return Object.hasOwn(signedNames, type);
}

function isCertificateUrl(text: string): boolean {
  const url = amazonUrl(text);
  return url?.search === '' && certificatePath.test(url.pathname);
}

function amazonUrl(text: string): URL | null {
  const url = URL.canParse(text) ? new URL(text) : null;
  const isPlain = url?.protocol === 'https:' && url.port === '' && url.username === '' && url.password === '';
  return isPlain && host.test(url.hostname) ? url : null;
}

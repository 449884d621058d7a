import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { HookScheme } from '../../packages/manifest/hooks.ts';

/** A request of another system, as it came. */
export interface SignedRequest {
  /** The value of a header; null for one that is absent or repeated. */
  header: (name: string) => string | null;
  body: Buffer;
  /** The URL that the sender was given, with the query that it sent. */
  url: string;
  /** The fields of a form, as they were sent; null for another body. */
  form: URLSearchParams | null;
  now: Date;
}

/** Why a request is refused. The sender learns only that it is. */
export type SignatureProblem = 'missing_signature' | 'bad_signature' | 'stale_timestamp';

type Scheme = Exclude<HookScheme, 'none' | 'sns'>;
type Check = (request: SignedRequest, secret: string) => boolean;

/** A scheme: the headers that it needs, its signed time in Unix seconds where it has one, and whether the secret fits. */
interface Rule {
  needs: (request: SignedRequest) => boolean;
  time?: (request: SignedRequest) => string | undefined;
  check: Check;
}

const windowSeconds = 300;
const maxSignatures = 20;
const maxSecrets = 10;

/**
 * Verifies that a request was sent by a holder of one of the secrets, in constant time for each, over the bytes that came.
 * Returns what is wrong with it, or null.
 */
export function findSignatureProblem(
  scheme: Scheme,
  secrets: readonly string[],
  request: SignedRequest,
): SignatureProblem | null {
  const { needs, time, check } = rules[scheme];
  if (!needs(request)) return 'missing_signature';
  // All are tried, so that the time does not tell which of them fits.
  const fits = secrets.slice(0, maxSecrets).filter((secret) => check(request, secret));
  if (fits.length === 0) return 'bad_signature';
  if (!time) return null;
  const skew = Math.abs(request.now.getTime() / 1000 - Number(time(request)));
  return skew <= windowSeconds ? null : 'stale_timestamp';
}

/** Whether a secret can be a key: without one, everybody could sign. */
export function isUsableSecret(scheme: HookScheme, secret: string): boolean {
  return (scheme === 'standard-webhooks' ? standardKey(secret).length : secret.length) > 0;
}

/** Compares two texts in a time that does not depend on where they differ. */
export function isSameText(one: string, other: string): boolean {
  const [left, right] = [one, other].map((text) => createHash('sha256').update(text).digest()) as [Buffer, Buffer];
  return timingSafeEqual(left, right);
}

const rules: Readonly<Record<Scheme, Rule>> = {
  'standard-webhooks': {
    needs: (request) => ['id', 'timestamp', 'signature'].every((part) => standard(request, part) !== null),
    time: (request) => wholeNumber(standard(request, 'timestamp')),
    check: (request, secret) => {
      const signed = [`${standard(request, 'id')}.${standard(request, 'timestamp')}.`, request.body];
      const expected = hmac('sha256', standardKey(secret), signed).toString('base64');
      return anyIs(`v1,${expected}`, (standard(request, 'signature') ?? '').split(' '));
    },
  },
  github: hashed('x-hub-signature-256'),
  meta: hashed('x-hub-signature-256'),
  stripe: {
    needs: (request) => parts(request, 't').length === 1 && parts(request, 'v1').length > 0,
    time: (request) => wholeNumber(parts(request, 't')[0]),
    check: (request, secret) =>
      anyIs(hmac('sha256', secret, [`${parts(request, 't')[0]}.`, request.body]).toString('hex'), parts(request, 'v1')),
  },
  slack: {
    needs: ({ header }) => header('x-slack-signature') !== null && header('x-slack-request-timestamp') !== null,
    time: ({ header }) => wholeNumber(header('x-slack-request-timestamp')),
    check: ({ header, body }, secret) => {
      const signed = [`v0:${header('x-slack-request-timestamp')}:`, body];
      return isSameText(`v0=${hmac('sha256', secret, signed).toString('hex')}`, header('x-slack-signature') ?? '');
    },
  },
  shopify: {
    needs: ({ header }) => header('x-shopify-hmac-sha256') !== null,
    check: ({ header, body }, secret) =>
      isSameText(hmac('sha256', secret, [body]).toString('base64'), header('x-shopify-hmac-sha256') ?? ''),
  },
  twilio: {
    needs: ({ header }) => header('x-twilio-signature') !== null,
    check: (request, secret) => {
      const fields = request.form ? sortedFields(request.form) : '';
      if (!request.form && !hasBodyHash(request)) return false;
      const signature = request.header('x-twilio-signature') ?? '';
      return withAndWithoutPort(request.url)
        .map((url) => isSameText(hmac('sha1', secret, [url, fields]).toString('base64'), signature))
        .includes(true);
    },
  },
  telegram: {
    needs: ({ header }) => header('x-telegram-bot-api-secret-token') !== null,
    check: ({ header }, secret) => isSameText(secret, header('x-telegram-bot-api-secret-token') ?? ''),
  },
  basic: {
    needs: ({ header }) => /^basic /i.test(header('authorization') ?? ''),
    check: ({ header }, secret) =>
      isSameText(Buffer.from(secret).toString('base64'), (header('authorization') ?? '').slice('basic '.length).trim()),
  },
};

function hmac(algorithm: 'sha1' | 'sha256', key: string | Buffer, signed: readonly (string | Buffer)[]): Buffer {
  const digest = createHmac(algorithm, key);
  for (const part of signed) digest.update(part);
  return digest.digest();
}

function hashed(name: string): Rule {
  return {
    needs: ({ header }) => header(name) !== null,
    check: ({ header, body }, secret) =>
      isSameText(`sha256=${hmac('sha256', secret, [body]).toString('hex')}`, header(name) ?? ''),
  };
}

function anyIs(expected: string, signatures: readonly string[]): boolean {
  return signatures
    .slice(0, maxSignatures)
    .map((signature) => isSameText(expected, signature))
    .includes(true);
}

function standardKey(secret: string): Buffer {
  return Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
}

// Svix, whose customers are many, sends its own names.
function standard({ header }: SignedRequest, part: string): string | null {
  return header(`webhook-${part}`) ?? header(`svix-${part}`);
}

function parts({ header }: SignedRequest, name: string): string[] {
  const pairs = (header('stripe-signature') ?? '').split(',').slice(0, maxSignatures);
  return pairs.map((pair) => pair.trim().split('=')).flatMap(([key, value]) => (key === name && value ? [value] : []));
}

// Number() also reads hexadecimal digits and fractions.
function wholeNumber(text: string | null | undefined): string | undefined {
  return typeof text === 'string' && /^\d{1,15}$/.test(text) ? text : undefined;
}

// Anybody may send a form of a hundred thousand names: each is looked at once.
function sortedFields(form: URLSearchParams): string {
  const byName = new Map<string, Set<string>>();
  for (const [name, value] of form) {
    const values = byName.get(name);
    if (values) values.add(value);
    else byName.set(name, new Set([value]));
  }
  const names = [...byName.keys()].sort();
  return names.flatMap((name) => [...(byName.get(name) ?? [])].sort().map((value) => name + value)).join('');
}

function hasBodyHash({ url, body }: SignedRequest): boolean {
  const sent = new URL(url).searchParams.get('bodySHA256') ?? '';
  return isSameText(createHash('sha256').update(body).digest('hex'), sent.toLowerCase());
}

function withAndWithoutPort(url: string): string[] {
  const [, scheme = '', host = '', rest = ''] = /^(https?):\/\/([^/?#]+)(.*)$/.exec(url) ?? [];
  const usual = scheme === 'https' ? '443' : '80';
  const plain = host.replace(/:\d+$/, '');
  return plain === host ? [url, `${scheme}://${host}:${usual}${rest}`] : [url, `${scheme}://${plain}${rest}`];
}

import { createPrivateKey, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { mask, type Auth, type SealedAuth, type SealedHeader } from './credentials.ts';
import { invalid } from '../../errors.ts';
import { isSettableHeader } from '../../outbound/request-headers.ts';
import type { SecretBox } from '../../lib/secrets/secret-box.ts';

/** A header that somebody wants a webhook to get. */
export interface GivenHeader {
  name: string;
  /** Sealed; null keeps the value that stands under this name. */
  sealed: string | null;
}

/** The fields of each way; others are refused. */
const fieldsOf = {
  bearer: ['token'],
  basic: ['username', 'password'],
  mtls: ['certificate', 'key'],
} as const;

type GivenAuth = { type: Auth['type'] } & Partial<
  Record<'token' | 'username' | 'password' | 'certificate' | 'key', string>
>;

// Headers that every delivery has already.
const reservedPrefix = /^(webhook|content|x-chatwoot)-/;

/** Seals the values of headers. Errors: 422 for a reserved name, and for one that stands there twice. */
export function sealHeaders(box: SecretBox, headers: readonly { name: string; value: string }[]): GivenHeader[] {
  const names = new Set<string>();
  return headers.map(({ name, value }, index) => {
    const lower = name.toLowerCase();
    const pointer = `/headers/${index}/name`;
    if (!isSettableHeader(name) || reservedPrefix.test(lower))
      throw invalid(pointer, 'reserved', `The service sets the header \`${name}\` itself`);
    if (names.has(lower)) throw invalid(pointer, 'uniqueItems', `The header \`${name}\` stands there twice`);
    names.add(lower);
    return { name, sealed: value === mask ? null : box.seal(value) };
  });
}

/** The headers that replace the `present` ones. Errors: 422 for a kept value where there is none. */
export function replaceHeaders(present: readonly SealedHeader[], given: readonly GivenHeader[]): SealedHeader[] {
  const known = new Map(present.map(({ name, value }) => [name.toLowerCase(), value]));
  return given.map(({ name, sealed }, index) => {
    const value = sealed ?? known.get(name.toLowerCase());
    if (value !== undefined) return { name, value };
    throw invalid(`/headers/${index}/value`, 'masked', `There is no value of the header \`${name}\` to keep: enter it`);
  });
}

/**
 * Seals how a receiver knows the service. Errors: 422 for a missing or foreign field, and for a certificate that is no PEM, has
 * expired, or does not belong to the key.
 */
export function sealAuth(box: SecretBox, given: GivenAuth, now: Date): SealedAuth {
  const { type, ...values } = given;
  const fields: readonly string[] = fieldsOf[type];
  for (const field of fields) {
    if (!Object.hasOwn(values, field)) throw invalid(`/auth/${field}`, 'required', `\`auth.${field}\` is missing`);
  }
  const foreign = Object.keys(values).find((name) => !fields.includes(name));
  if (foreign !== undefined)
    throw invalid(`/auth/${foreign}`, 'additionalProperties', `\`auth.${foreign}\` is not of the type ${type}`);
  if (type === 'mtls') checkCertificate(values.certificate ?? '', values.key ?? '', now);
  return { type, sealed: box.seal(JSON.stringify(given)) };
}

function checkCertificate(certificate: string, key: string, now: Date): void {
  const parsed = attempt('/auth/certificate', 'must be a certificate in PEM', () => new X509Certificate(certificate));
  if (new Date(parsed.validTo) <= now) throw invalid('/auth/certificate', 'expired', '`auth.certificate` has expired');
  const privateKey = attempt('/auth/key', 'must be a private key in PEM, without a passphrase', () =>
    createPrivateKey(key),
  );
  if (!parsed.checkPrivateKey(privateKey))
    throw invalid('/auth/key', 'mismatch', '`auth.key` does not belong to the certificate');
  attempt('/auth/certificate', 'is not accepted for TLS', () => createSecureContext({ cert: certificate, key }));
}

// OpenSSL's messages would not help, and might quote what was sent.
function attempt<Result>(pointer: string, words: string, read: () => Result): Result {
  try {
    return read();
  } catch {
    throw invalid(pointer, 'format', `\`${pointer.slice(1).replace('/', '.')}\` ${words}`);
  }
}

/** Refuses (422) two authorizations at once, and a client certificate for an address without TLS. */
export function checkTogether({
  url,
  headers,
  auth,
}: {
  url: string;
  headers: SealedHeader[];
  auth: SealedAuth | null;
}) {
  const index = headers.findIndex(({ name }) => name.toLowerCase() === 'authorization');
  if (index >= 0 && auth && auth.type !== 'mtls')
    throw invalid(`/headers/${index}/name`, 'reserved', 'The header `authorization` is set by `auth`');
  if (auth?.type === 'mtls' && !/^https:/i.test(url))
    throw invalid('/auth/type', 'scheme', 'A client certificate needs a URL that starts with https://');
}

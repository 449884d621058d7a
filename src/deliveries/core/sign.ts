import { createHmac, createSecretKey } from 'node:crypto';
import { keepResults } from '../../lib/keep-results.ts';
import type { Endpoint } from './endpoint.ts';

/** The parts of an attempt that are signed. */
export interface Signable {
  /** The same in all attempts of a delivery; without a dot, which separates the signed parts. */
  readonly id: string;
  /** The moment of this attempt. */
  readonly timestamp: Date;
  /** The exact bytes of the body. */
  readonly body: string | Buffer;
  /** `whsec_…`, at least one; two while a secret rotates. */
  readonly secrets: readonly string[];
}

/** The three headers of Standard Webhooks. */
export interface SignatureHeaders {
  readonly 'webhook-id': string;
  /** Unix seconds. */
  readonly 'webhook-timestamp': string;
  /** `v1,` + base64 of HMAC-SHA256, one per secret, separated by a space. */
  readonly 'webhook-signature': string;
}

/**
 * The id under which an endpoint gets an event: the same in every attempt and resend, so that the receiver can recognize
 * repetitions.
 */
export function messageIdOf(eventId: number, { kind, id }: Endpoint): string {
  return `evt_${eventId}_${kind}_${id}`;
}

/** Signs an attempt as Standard Webhooks 1.0.0 says. Throws when there is no secret, or the id contains a dot. */
export function signatureHeaders({ id, timestamp, body, secrets }: Signable): SignatureHeaders {
  if (secrets.length === 0) throw new Error('A delivery cannot be signed without a secret.');
  if (id.includes('.')) throw new Error('A webhook id may not contain a dot.');
  const seconds = String(Math.floor(timestamp.getTime() / 1_000));
  return {
    'webhook-id': id,
    'webhook-timestamp': seconds,
    'webhook-signature': secrets.map((secret) => `v1,${mac(secret, `${id}.${seconds}.`, body)}`).join(' '),
  };
}

function mac(secret: string, prefix: string, body: string | Buffer): string {
  return createHmac('sha256', keyOf(secret)).update(prefix).update(body).digest('base64');
}

const maxKeys = 1_000;

// Kept, because Node takes several times as long to sign with the bytes of a key.
const keyOf = keepResults(maxKeys, (secret) => createSecretKey(Buffer.from(secret.replace(/^whsec_/, ''), 'base64')));

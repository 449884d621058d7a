import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Random } from '../../lib/ports.ts';

const secretBytes = 32;
const hexHash = /^[0-9a-f]{64}$/i;

/** A new secret with which a site's server proves who its visitors are: 256 random bits as base64url. */
export function newIdentitySecret(random: Random): string {
  return random.bytes(secretBytes).toString('base64url');
}

/** The proof that a site's server computes: HMAC-SHA256 of the identifier, keyed with the secret's text, in hex. */
function identityProof(secret: string, identifier: string): string {
  return createHmac('sha256', secret).update(identifier).digest('hex');
}

/** Whether `proof` proves the identifier by one of the secrets. */
export function isIdentityProven(secrets: readonly string[], identifier: string, proof: string): boolean {
  if (!hexHash.test(proof)) return false;
  const given = Buffer.from(proof, 'hex');
  return secrets.some((secret) => timingSafeEqual(given, Buffer.from(identityProof(secret, identifier), 'hex')));
}

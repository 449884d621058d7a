import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Random } from '../../lib/ports.ts';

const secretBytes = 32;
const hexHash = /^[0-9a-f]{64}$/i;

/** A new secret by which the server of a web site vouches for its visitors: 256 random bits as base64url. */
export function newIdentitySecret(random: Random): string {
  return random.bytes(secretBytes).toString('base64url');
}

/** What such a server computes for a visitor: HMAC-SHA256 of the identifier, keyed by the secret's text, in hex. */
function identityProof(secret: string, identifier: string): string {
  return createHmac('sha256', secret).update(identifier).digest('hex');
}

/** Whether the proof is that of the identifier under one of the secrets. */
export function isIdentityProven(secrets: readonly string[], identifier: string, proof: string): boolean {
  if (!hexHash.test(proof)) return false;
  const given = Buffer.from(proof, 'hex');
  return secrets.some((secret) => timingSafeEqual(given, Buffer.from(identityProof(secret, identifier), 'hex')));
}

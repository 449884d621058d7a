import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Visit } from '../../domain/widget/visits.ts';
import { invalid } from '../../errors.ts';
import type { Random } from '../../lib/ports.ts';
import type { SecretBox } from '../../lib/secrets/secret-box.ts';

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

/** The identifier that a visitor claims, and its proof. */
interface Claim {
  identifier?: string | null;
  identifier_hash?: string | null;
}

/**
 * The site's identifier of the visitor; null where there is none, or no proof of it: an error would reveal which identifiers
 * exist. Errors: 422 for a proof that is wrong.
 */
export function provenIdentifier(
  { identitySecrets }: Visit,
  { identifier, identifier_hash: proof }: Claim,
  box: SecretBox,
): string | null {
  if (!identifier || !proof) return null;
  const secrets = identitySecrets.map((sealed) => box.open(sealed));
  if (isIdentityProven(secrets, identifier, proof)) return identifier;
  throw invalid(
    '/identifier_hash',
    'proof',
    "`identifier_hash` is not the proof of this identifier by the inbox's identity secret",
  );
}

// Whether `proof` proves the identifier by one of the secrets.
function isIdentityProven(secrets: readonly string[], identifier: string, proof: string): boolean {
  if (!hexHash.test(proof)) return false;
  const given = Buffer.from(proof, 'hex');
  return secrets.some((secret) => timingSafeEqual(given, Buffer.from(identityProof(secret, identifier), 'hex')));
}

import { verify } from 'node:crypto';
import { readPublicKey } from '../lib/public-key.ts';

/** The key, as it was given, whose signature (base64) this is; null when it is no trusted key's. */
export function findSigner(filesHash: string, signature: string | null, trustedKeys: readonly string[]): string | null {
  if (signature === null) return null;
  const bytes = Buffer.from(signature, 'base64');
  const signer = trustedKeys.find((text) => {
    const key = readPublicKey(text);
    return key !== null && verify(null, signedText(filesHash), key, bytes);
  });
  return signer ?? null;
}

/** What is signed for a package whose files have this SHA-256. */
function signedText(filesHash: string): Buffer {
  return Buffer.from(`switchboard-plugin-1\n${filesHash}\n`);
}

import { createPrivateKey, sign, verify, type KeyObject } from 'node:crypto';
import { readPublicKey } from '../../lib/secrets/public-key.ts';
import { addFiles } from './add-files.ts';

/** Returns the trusted key, as configured, that made the signature (base64); null when none did. */
export function findSigner(filesHash: string, signature: string | null, trustedKeys: readonly string[]): string | null {
  if (signature === null) return null;
  const bytes = Buffer.from(signature, 'base64');
  const signer = trustedKeys.find((text) => {
    const key = readPublicKey(text);
    return key !== null && verify(null, signedText(filesHash), key, bytes);
  });
  return signer ?? null;
}

/**
 * The archive with a signature of its files, which must have none yet. Null when the text is no private key of Ed25519 in
 * PEM.
 */
export function addSignature(archive: Buffer, filesHash: string, pem: string): Buffer | null {
  const key = readPrivateKey(pem);
  if (!key) return null;
  const content = Buffer.from(`${sign(null, signedText(filesHash), key).toString('base64')}\n`);
  return addFiles(archive, new Map([['plugin.sig', content]]));
}

function readPrivateKey(pem: string): KeyObject | null {
  try {
    const key = createPrivateKey(pem);
    return key.asymmetricKeyType === 'ed25519' ? key : null;
  } catch {
    return null;
  }
}

// The text to sign for a package whose files have this SHA-256.
function signedText(filesHash: string): Buffer {
  return Buffer.from(`switchboard-plugin-1\n${filesHash}\n`);
}

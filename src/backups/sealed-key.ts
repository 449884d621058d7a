import { createCipheriv, createDecipheriv, scryptSync } from 'node:crypto';
import { OperatorError } from '../lib/operator-error.ts';
import { systemRandom } from '../lib/ports.ts';

/** SECRET_KEY under a passphrase; salt, nonce, tag and text in base64url. */
export interface SealedKey {
  cost: number;
  salt: string;
  nonce: string;
  tag: string;
  text: string;
}

const cipherName = 'aes-256-gcm';
const keyBytes = 32;
const nonceBytes = 12;
const saltBytes = 16;
const tagBytes = 16;
// 64 MiB and a quarter of a second for each guess at the passphrase.
const scryptCost = 65_536;
const maxScryptCost = 1_048_576;
const blockSize = 8;
const purpose = Buffer.from('switchboard backup key v1');

/** Seals SECRET_KEY with a passphrase. */
export function sealKey(secretKey: string, passphrase: string): SealedKey {
  const [salt, nonce] = [systemRandom.bytes(saltBytes), systemRandom.bytes(nonceBytes)];
  const cipher = createCipheriv(cipherName, derive(passphrase, salt, scryptCost), nonce, { authTagLength: tagBytes });
  cipher.setAAD(purpose);
  const text = Buffer.concat([cipher.update(secretKey, 'utf8'), cipher.final()]);
  const [sealedSalt, sealedNonce, tag, sealed] = [salt, nonce, cipher.getAuthTag(), text].map((bytes) =>
    bytes.toString('base64url'),
  ) as [string, string, string, string];
  return { cost: scryptCost, salt: sealedSalt, nonce: sealedNonce, tag, text: sealed };
}

/** Opens a sealed SECRET_KEY. Throws OperatorError for another passphrase. */
export function openKey({ cost, salt, nonce, tag, text }: SealedKey, passphrase: string): string {
  const key = derive(passphrase, fromText(salt), Math.min(cost, maxScryptCost));
  const decipher = createDecipheriv(cipherName, key, fromText(nonce), { authTagLength: tagBytes });
  decipher.setAAD(purpose).setAuthTag(fromText(tag));
  try {
    return Buffer.concat([decipher.update(fromText(text)), decipher.final()]).toString('utf8');
  } catch {
    throw new OperatorError('The passphrase is wrong: it does not open the key in this backup. Nothing was restored.');
  }
}

function derive(passphrase: string, salt: Buffer, cost: number): Buffer {
  return scryptSync(passphrase, salt, keyBytes, { N: cost, r: blockSize, maxmem: 2 * 128 * cost * blockSize });
}

function fromText(text: string): Buffer {
  return Buffer.from(text, 'base64url');
}

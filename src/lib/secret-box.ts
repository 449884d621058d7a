import { createCipheriv, createDecipheriv, scryptSync } from 'node:crypto';
import type { Random } from './ports.ts';

/** Encrypts and decrypts the secrets that the database keeps. */
export interface SecretBox {
  /** The text encrypted, as `v1.` + base64url of nonce, tag and ciphertext; another nonce each time. */
  seal(text: string): string;
  /** The text again. Throws SecretUnreadableError when the key differs, or the sealed text was changed. */
  open(sealed: string): string;
}

/** A stored secret that this key does not open. The message names neither the secret nor the sealed text. */
export class SecretUnreadableError extends Error {
  override name = 'SecretUnreadableError';

  constructor() {
    super(
      'A stored secret cannot be opened: it was sealed with another SECRET_KEY, or it was changed in the database.',
    );
  }
}

const VERSION = 'v1';
const CIPHER = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const SEALED = /^v1\.([A-Za-z0-9_-]+)$/;
/** The salt only separates this use of SECRET_KEY from others: it has to be the same in every process. */
const SALT = 'switchboard secret box v1';
const WEBHOOK_SECRET_BYTES = 32;

/** A box for one SECRET_KEY. The key is derived once, by scrypt (about 50 ms), because SECRET_KEY may be a passphrase. */
export function createSecretBox(secretKey: string, random: Random): SecretBox {
  if (secretKey === '') throw new Error('SECRET_KEY is empty.');
  const key = scryptSync(secretKey, SALT, KEY_BYTES);
  return {
    seal: (text) => seal(key, random.bytes(NONCE_BYTES), text),
    open: (sealed) => open(key, sealed),
  };
}

/** A new signing secret in the Standard Webhooks form: `whsec_` + base64 of 32 random bytes. */
export function newWebhookSecret(random: Random): string {
  return `whsec_${random.bytes(WEBHOOK_SECRET_BYTES).toString('base64')}`;
}

function seal(key: Buffer, nonce: Buffer, text: string): string {
  const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES });
  cipher.setAAD(Buffer.from(VERSION));
  const ciphertext = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return `${VERSION}.${Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]).toString('base64url')}`;
}

function open(key: Buffer, sealed: string): string {
  const bytes = Buffer.from(SEALED.exec(sealed)?.[1] ?? '', 'base64url');
  if (bytes.length < NONCE_BYTES + TAG_BYTES) throw new SecretUnreadableError();
  const decipher = createDecipheriv(CIPHER, key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES });
  decipher.setAAD(Buffer.from(VERSION));
  decipher.setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
  const text = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES));
  try {
    return Buffer.concat([text, decipher.final()]).toString('utf8');
  } catch {
    // The cipher's own error says "unable to authenticate data", which tells an operator nothing to do.
    throw new SecretUnreadableError();
  }
}

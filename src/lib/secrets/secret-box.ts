import {
  createCipheriv,
  createDecipheriv,
  createHmac,
  createSecretKey,
  hkdfSync,
  scryptSync,
  type KeyObject,
} from 'node:crypto';
import type { Random } from '../ports.ts';

/** Encrypts and decrypts secrets that are stored in the database. */
export interface SecretBox {
  /** Encrypts a text to `v1.` + base64url of nonce, tag and ciphertext, with a new nonce each time. */
  seal: (text: string) => string;
  /** Decrypts a sealed text. Throws SecretUnreadableError if the key differs or the sealed text was changed. */
  open: (sealed: string) => string;
  /** The HMAC of a text, by a key that nothing else uses. */
  mac: (text: string) => Buffer;
}

/** Thrown for a stored secret that cannot be decrypted. The message contains neither the secret nor the sealed text. */
export class SecretUnreadableError extends Error {
  override name = 'SecretUnreadableError';

  constructor() {
    super(
      'A stored secret cannot be opened: it was sealed with another SECRET_KEY, or it was changed in the database.',
    );
  }
}

const formatVersion = 'v1';
const cipherName = 'aes-256-gcm';
const keyBytes = 32;
const nonceBytes = 12;
const tagBytes = 16;
const sealedText = /^v1\.([A-Za-z0-9_-]+)$/;
/** Separates this use of SECRET_KEY from others. Constant, because every process has to derive the same key. */
const keySalt = 'switchboard secret box v1';
const macPurpose = 'switchboard links v1';
const webhookSecretBytes = 32;

/** A box for one SECRET_KEY. Derives the key with scrypt (about 50 ms), because SECRET_KEY may be a passphrase. */
export function createSecretBox(secretKey: string, random: Random): SecretBox {
  if (secretKey === '') throw new Error('SECRET_KEY is empty.');
  const key = deriveKey(secretKey);
  const macKey = createSecretKey(Buffer.from(hkdfSync('sha256', key, '', macPurpose, keyBytes)));
  return {
    seal: (text) => seal(key, random.bytes(nonceBytes), text),
    open: (sealed) => open(key, sealed),
    mac: (text) => createHmac('sha256', macKey).update(text).digest(),
  };
}

// A process has one SECRET_KEY, and makes several boxes where commands and tests run in it.
let lastDerived: { secretKey: string; key: KeyObject } | null = null;

function deriveKey(secretKey: string): KeyObject {
  if (lastDerived?.secretKey === secretKey) return lastDerived.key;
  // As a KeyObject, because Node takes five times as long with the bytes.
  const key = createSecretKey(scryptSync(secretKey, keySalt, keyBytes));
  lastDerived = { secretKey, key };
  return key;
}

/** A new signing secret in the Standard Webhooks form: `whsec_` + base64 of 32 random bytes. */
export function newWebhookSecret(random: Random): string {
  return `whsec_${random.bytes(webhookSecretBytes).toString('base64')}`;
}

function seal(key: KeyObject, nonce: Buffer, text: string): string {
  const cipher = createCipheriv(cipherName, key, nonce, { authTagLength: tagBytes });
  cipher.setAAD(Buffer.from(formatVersion));
  const ciphertext = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()]);
  return `${formatVersion}.${Buffer.concat([nonce, cipher.getAuthTag(), ciphertext]).toString('base64url')}`;
}

function open(key: KeyObject, sealed: string): string {
  const bytes = Buffer.from(sealedText.exec(sealed)?.[1] ?? '', 'base64url');
  if (bytes.length < nonceBytes + tagBytes) throw new SecretUnreadableError();
  const decipher = createDecipheriv(cipherName, key, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes });
  decipher.setAAD(Buffer.from(formatVersion));
  decipher.setAuthTag(bytes.subarray(nonceBytes, nonceBytes + tagBytes));
  const text = decipher.update(bytes.subarray(nonceBytes + tagBytes));
  try {
    return Buffer.concat([text, decipher.final()]).toString('utf8');
  } catch {
    // OpenSSL's message, "unable to authenticate data", would not help an operator.
    throw new SecretUnreadableError();
  }
}

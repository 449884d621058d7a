import { createPublicKey, type KeyObject } from 'node:crypto';

// The beginning of a DER-encoded public key of Ed25519; the 32 bytes of the key follow.
const derPrefix = Buffer.from('302a300506032b6570032100', 'hex');
const keyBytes = 32;

/** A public key of Ed25519 from base64: its 32 bytes, or those of its DER form. Null when the text is neither. */
export function readPublicKey(text: string): KeyObject | null {
  const bytes = Buffer.from(text, 'base64');
  const der = bytes.length === keyBytes ? Buffer.concat([derPrefix, bytes]) : bytes;
  if (der.length !== derPrefix.length + keyBytes || !der.subarray(0, derPrefix.length).equals(derPrefix)) return null;
  return createPublicKey({ key: der, format: 'der', type: 'spki' });
}

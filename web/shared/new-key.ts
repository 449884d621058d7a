/** A random key of 128 bits, in hexadecimal digits. `crypto.randomUUID` exists on pages of https only. */
export function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}

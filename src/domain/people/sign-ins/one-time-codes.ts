import { createHmac, timingSafeEqual } from 'node:crypto';

const stepMs = 30_000;
const digits = 6;
/** Clocks may differ by a step either way. */
const drift = 1;
const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** Writes bytes in base32, as authenticator apps read secrets. */
export function toBase32(bytes: Buffer): string {
  const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, '0')).join('');
  const groups = bits.match(/.{1,5}/g) ?? [];
  return groups.map((group) => alphabet.charAt(Number.parseInt(group.padEnd(5, '0'), 2))).join('');
}

/** The code of a secret at a time step (RFC 6238: SHA-1, 30 seconds, 6 digits). */
export function codeAt(secret: Buffer, step: number): string {
  const counter = Buffer.alloc(8);
  counter.writeBigUInt64BE(BigInt(step));
  const mac = createHmac('sha1', secret).update(counter).digest();
  const offset = mac.readUInt8(mac.length - 1) % 16;
  const number = mac.readUInt32BE(offset) % 2 ** 31;
  return String(number % 10 ** digits).padStart(digits, '0');
}

/** The time step at a moment. */
export function stepOf(now: Date): number {
  return Math.floor(now.getTime() / stepMs);
}

/** The time step, later than `last`, whose code this is; null for a wrong code, an old one, and one that was used. */
export function findStep(secret: Buffer, code: string, { last, now }: { last: number; now: Date }): number | null {
  if (code.length !== digits) return null;
  const given = Buffer.from(code);
  for (let step = stepOf(now) - drift; step <= stepOf(now) + drift; step++) {
    const expected = Buffer.from(codeAt(secret, step));
    if (step > last && given.length === expected.length && timingSafeEqual(given, expected)) return step;
  }
  return null;
}

import { codeAt, stepOf } from '../../src/domain/people/sign-ins/one-time-codes.ts';

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567';

/** The code that an authenticator app shows for a secret in base32, some steps from a moment. */
export function codeOf(secret: string, now: Date = new Date(), steps = 0): string {
  const bits = Array.from(secret, (letter) => alphabet.indexOf(letter).toString(2).padStart(5, '0')).join('');
  const bytes = (bits.match(/.{8}/g) ?? []).map((byte) => Number.parseInt(byte, 2));
  return codeAt(Buffer.from(bytes), stepOf(now) + steps);
}

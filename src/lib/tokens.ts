import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Random } from './ports.ts';

/** Who a token speaks for: a person (`swu_`), a bot (`swb_`), a contact (`swc_`), or whoever an invitation (`swi_`) was sent to. */
export type TokenKind = 'user' | 'bot' | 'contact' | 'invitation';

const PREFIX: Record<TokenKind, string> = { user: 'swu_', bot: 'swb_', contact: 'swc_', invitation: 'swi_' };
const OUR_PREFIX = /^sw[ubci]_/;
const SHAPE = /^sw[ubci]_[0-9A-Za-z]{49}$/;
const ALPHABET = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RANDOM_BYTES = 32;
/** 62^43 is just above 2^256. */
const RANDOM_CHARS = 43;
/** 62^6 is above 2^32. */
const CHECKSUM_CHARS = 6;

/** A new API token: prefix, 256 random bits in 43 base62 characters, CRC-32 in 6. Shown to its owner once, never stored. */
export function newToken(kind: TokenKind, random: Random): string {
  const number = BigInt(`0x${random.bytes(RANDOM_BYTES).toString('hex')}`);
  const unsealed = PREFIX[kind] + base62(number, RANDOM_CHARS);
  return unsealed + checksum(unsealed);
}

/** What the database keeps of a token: its SHA-256. 256 random bits need no slow hash. */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/**
 * True when a token carries our prefix but not our checksum: nobody can own it, so it is answered 401 without a query.
 * A token without our prefix is not judged here.
 */
export function looksForged(token: string): boolean {
  if (!OUR_PREFIX.test(token)) return false;
  if (!SHAPE.test(token)) return true;
  return checksum(token.slice(0, -CHECKSUM_CHARS)) !== token.slice(-CHECKSUM_CHARS);
}

/** The four characters by which an owner recognises a token in a list. */
export function lastFour(token: string): string {
  return token.slice(-4);
}

function checksum(text: string): string {
  return base62(BigInt(crc32(text)), CHECKSUM_CHARS);
}

function base62(number: bigint, length: number): string {
  let rest = number;
  let text = '';
  while (text.length < length) {
    text = ALPHABET.charAt(Number(rest % 62n)) + text;
    rest /= 62n;
  }
  return text;
}

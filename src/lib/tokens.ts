import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Random } from './ports.ts';

/** Who a token speaks for: a person (`swu_`), a bot (`swb_`), a contact (`swc_`), or whoever an invitation (`swi_`) was sent to. */
export type TokenKind = 'user' | 'bot' | 'contact' | 'invitation';

const prefixOf: Record<TokenKind, string> = { user: 'swu_', bot: 'swb_', contact: 'swc_', invitation: 'swi_' };
const ourPrefix = /^sw[ubci]_/;
const tokenShape = /^sw[ubci]_[0-9A-Za-z]{49}$/;
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const entropyBytes = 32;
/** 62^43 is just above 2^256. */
const entropyChars = 43;
/** 62^6 is above 2^32. */
const checksumChars = 6;

/** A new API token: prefix, 256 random bits in 43 base62 characters, CRC-32 in 6. Shown to its owner once, never stored. */
export function newToken(kind: TokenKind, random: Random): string {
  const number = BigInt(`0x${random.bytes(entropyBytes).toString('hex')}`);
  const unsealed = prefixOf[kind] + base62(number, entropyChars);
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
  if (!ourPrefix.test(token)) return false;
  if (!tokenShape.test(token)) return true;
  return checksum(token.slice(0, -checksumChars)) !== token.slice(-checksumChars);
}

/** The four characters by which an owner recognises a token in a list. */
export function lastFour(token: string): string {
  return token.slice(-4);
}

function checksum(text: string): string {
  return base62(BigInt(crc32(text)), checksumChars);
}

function base62(number: bigint, length: number): string {
  let rest = number;
  let text = '';
  while (text.length < length) {
    text = alphabet.charAt(Number(rest % 62n)) + text;
    rest /= 62n;
  }
  return text;
}

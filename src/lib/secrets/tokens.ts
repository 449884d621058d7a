import { createHash } from 'node:crypto';
import { crc32 } from 'node:zlib';
import type { Random } from '../ports.ts';

/**
 * The holder of a token: a person (`swu_`), a bot (`swb_`), a contact (`swc_`) or the invited person (`swi_`); a ticket
 * (`swt_`) lets its holder in once; a sign-in (`sws_`) is what a browser has of a person, in its cookie; a link that shares a
 * webhook (`sww_`) opens its log; a hook's (`swh_`) is the last part of its URL.
 */
export type TokenKind = 'user' | 'bot' | 'contact' | 'invitation' | 'ticket' | 'sign-in' | 'webhook' | 'hook';

const prefixOf: Record<TokenKind, string> = {
  user: 'swu_',
  bot: 'swb_',
  contact: 'swc_',
  invitation: 'swi_',
  ticket: 'swt_',
  'sign-in': 'sws_',
  webhook: 'sww_',
  hook: 'swh_',
};
const ourPrefix = /^sw[ubcitswh]_/;
const tokenShape = /^sw[ubcitswh]_[0-9A-Za-z]{49}$/;
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const entropyBytes = 32;
/** 62^43 is just above 2^256. */
const entropyChars = 43;
/** 62^6 is above 2^32. */
const checksumChars = 6;

/** Creates a token: a prefix, 256 random bits as 43 base62 characters, their CRC-32 as 6. Shown once, never stored. */
export function newToken(kind: TokenKind, random: Random): string {
  const number = BigInt(`0x${random.bytes(entropyBytes).toString('hex')}`);
  const unsealed = prefixOf[kind] + base62(number, entropyChars);
  return unsealed + checksum(unsealed);
}

/** The SHA-256 of a token, which is stored instead of it. 256 random bits need no slow hash. */
export function hashToken(token: string): Buffer {
  return createHash('sha256').update(token).digest();
}

/**
 * True for a token with our prefix and a wrong checksum: it cannot exist, so that a request with it is answered 401
 * without a query. False for every token without our prefix.
 */
export function looksForged(token: string): boolean {
  if (!hasOurPrefix(token)) return false;
  if (!tokenShape.test(token)) return true;
  return checksum(token.slice(0, -checksumChars)) !== token.slice(-checksumChars);
}

/** Whether the token has the prefix of those that the service makes, which nobody can guess. */
export function hasOurPrefix(token: string): boolean {
  return ourPrefix.test(token);
}

/** Whether the token is a sign-in, by its prefix. */
export function isSignIn(token: string): boolean {
  return token.startsWith(prefixOf['sign-in']);
}

/** The last four characters, by which owners recognise a token in a list. */
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

// Texts of mails: a run knows UTF-8 alone, and people write in other encodings too. Bytes are letters up to U+00FF here, as of `atob`.
import { charsets } from './charsets.ts';

const aliases: Readonly<Record<string, string>> = {
  'us-ascii': 'windows-1252',
  ascii: 'windows-1252',
  latin1: 'windows-1252',
  'iso-8859-1': 'windows-1252',
  'iso-8859-9': 'windows-1254',
};
const word = /=\?([\w-]{1,40})(?:\*[\w-]{0,20})?\?([bq])\?([^?\s]{0,2000})\?=/gi;

/** Returns the text of bytes. Encodings with several bytes for a letter, besides UTF-8, are read as UTF-8. */
export function textOfBytes(bytes: string, charset = 'utf-8'): string {
  const name = charset.trim().toLowerCase();
  const letters = charsets[aliases[name] ?? name];
  if (letters === undefined || bytes.length === 0)
    return new TextDecoder().decode(Uint8Array.from(bytes, (letter) => letter.charCodeAt(0) & 255));
  return bytes.replace(/[\u0080-\u00ff]/g, (letter) => letters[letter.charCodeAt(0) - 128] ?? '\uFFFD');
}

/** Returns the bytes of base64, whatever lies between its letters; none for what is no base64. */
export function bytesOfBase64(text: string): string {
  const letters = text.replace(/[^A-Za-z0-9+/]+/g, '');
  return atob(letters.length % 4 === 1 ? letters.slice(0, -1) : letters);
}

/** Returns the bytes of a quoted-printable text. */
export function bytesOfQuoted(text: string): string {
  return text.replace(/=[ \t]{0,100}\n/g, '').replace(/=([0-9A-F]{2})/gi, (_, code: string) => letterOf(code));
}

/** Returns a header with its encoded words in clear (RFC 2047). */
export function headerText(raw: string): string {
  const joined = raw.replace(/\?=\s{1,20}(?==\?)/g, '?=');
  const clear = joined.replace(word, (_, charset: string, way: string, text: string) => {
    const bytes = way.toLowerCase() === 'b' ? bytesOfBase64(text) : bytesOfQuoted(text.replaceAll('_', ' '));
    return escapedText(textOfBytes(bytes, charset));
  });
  return unescapedText(clear);
}

/** Returns a value with its bytes in clear (RFC 2231), such as `utf-8''a%20b`. */
export function extendedText(value: string): string {
  const [, charset = 'utf-8', text = value] = /^([\w-]{0,40})'[^']{0,40}'(.*)$/s.exec(value) ?? [];
  return textOfBytes(
    text.replace(/%([0-9A-F]{2})/gi, (_, code: string) => letterOf(code)),
    charset,
  );
}

// Bytes of UTF-8 may surround the words: those alone are decoded after the words.
function escapedText(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replaceAll('%', '\uE000');
}

function unescapedText(text: string): string {
  return text
    .split(/((?:\uE000[0-9A-F]{2})+)/)
    .map((part) => (part.startsWith('\uE000') ? safeDecode(part.replaceAll('\uE000', '%')) : textOfBytes(part)))
    .join('');
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function letterOf(code: string): string {
  return String.fromCharCode(Number.parseInt(code, 16));
}

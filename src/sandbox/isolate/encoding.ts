// Runs inside the isolate before the bot is loaded (see bootstrap.ts). V8 itself has no encodings.

const SafeRangeError = RangeError;
const SafeTypeError = TypeError;
const SafeUint8Array = Uint8Array;
const { fromCharCode } = String;

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const utf8Labels = ['utf-8', 'utf8', 'unicode-1-1-utf-8'];
/** The bits with which a letter begins that has so many further bytes. */
const leads = [0, 0xc0, 0xe0, 0xf0];
const replacement = '\uFFFD';

/** `TextEncoder` of the Encoding Standard. */
export function textEncoder(): unknown {
  return class TextEncoder {
    get encoding(): string {
      return 'utf-8';
    }

    encode(text: unknown = ''): Uint8Array {
      return bytesOf(String(text));
    }

    encodeInto(text: unknown, target: Uint8Array): { read: number; written: number } {
      let [read, written] = [0, 0];
      for (const letter of String(text)) {
        const bytes = bytesOf(letter);
        if (written + bytes.length > target.length) break;
        target.set(bytes, written);
        read += letter.length;
        written += bytes.length;
      }
      return { read, written };
    }
  };
}

interface DecoderOptions {
  fatal?: boolean;
  ignoreBOM?: boolean;
}

/** `TextDecoder` of the Encoding Standard, for UTF-8 alone. */
export function textDecoder(): unknown {
  return class TextDecoder {
    readonly #fatal: boolean;
    readonly #ignoreBom: boolean;
    #rest = new SafeUint8Array(0);
    #hasBegun = false;

    constructor(label: unknown = 'utf-8', { fatal = false, ignoreBOM = false }: DecoderOptions = {}) {
      if (!utf8Labels.includes(String(label).trim().toLowerCase()))
        throw new SafeRangeError(`TextDecoder: only utf-8 is known here, not ${String(label)}`);
      this.#fatal = fatal;
      this.#ignoreBom = ignoreBOM;
    }

    get encoding(): string {
      return 'utf-8';
    }

    get fatal(): boolean {
      return this.#fatal;
    }

    get ignoreBOM(): boolean {
      return this.#ignoreBom;
    }

    decode(input: unknown = new SafeUint8Array(0), { stream = false }: { stream?: boolean } = {}): string {
      const bytes = joined(this.#rest, viewOf(input));
      const { text, at } = decodeBytes(bytes, { fatal: this.#fatal, isWhole: !stream });
      this.#rest = bytes.slice(at);
      const isBegin = !this.#hasBegun && text !== '';
      this.#hasBegun = stream && (this.#hasBegun || isBegin);
      return isBegin && !this.#ignoreBom && text[0] === '\uFEFF' ? text.slice(1) : text;
    }
  };
}

/** Base64 of a text whose characters stand for bytes, as `btoa` of browsers. */
export function toBase64(value: unknown): string {
  const text = String(value);
  let encoded = '';
  for (let at = 0; at < text.length; at += 3) {
    const bits = (byteAt(text, at) << 16) | (byteAt(text, at + 1) << 8) | byteAt(text, at + 2);
    const letters = [18, 12, 6, 0].map((shift) => alphabet[(bits >> shift) & 63]);
    encoded += letters
      .slice(0, Math.min(4, text.length - at + 1))
      .join('')
      .padEnd(4, '=');
  }
  return encoded;
}

/** The text whose characters stand for the bytes of base64, as `atob` of browsers. */
export function fromBase64(value: unknown): string {
  const spaceless = String(value).replace(/[\t\n\f\r ]+/g, '');
  const text = spaceless.length % 4 === 0 ? spaceless.replace(/={1,2}$/, '') : spaceless;
  if (text.length % 4 === 1 || /[^A-Za-z0-9+/]/.test(text)) throw invalidCharacter('atob: the text is no base64');
  let [decoded, bits, count] = ['', 0, 0];
  for (const letter of text) {
    bits = ((bits << 6) | alphabet.indexOf(letter)) & 0xffffff;
    count += 6;
    if (count < 8) continue;
    count -= 8;
    decoded += fromCharCode((bits >> count) & 255);
  }
  return decoded;
}

function byteAt(text: string, at: number): number {
  const code = at < text.length ? text.charCodeAt(at) : 0;
  if (code > 255)
    throw invalidCharacter('btoa: the text has a character above U+00FF; encode it with TextEncoder first');
  return code;
}

function invalidCharacter(message: string): Error {
  const error = new Error(message);
  error.name = 'InvalidCharacterError';
  return error;
}

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  const bytes = new SafeUint8Array(text.length * 3);
  let length = 0;
  for (const letter of text.toWellFormed()) {
    const code = letter.codePointAt(0) ?? 0;
    const extra = code < 0x80 ? 0 : code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
    bytes[length] = (code >> (6 * extra)) | (leads[extra] ?? 0);
    for (let more = 1; more <= extra; more += 1) bytes[length + more] = 0x80 | ((code >> (6 * (extra - more))) & 0x3f);
    length += extra + 1;
  }
  return bytes.slice(0, length);
}

function viewOf(input: unknown): Uint8Array {
  if (ArrayBuffer.isView(input)) return new SafeUint8Array(input.buffer, input.byteOffset, input.byteLength);
  if (input instanceof ArrayBuffer) return new SafeUint8Array(input);
  throw new SafeTypeError('TextDecoder.decode takes an ArrayBuffer or a view of one');
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const bytes = new SafeUint8Array(first.length + second.length);
  bytes.set(first);
  bytes.set(second, first.length);
  return bytes;
}

interface Decoding {
  fatal: boolean;
  /** Whether no more bytes follow. */
  isWhole: boolean;
}

/** The text, and where the bytes begin that wait for others. */
function decodeBytes(bytes: Uint8Array, { fatal, isWhole }: Decoding): { text: string; at: number } {
  let [text, at] = ['', 0];
  while (at < bytes.length) {
    const { code, length, isCut } = readLetter(bytes, at);
    if (isCut && !isWhole) break;
    if (code === null && fatal) throw new SafeTypeError('TextDecoder: the bytes are no UTF-8');
    text += code === null ? replacement : String.fromCodePoint(code);
    at += length;
  }
  return { text, at };
}

/** A letter at a place; `code` null for bytes that are none, `isCut` where more bytes could make it one. */
function readLetter(bytes: Uint8Array, at: number): { code: number | null; length: number; isCut?: boolean } {
  const lead = bytes[at] ?? 0;
  if (lead < 0x80) return { code: lead, length: 1 };
  const extra = furtherBytes(lead);
  if (extra === 0) return { code: null, length: 1 };
  let code = lead & (0x3f >> extra);
  for (let more = 1; more <= extra; more += 1) {
    const byte = bytes[at + more];
    if (byte === undefined) return { code: null, length: more, isCut: true };
    if (byte < lowest(lead, more) || byte > highest(lead, more)) return { code: null, length: more };
    code = (code << 6) | (byte & 0x3f);
  }
  return { code, length: extra + 1 };
}

/** The number of bytes that follow the first one of a letter; 0 where none begins with it. */
function furtherBytes(lead: number): number {
  if (lead < 0xc2 || lead > 0xf4) return 0;
  return lead < 0xe0 ? 1 : lead < 0xf0 ? 2 : 3;
}

// Refuses forms that are longer than needed, surrogates, and what is beyond Unicode.
function lowest(lead: number, place: number): number {
  if (place > 1) return 0x80;
  return lead === 0xe0 ? 0xa0 : lead === 0xf0 ? 0x90 : 0x80;
}

function highest(lead: number, place: number): number {
  if (place > 1) return 0xbf;
  return lead === 0xed ? 0x9f : lead === 0xf4 ? 0x8f : 0xbf;
}

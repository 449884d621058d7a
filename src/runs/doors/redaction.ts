/** Values shorter than this are in too many texts by chance. */
const minChars = 4;
/** The same for parts of base64. */
const minEncodedChars = 6;

/** Replaces secrets by their names in everything that a bot, or the record of its run, gets to see. */
export class Redaction {
  readonly #forms = new Map<string, string>();
  readonly #readForms = new Map<string, string>();

  /** From now on the value of this secret is replaced, also where it is written as in JSON, URLs or base64. */
  add(name: string, value: string): void {
    this.hide(value, `[secret ${name}]`);
  }

  /** The same for a value that shows as another text. */
  hide(value: string, hidden: string): void {
    if (value.length < minChars) return;
    const forms = [
      value,
      JSON.stringify(value).slice(1, -1),
      encodeURIComponent(value),
      encodeURIComponent(value).replaceAll('%20', '+'),
      Buffer.from(value).toString('base64'),
      Buffer.from(value).toString('base64url'),
      ...encodedWithin(value),
    ];
    for (const form of forms) {
      this.#forms.set(form, hidden);
      const { text } = readAll(form);
      if (text.length >= minChars) this.#readForms.set(text, hidden);
    }
  }

  /** A copy of a JSON value without the secrets; the value itself when there are none. */
  apply<Value>(value: Value): Value {
    return this.#forms.size === 0 ? value : (this.#in(value) as Value);
  }

  #in(value: unknown): unknown {
    if (typeof value === 'string') return this.#inText(value);
    if (Array.isArray(value)) return value.map((item) => this.#in(item));
    if (typeof value !== 'object' || value === null) return value;
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [this.#inText(name), this.#in(inner)]));
  }

  #inText(text: string): string {
    let hidden = text;
    for (const [form, name] of this.#forms) hidden = hidden.replaceAll(form, () => name);
    return hasEscapes.test(hidden) ? this.#inEscaped(hidden) : hidden;
  }

  // Compared as it reads without escapes; replaced where it stands with them.
  #inEscaped(text: string): string {
    const bare = withoutEscapes(text);
    if (!this.#readForms.keys().some((form) => bare.includes(form))) return text;
    const read = readAll(text);
    const found: { start: number; end: number; hidden: string }[] = [];
    for (const [form, hidden] of this.#readForms) {
      for (let at = read.text.indexOf(form); at !== -1; at = read.text.indexOf(form, at + form.length)) {
        found.push({ start: read.placeOf(at), end: read.placeOf(at + form.length), hidden });
      }
    }
    let [shown, from] = ['', 0];
    for (const { start, end, hidden } of found.sort((one, other) => one.start - other.start)) {
      if (start < from) continue;
      shown += text.slice(from, start) + hidden;
      from = end;
    }
    return shown + text.slice(from);
  }
}

/** How a value shows in the base64 of a longer text, such as user and password: the characters that no other byte decides. */
function encodedWithin(value: string): string[] {
  const bytes = Buffer.from(value);
  const forms = [0, 1, 2].map((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
    return encoded.slice(Math.ceil((before * 4) / 3), Math.floor(((before + bytes.length) * 4) / 3));
  });
  return [...forms, ...forms.map((form) => form.replaceAll('+', '-').replaceAll('/', '_'))].filter(
    ({ length }) => length >= minEncodedChars,
  );
}

const hasEscapes = /\\|%[\da-f]{2}/i;
// A value in JSON in a URL in JSON is still found.
const maxLayers = 4;
// Escapes of JSON and of URLs: pairs of surrogates, UTF-16 and other escapes, bytes.
const escapes = /\\+u(d[89ab][\da-f]{2})\\+u(d[c-f][\da-f]{2})|\\+u([\da-f]{4})|\\+(["/bfnrt])|\\{2,}|%([\da-f]{2})/gi;
const escapesOfText = new RegExp(`${escapes.source}|[^\\0-\\x7f]`, 'giu');
const letters: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

/** Bytes in UTF-8, as characters, and where each of them stands in the text that they were read from. */
interface ReadText {
  text: string;
  placeOf: (at: number) => number;
}

/** Returns the text of `readAll` without the places, which take several times as long. */
function withoutEscapes(text: string): string {
  let read = text.replace(escapesOfText, decode);
  for (let layer = 1; layer < maxLayers && hasEscapes.test(read); layer += 1) read = read.replace(escapes, decode);
  return read;
}

/** A text without its escapes, and without those that it has then. Takes time in proportion to its length. */
function readAll(text: string): ReadText {
  let read = readEscapes(text, escapesOfText);
  for (let layer = 1; layer < maxLayers && hasEscapes.test(read.text); layer += 1) {
    const outer = read;
    const inner = readEscapes(outer.text, escapes);
    read = { text: inner.text, placeOf: (at) => outer.placeOf(inner.placeOf(at)) };
  }
  return read;
}

function readEscapes(text: string, pattern: RegExp): ReadText {
  const pieces: string[] = [];
  // Where each piece begins among the bytes and in the text; within one without escapes all places follow each other.
  const places: { at: number; start: number; length: number }[] = [];
  let [bytes, from] = [0, 0];
  const push = (piece: string, length: number): void => {
    places.push({ at: bytes, start: from, length });
    pieces.push(piece);
    bytes += piece.length;
    from += length;
  };
  for (const match of text.matchAll(pattern)) {
    if (match.index > from) push(text.slice(from, match.index), match.index - from);
    const [whole, high, low, unit, letter, byte] = match;
    push(decode(whole, high, low, unit, letter, byte), whole.length);
  }
  if (from < text.length) push(text.slice(from), text.length - from);
  const placeOf = (at: number): number => {
    if (at >= bytes) return text.length;
    let [low, high] = [0, places.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((places[middle]?.at ?? bytes) <= at) low = middle;
      else high = middle - 1;
    }
    const { at: first, start, length } = places[low] ?? { at: bytes, start: text.length, length: 0 };
    const size = (places[low + 1]?.at ?? bytes) - first;
    if (at === first) return start;
    // An escape is replaced as a whole.
    return size === length ? start + at - first : start + length;
  };
  return { text: pieces.join(''), placeOf };
}

type Group = string | undefined;

function decode(match: string, ...[high, low, unit, letter, byte]: [Group, Group, Group, Group, Group]): string {
  if (high !== undefined && low !== undefined)
    return utf8(String.fromCharCode(Number.parseInt(high, 16), Number.parseInt(low, 16)));
  if (unit !== undefined) return utf8(String.fromCharCode(Number.parseInt(unit, 16)));
  if (letter !== undefined) return letters[letter.toLowerCase()] ?? letter;
  if (byte !== undefined) return String.fromCharCode(Number.parseInt(byte, 16));
  return match.startsWith('\\') ? '\\' : utf8(match);
}

function utf8(text: string): string {
  return Buffer.from(text).toString('latin1');
}

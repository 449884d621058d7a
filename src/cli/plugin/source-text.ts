/** A text or template in a program; `at` is the index of its quote, `text` what is before the first `${`. */
interface Literal {
  at: number;
  text: string;
}

/**
 * A program with comments, texts (but for their first quote) and patterns blanked out, every index as in the original, and its
 * texts.
 */
export interface BlankedSource {
  code: string;
  literals: Literal[];
}

const patternMayFollow = /(?:^|[(,=:[!&|?{};+\-*%~^<>]|\breturn|\btypeof|\bcase)\s*$/;

/** Separates the texts of TypeScript or JavaScript from its code; for looking around in it, not for running it. */
export function blankOut(source: string): BlankedSource {
  return new Blanking(source).result();
}

class Blanking {
  readonly #source: string;
  readonly #literals: Literal[] = [];
  readonly #code: string[] = [];
  // For each open template, how many braces are open within its `${`.
  readonly #templates: number[] = [];
  #at = 0;

  constructor(source: string) {
    this.#source = source;
  }

  result(): BlankedSource {
    while (this.#at < this.#source.length) this.#step();
    return { code: this.#code.join(''), literals: this.#literals };
  }

  #step(): void {
    const two = this.#source.slice(this.#at, this.#at + 2);
    const [one = ''] = two;
    if (two === '//') this.#blankTo(this.#indexOf('\n'));
    else if (two === '/*') this.#blankTo(this.#indexOf('*/', 2) + 2);
    else if (one === "'" || one === '"') this.#text(one);
    else if (one === '`') this.#template();
    else if (one === '/' && patternMayFollow.test(this.#code.slice(-40).join('').slice(-40))) this.#pattern();
    else this.#plain(one);
  }

  #plain(character: string): void {
    const depth = this.#templates.length - 1;
    const open = this.#templates[depth];
    if (open !== undefined && character === '}' && open === 0) {
      this.#templates.pop();
      this.#keep(1);
      this.#template(false);
      return;
    }
    if (open !== undefined && character === '{') this.#templates[depth] = open + 1;
    if (open !== undefined && character === '}') this.#templates[depth] = open - 1;
    this.#keep(1);
  }

  #text(quote: string): void {
    let end = this.#at + 1;
    while (end < this.#source.length && this.#source[end] !== quote && this.#source[end] !== '\n') {
      end += this.#source[end] === '\\' ? 2 : 1;
    }
    this.#literals.push({ at: this.#at, text: this.#source.slice(this.#at + 1, end) });
    this.#keep(1);
    this.#blankTo(end + 1);
  }

  /** A template up to its end or to its next `${`; `isStart` when it begins here. */
  #template(isStart = true): void {
    const begin = this.#at + (isStart ? 1 : 0);
    let end = begin;
    while (end < this.#source.length && this.#source[end] !== '`' && !this.#source.startsWith('${', end)) {
      end += this.#source[end] === '\\' ? 2 : 1;
    }
    if (isStart) {
      this.#literals.push({ at: this.#at, text: this.#source.slice(begin, end) });
      this.#keep(1);
    }
    if (this.#source[end] === '$') {
      this.#blankTo(end + 2);
      this.#templates.push(0);
    } else this.#blankTo(end + 1);
  }

  #pattern(): void {
    let end = this.#at + 1;
    let inClass = false;
    for (; end < this.#source.length && this.#source[end] !== '\n'; end += 1) {
      const character = this.#source[end];
      if (character === '\\') end += 1;
      else if (character === '[') inClass = true;
      else if (character === ']') inClass = false;
      else if (character === '/' && !inClass) break;
    }
    this.#blankTo(end + 1);
  }

  #indexOf(text: string, from = 0): number {
    const found = this.#source.indexOf(text, this.#at + from);
    return found === -1 ? this.#source.length : found;
  }

  #keep(count: number): void {
    this.#code.push(this.#source.slice(this.#at, this.#at + count));
    this.#at += count;
  }

  #blankTo(end: number): void {
    const blank = this.#source.slice(this.#at, end).replace(/[^\n]/g, ' ');
    this.#code.push(blank);
    this.#at = Math.max(end, this.#at + 1);
  }
}

/** The index at which the bracket ends whose inner text begins at `start`; the end of the code when it does not. */
export function endOfBrackets(code: string, start: number): number {
  let depth = 1;
  for (let at = start; at < code.length; at += 1) {
    if ('([{'.includes(code[at] ?? '')) depth += 1;
    if (')]}'.includes(code[at] ?? '')) depth -= 1;
    if (depth === 0) return at;
  }
  return code.length;
}

/** The parts of a list of parameters or arguments, at the commas that are in no bracket. */
export function splitTopLevel(code: string): string[] {
  const parts = [''];
  let depth = 0;
  for (const character of code) {
    if ('([{'.includes(character)) depth += 1;
    if (')]}'.includes(character)) depth -= 1;
    if (character === ',' && depth === 0) parts.push('');
    else parts.push(`${parts.pop() ?? ''}${character}`);
  }
  return parts;
}

/** The number of the line, from 1, in which an index lies. */
export function lineAt(source: string, index: number): number {
  return source.slice(0, index).split('\n').length;
}

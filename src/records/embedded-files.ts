import { isTooDeep } from '../lib/text/json-depth.ts';
import type { Sql } from '../postgres/sql.ts';

type Json = Record<string, unknown>;

/** Characters of a file that a plugin gets with the request. */
const maxChars = 16_384;

/** Empties the larger files of a JSON value, which are at a place such as `/Attachments/*\/Content`. */
export function emptyFiles(json: unknown, place: string): void {
  emptyAt(json, place.split('/').slice(1));
}

function emptyAt(value: unknown, [step, ...rest]: readonly string[]): void {
  if (typeof value !== 'object' || value === null || step === undefined) return;
  const holder = value as Json;
  const names =
    step === '*' && Array.isArray(value) ? Object.keys(value) : [step].filter((one) => Object.hasOwn(value, one));
  for (const name of names) {
    if (rest.length > 0) emptyAt(holder[name], rest);
    else if (typeof holder[name] === 'string' && holder[name].length > maxChars) holder[name] = '';
  }
}

/** Reads files of one request of a hook, whose body is read once. */
export class HookFiles {
  readonly #sql: Sql;
  readonly #place: { accountId: number; requestId: number };
  #json: Promise<unknown> | null = null;

  constructor(sql: Sql, place: { accountId: number; requestId: number }) {
    this.#sql = sql;
    this.#place = place;
  }

  /** Returns the file at a JSON pointer, where it is base64; null where there is none. */
  async read(pointer: string): Promise<Buffer | null> {
    this.#json ??= this.#readBody();
    let value = await this.#json;
    for (const step of pointer.split('/').slice(1)) {
      const isHolder = typeof value === 'object' && value !== null && Object.hasOwn(value, step);
      value = isHolder ? (value as Json)[step] : undefined;
    }
    return typeof value === 'string' ? readBase64(value) : null;
  }

  async #readBody(): Promise<unknown> {
    const { accountId, requestId } = this.#place;
    const [row] = await this.#sql<{ body: Buffer }>(
      'SELECT body FROM hook_requests WHERE account_id = $1 AND id = $2 AND erased_at IS NULL',
      [accountId, requestId],
    );
    try {
      const json: unknown = JSON.parse(row?.body.toString() ?? 'null');
      return isTooDeep(json) ? null : json;
    } catch {
      return null;
    }
  }
}

/** Returns the bytes of base64, which may have line breaks; null for another text. */
export function readBase64(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64');
  const letters = text.replace(/[\s=]+/g, '').length;
  // The decoder skips what is no base64.
  return bytes.length === Math.floor((letters * 3) / 4) ? bytes : null;
}

import { ForbiddenCall } from '../../sandbox/run.ts';
import type { HostCall, Permissions } from '../../sandbox/run.ts';
import { whyFull, type StoredBytes, type StoragePlace, type StorageWrite } from '../../domain/bots/storage.ts';
import { DoorError, UnavailableError } from './errors.ts';

type Scope = NonNullable<Permissions['storage']>['scopes'][number];

/** A bot in an account, and the conversation and the contact of its run. */
export interface StorageOwner {
  accountId: number;
  botId: number;
  /** Null when the event has no conversation. */
  conversationId: number | null;
  /** Null when the event has no contact. */
  contactId: number | null;
}

/** Reads stored values, without expired ones. */
export interface StorageReader {
  /** The value as JSON text; null when there is none. */
  read(place: StoragePlace, key: string, now: Date): Promise<string | null>;
  used(place: StoragePlace, now: Date): Promise<StoredBytes>;
  /** Bytes that the bot may store in all places of the account together. */
  maxBytes: number;
}

interface Known {
  json: string | null;
  bytes: number;
}

const maxKeyChars = 128;
const maxValueBytes = 8_192;
const maxTtlSeconds = 366 * 24 * 3600;

/** `ctx.storage`: reads see the run's own writes, which are collected to be written with its actions. */
export class StorageDoor {
  readonly writes: StorageWrite[] = [];
  readonly #permissions: Permissions;
  readonly #owner: StorageOwner;
  readonly #now: Date;
  readonly #reader: StorageReader | undefined;
  readonly #values = new Map<string, Known>();
  readonly #used = new Map<Scope, number>();
  // Bytes of all scopes, as they were read, and those that this run has added since.
  #total: number | null = null;
  // The last call, which the next one waits for: otherwise the result would depend on which read is faster.
  #last: Promise<unknown> = Promise.resolve();

  constructor(
    { owner, permissions, now }: { owner: StorageOwner; permissions: Permissions; now: Date },
    reader: StorageReader | undefined,
  ) {
    this.#owner = owner;
    this.#permissions = permissions;
    this.#now = now;
    this.#reader = reader;
  }

  get calls(): Record<string, HostCall> {
    return {
      'storage.get': this.#call(async (scope, key) => parse((await this.#known(scope, key)).json)),
      'storage.set': this.#call((scope, key, input) => this.#set(scope, key, input)),
      'storage.delete': this.#call((scope, key) => this.#delete(scope, key)),
      'storage.incr': this.#call((scope, key, input) => this.#incr(scope, key, input)),
    };
  }

  #call(work: (scope: Scope, key: string, input: Record<string, unknown>) => Promise<unknown>): HostCall {
    return (input) => {
      const { scope, key } = (input ?? {}) as { scope: Scope; key: unknown };
      if (!this.#permissions.storage?.scopes.includes(scope)) {
        // The text of any other value is the bot's to choose, or to refuse.
        const asked = typeof scope === 'string' ? `"${scope as string}"` : 'a scope that is no text';
        throw new ForbiddenCall(`The manifest does not ask for ${asked} under \`permissions.storage.scopes\``);
      }
      const checked = checkKey(key);
      const done = this.#last.then(() => work(scope, checked, input as Record<string, unknown>));
      this.#last = done.catch(() => undefined);
      return done;
    };
  }

  async #set(scope: Scope, key: string, { value, ttl }: Record<string, unknown>): Promise<null> {
    const json = JSON.stringify(value ?? null);
    checkStorable(json);
    const expiresAt = readTtl(ttl, this.#now);
    const bytes = await this.#keep(scope, key, json);
    this.writes.push({ ...this.#write(scope, key), kind: 'set', json, bytes, expiresAt });
    return null;
  }

  async #incr(scope: Scope, key: string, { by = 1 }: Record<string, unknown>): Promise<number> {
    if (typeof by !== 'number' || !Number.isFinite(by)) throw new DoorError('bad_value', '`incr` takes a number');
    const present = parse((await this.#known(scope, key)).json) ?? 0;
    if (typeof present !== 'number') throw new DoorError('bad_value', `The value of \`${key}\` is no number`);
    const next = present + by;
    if (!Number.isFinite(next)) throw new DoorError('bad_value', 'The sum is too large');
    const bytes = await this.#keep(scope, key, JSON.stringify(next));
    this.writes.push({ ...this.#write(scope, key), kind: 'incr', by, bytes });
    return next;
  }

  async #delete(scope: Scope, key: string): Promise<null> {
    await this.#keep(scope, key, null);
    this.writes.push({ ...this.#write(scope, key), kind: 'delete' });
    return null;
  }

  /** Makes the run see a value from now on; returns the bytes it takes. Throws when there is no room for it. */
  async #keep(scope: Scope, key: string, json: string | null): Promise<number> {
    const before = await this.#known(scope, key);
    const bytes = json === null ? 0 : Buffer.byteLength(key) + Buffer.byteLength(json);
    const growth = bytes - before.bytes;
    const used = await this.#usedIn(scope);
    const after = { place: used.place + growth, total: used.total + growth };
    const problem = growth > 0 ? whyFull(after, this.#most) : null;
    if (problem) throw new DoorError('storage_full', problem);
    this.#used.set(scope, after.place);
    this.#total = after.total;
    this.#values.set(`${scope} ${key}`, { json, bytes });
    return bytes;
  }

  async #known(scope: Scope, key: string): Promise<Known> {
    const name = `${scope} ${key}`;
    const known = this.#values.get(name);
    if (known) return known;
    const json = await this.#source.read(this.#place(scope), key, this.#now);
    const read = { json, bytes: json === null ? 0 : Buffer.byteLength(key) + Buffer.byteLength(json) };
    this.#values.set(name, read);
    return read;
  }

  async #usedIn(scope: Scope): Promise<StoredBytes> {
    const known = this.#used.get(scope);
    if (known !== undefined && this.#total !== null) return { place: known, total: this.#total };
    const { place, total } = await this.#source.used(this.#place(scope), this.#now);
    this.#used.set(scope, place);
    this.#total ??= total;
    return { place, total: this.#total };
  }

  get #source(): StorageReader {
    if (!this.#reader) throw new UnavailableError('storage');
    return this.#reader;
  }

  get #most(): StoredBytes {
    return { place: this.#permissions.storage?.maxBytes ?? 0, total: this.#source.maxBytes };
  }

  #write(scope: Scope, key: string): Pick<StorageWrite, 'place' | 'key' | 'most'> {
    return { place: this.#place(scope), key, most: this.#most };
  }

  #place(scope: Scope): StoragePlace {
    const { accountId, botId, conversationId, contactId } = this.#owner;
    if (scope === 'conversation' && conversationId === null)
      throw new DoorError('unavailable', 'The event has no conversation');
    if (scope === 'contact' && contactId === null) throw new DoorError('unavailable', 'The event has no contact');
    return {
      accountId,
      botId,
      conversationId: scope === 'conversation' ? conversationId : null,
      contactId: scope === 'contact' ? contactId : null,
    };
  }
}

function parse(json: string | null): unknown {
  return json === null ? null : JSON.parse(json);
}

function checkKey(key: unknown): string {
  const isKey = typeof key === 'string' && key.length >= 1 && key.length <= maxKeyChars;
  if (!isKey || !key.isWellFormed() || key.includes('\0')) {
    throw new DoorError('bad_key', `A key is a text of 1 to ${maxKeyChars} characters`);
  }
  return key;
}

function checkStorable(json: string): void {
  if (Buffer.byteLength(json) > maxValueBytes) {
    throw new DoorError('value_too_large', `A value may have ${maxValueBytes} bytes as JSON`);
  }
  if (storableForm.test(json))
    throw new DoorError('bad_value', 'The value has a text with NUL or half a surrogate pair');
}

// Escapes of JSON.stringify for what PostgreSQL does not store: an even number of backslashes goes before.
const storableForm = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89a-f])/;

function readTtl(ttl: unknown, now: Date): Date | null {
  if (ttl === null || ttl === undefined) return null;
  if (typeof ttl !== 'number' || !(ttl >= 1 && ttl <= maxTtlSeconds)) {
    throw new DoorError('bad_value', `\`ttl\` is a number of seconds, 1 to ${maxTtlSeconds}`);
  }
  return new Date(now.getTime() + Math.round(ttl * 1000));
}

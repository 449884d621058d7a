// What bots get from the service while they run: part of `switchboard/bot` (bot-api.ts). It imports nothing.

/** A moment: a Date, or the seconds from now. */
export type Moment = Date | { inSeconds: number };

/** What `secret` returns. The bot can only pass it on as a header. */
export interface Secret {
  readonly $secret: string;
  readonly prefix: string;
}

/** A request, for `ctx.fetch`. */
export interface FetchOptions {
  /** Default `GET`; others need `permissions.network.methods`. */
  method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  headers?: Record<string, string | number | Secret>;
  /** A text, or a value that is sent as JSON. */
  body?: unknown;
}

/** The answer to a request. Redirects are answers too: they are not followed. */
export interface FetchAnswer {
  readonly status: number;
  /** By names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** The text parsed as JSON; throws when it is none. `const { state } = answer.json() as { state: string }` */
  json(): unknown;
}

/** Values by key, each at most 8 KiB as JSON, the key at most 128 characters. A run sees its own changes. */
export interface Store {
  /** The value; null when there is none. `const asked = await ctx.storage.get<boolean>('asked')` */
  get<Value = unknown>(key: string): Promise<Value | null>;
  /** Keeps a JSON value, with `ttl` for as many seconds only. `await ctx.storage.set('asked', true, { ttl: 3600 })` */
  set(key: string, value: unknown, options?: { ttl?: number }): Promise<void>;
  /** `await ctx.storage.delete('asked')` */
  delete(key: string): Promise<void>;
  /** Adds to a number, which is 0 where there is none, and returns the sum. `const n = await ctx.storage.incr('misses')` */
  incr(key: string, by?: number): Promise<number>;
}

/** A message for a language model. */
export interface ChatMessage {
  role: 'system' | 'user' | 'assistant';
  content: string;
}

/** The answer of a language model. */
export interface ChatAnswer {
  readonly content: string;
}

/** A passage of the knowledge base. */
export interface Passage {
  readonly id: number;
  readonly title: string;
  readonly url: string | null;
  readonly text: string;
  /** Higher fits better. */
  readonly score: number;
}

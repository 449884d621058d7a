// Values that bots get from the service while they run: part of `switchboard/bot` (bot-api.ts).

export type * from './hook-doors.ts';

/** The sender of a message: a contact (with the granted fields), an agent (`user`), a bot or an automation. */
export interface Sender {
  readonly type: 'contact' | 'user' | 'agent_bot' | 'automation';
  readonly id: number;
  readonly name?: string;
}

/** A file of a message; its type was found in its content. */
export interface AttachedFile {
  readonly file_type: 'image' | 'audio' | 'video' | 'file';
  readonly file_name: string;
  /** In bytes. */
  readonly file_size: number;
}

/** A file of the message of the event. */
export interface Attachment extends AttachedFile {
  readonly id: number;
  readonly content_type: string;
  /** A link that expires, for a server that is to look at the file. */
  readonly data_url: string;
}

/** A moment: a Date, or the seconds from now. */
export type Moment = Date | { inSeconds: number };

/** The result of `secret`. The bot can only pass it on: as a header, as a part of a URL, or to `hmac` and `basicAuth`. */
export interface Secret {
  readonly $secret: string;
  readonly prefix: string;
  /** Stands for the secret in a URL of `ctx.fetch`: `https://api.shop.example/${String(secret('SHOP_KEY'))}/orders`. */
  toString(): string;
}

/** The result of `basicAuth`. The bot can only pass it on as a header. */
export interface BasicAuth {
  readonly $basic: readonly [string | Secret, string | Secret];
}

/** How `hmac` and `sha256` write their result. */
export type Encoding = 'hex' | 'base64' | 'base64url';

/** A request, for `ctx.fetch`. */
export interface FetchOptions {
  /** Default `GET`; others need `permissions.network.methods`. */
  method?: 'GET' | 'HEAD' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  headers?: Record<string, string | number | Secret | BasicAuth>;
  /** A text, or a value that is sent as JSON. */
  body?: unknown;
  /** In place of `body`: a form; a file is one of a public message. `{ document: { file: attachment.id, name: 'a.pdf' } }` */
  form?: Record<string, string | number | boolean | { file: number; name?: string }>;
}

/** The answer to a request. Redirects are answers too: they are not followed. */
export interface FetchAnswer {
  readonly status: number;
  /** Values by lower-case name. */
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

/**
 * A message for a language model. An assistant's message with `tool_calls` is followed directly by a message of role `tool` for
 * each call. `{ role: 'tool', tool_call_id: call.id, content: 'on its way' }`
 */
export interface ChatMessage {
  role: 'system' | 'user' | 'assistant' | 'tool';
  /** May be empty beside `tool_calls`. */
  content: string;
  /** Calls that the model asked for, at most 20: of an assistant only. */
  tool_calls?: readonly ToolCall[];
  /** Id of the call that this answers: of a tool only. */
  tool_call_id?: string;
}

/** A call that a language model asks for. */
export interface ToolCall {
  /** Unique in the chat. */
  readonly id: string;
  readonly name: string;
  /** The text that the model wrote where that is no JSON object. */
  readonly arguments: Readonly<Record<string, unknown>> | string;
}

/** A function that a language model may ask to call. */
export interface ChatTool {
  /** Letters, digits, `_` and `-`. */
  name: string;
  description?: string;
  /** A JSON Schema object. */
  parameters: Record<string, unknown>;
}

/** A request to a language model. */
export interface ChatRequest {
  messages: readonly ChatMessage[];
  /** 0 = precise, 1 = varied; default 0.2. */
  temperature?: number;
  /** Tokens of the answer at most; the service has a bound of its own. */
  max_tokens?: number;
  /** At most 32. */
  tools?: readonly ChatTool[];
  /** `none`: no call; `required`: the model has to ask for one; `{ name }`: for one of this tool. Default `auto`. */
  tool_choice?: 'auto' | 'none' | 'required' | { name: string };
  /** The form of the answer; not every server keeps to it. */
  response_format?: ResponseFormat;
}

/**
 * The form of a model's answer, as in chat completions.
 * `{ type: 'json_schema', json_schema: { name: 'topic', strict: true, schema: { type: 'object', … } } }`
 */
export interface ResponseFormat {
  type: 'text' | 'json_object' | 'json_schema';
  json_schema?: { name: string; description?: string; strict?: boolean; schema: Record<string, unknown> };
}

/** The answer of a language model. Nobody vouches for it: what it says may be wrong, and its calls may be unknown. */
export interface ChatAnswer {
  /** Empty when the model only asks for calls. */
  readonly content: string;
  /** The calls that the model asks for: at most 20. */
  readonly tool_calls: readonly ToolCall[];
  /** Why the model ended, such as `stop`, `length`, `tool_calls`; `refusal` where `content` says why it does not answer. */
  readonly finish_reason: string;
  readonly model: string;
  /** Zeros where the server does not count. */
  readonly usage: { readonly prompt_tokens: number; readonly completion_tokens: number };
}

/** A function that a model may call, for `runTools`. */
export interface Tool {
  /** Tells the model what the tool does. */
  description?: string;
  /** A JSON Schema object. The model may pass something else all the same. */
  parameters: Record<string, unknown>;
  /**
   * Called with the arguments that the model wrote. The result is the answer to the model: a text, or a value as JSON, of which
   * it gets 16,000 characters; an error that it throws is the answer too.
   */
  run: (input: Readonly<Record<string, unknown>>) => unknown;
}

/** A request for `runTools`. */
export interface RunToolsRequest extends Omit<ChatRequest, 'tools'> {
  /** The tools by name: letters, digits, `_` and `-`. */
  tools: Readonly<Record<string, Tool>>;
  /** Holds for the first round only. */
  tool_choice?: 'auto' | 'none' | 'required' | { name: string };
  /** Questions to the model at most; default 5. A run may call the service 20 times in all. */
  maxRounds?: number;
}

/** The result of `runTools`. */
export interface RunToolsResult {
  /** The text of the model's last answer. */
  readonly content: string;
  /** The messages of the request with all that followed, ready for a further request. */
  readonly messages: readonly ChatMessage[];
  /** How often the model was asked. */
  readonly rounds: number;
}

/** The language model that would be asked. */
export interface ChatStatus {
  readonly model: string;
  /** Tokens that the bot may use today (UTC) in the account; null for any number. */
  readonly tokens_left: number | null;
}

/** A passage of the knowledge base: the best of its article. */
export interface Passage {
  /** The article's id. */
  readonly id: number;
  readonly title: string;
  readonly url: string | null;
  readonly heading: string | null;
  readonly language: string;
  /** Plain text. */
  readonly text: string;
  /** Higher fits better: 0 to 1. */
  readonly score: number;
  /** Whether it fits well enough to answer with. */
  readonly answers: boolean;
  /** The words of the text that the question asks for, as they stand there; none where it was found by its meaning alone. */
  readonly words: readonly string[];
  /** The sentence of the query that it fits best. */
  readonly question: string;
  /** How many of the question's telling words it has, and how many there are; null where it was found by its meaning alone. */
  readonly matches: { readonly words: number; readonly of: number } | null;
}

/** Where to search in the knowledge base, and for how much. */
export interface SearchOptions {
  /** 1 to 10; default 5. */
  limit?: number;
  /** Only articles with one of these tags; empty = all. */
  tags?: readonly string[];
  /** Only articles in one of these languages; empty = all. */
  languages?: readonly string[];
}

/** A message of the customer. `created_at` is in Unix seconds. */
export interface CustomerWords {
  readonly id: number;
  readonly content: string;
  readonly created_at: number;
}

/** `ctx.llm`. */
export interface LanguageModel {
  /**
   * Asks the model. Rejects with an error whose `code` says why there is no answer: `unavailable` where there is no model,
   * `budget`, `timeout`, `rate_limited`, `unauthorized`, `bad_answer` and others.
   * `const { content } = await ctx.llm.chat({ messages: [{ role: 'user', content: ctx.message.content }] })`
   */
  chat(request: ChatRequest): Promise<ChatAnswer>;
  /** The model that would be asked; null where there is none. `if ((await ctx.llm.status()) === null) return;` */
  status(): Promise<ChatStatus | null>;
}

/** `ctx.tools`. */
export interface ConfiguredTools {
  /**
   * Calls a tool of the setting `tools` with arguments of a model's choice; at most 10 requests in a run, with those of
   * `ctx.fetch`. Resolves to its result: a text, or a value as JSON, of at most 32 KB. Rejects with an error whose `code` is
   * `bad_arguments` where they do not fit (its `message` says why), and else says why there is no result.
   * `const state = await ctx.tools.call('order_status', { order: 'A-17' })`
   */
  call(name: string, given: Readonly<Record<string, unknown>> | string): Promise<string>;
}

/** `ctx.kb`. */
export interface KnowledgeBase {
  /** Searches the articles, the best passage first. `const [best] = await ctx.kb.search(ctx.message.content, { limit: 3 })` */
  search(query: string, options?: SearchOptions): Promise<Passage[]>;
  /** Languages of the articles, those with the most passages first. `const [first = 'en'] = await ctx.kb.languages()` */
  languages(): Promise<string[]>;
}

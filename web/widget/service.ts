import type { Schemas } from '../../schemas/types.ts';
import { Refusal } from './refusal.ts';
import { upload, type Way } from './upload.ts';

export type Inbox = Schemas['resources/widget-inbox'];
export type Message = Schemas['resources/widget-message'];
export type Conversation = Schemas['resources/widget-conversation'];
export type WidgetEvent = Schemas['resources/widget-event'];
type Session = Schemas['resources/widget-session'];

/** Identity of the visitor, as far as the page provides it. */
export interface Visitor {
  identifier?: string | undefined;
  identifierHash?: string | undefined;
  name?: string | undefined;
  email?: string | undefined;
}

const patienceMs = 20_000;

interface Extras {
  headers?: Record<string, string>;
  /** Ends the call before its time. */
  until?: AbortSignal;
}

/** The public API of one inbox, for its visitor. */
export class Service {
  readonly #base: string;
  /** The contact's token; null before there is a contact. */
  token: string | null = null;

  constructor(origin: string, inbox: string) {
    this.#base = `${origin}/public/api/v1/inboxes/${encodeURIComponent(inbox)}`;
  }

  readInbox(): Promise<Inbox> {
    return this.#call('GET', '');
  }

  openSession({ identifier, identifierHash, name, email }: Visitor): Promise<Session> {
    return this.#call('POST', '/sessions', { identifier, identifier_hash: identifierHash, name, email });
  }

  async listMessages(query = ''): Promise<Message[]> {
    return (await this.#call<{ payload: Message[] }>('GET', `/messages${query}`)).payload;
  }

  readConversation(): Promise<Conversation> {
    return this.#call('GET', '/conversation');
  }

  send(body: Schemas['requests/widget-message.create'], key: string, until: AbortSignal): Promise<Message> {
    return this.#call('POST', '/messages', body, { until, headers: { 'idempotency-key': key } });
  }

  /** Sends a message with files, which may take its time. */
  async sendFiles(form: FormData, key: string, way: Way): Promise<Message> {
    const headers = { ...this.#headers(), 'idempotency-key': key };
    return readReply(await upload(`${this.#base}/messages`, headers, form, way));
  }

  markRead(): Promise<Conversation> {
    return this.#call('POST', '/update_last_seen', {});
  }

  /** Opens the stream of what happens from now on. */
  async follow(signal: AbortSignal): Promise<ReadableStream<Uint8Array>> {
    const { body } = await this.#fetch('/events', { signal, headers: this.#headers() });
    if (!body) throw new Refusal(0);
    return body;
  }

  async #call<Reply>(
    method: string,
    path: string,
    body?: object,
    { headers = {}, until }: Extras = {},
  ): Promise<Reply> {
    const content = body ? { body: JSON.stringify(body) } : {};
    const type = body ? { 'content-type': 'application/json' } : {};
    // AbortSignal.any is too young for the pages of others.
    const ending = new AbortController();
    const end = () => ending.abort();
    setTimeout(end, patienceMs);
    until?.addEventListener('abort', end);
    const sent = { method, signal: ending.signal, headers: { ...this.#headers(), ...type, ...headers }, ...content };
    return readReply(await this.#fetch(path, sent));
  }

  async #fetch(path: string, init: RequestInit): Promise<Response> {
    return accepted(await fetch(this.#base + path, { ...init, credentials: 'omit' }).catch(unanswered));
  }

  #headers(): Record<string, string> {
    return this.token === null ? {} : { 'x-contact-token': this.token };
  }
}

async function readReply<Reply>(response: Response): Promise<Reply> {
  return (await (await accepted(response)).json().catch(unanswered)) as Reply;
}

/** The answer, unless it is a refusal. */
async function accepted(response: Response): Promise<Response> {
  if (response.ok) return response;
  const told = (await response.json().catch(() => ({}))) as { error?: string; code?: string };
  throw new Refusal(response.status, told, Number(response.headers.get('retry-after')) || 0);
}

function unanswered(): never {
  throw new Refusal(0);
}

import type { Schemas } from '../../schemas/types.ts';

export type Inbox = Schemas['resources/widget-inbox'];
export type Message = Schemas['resources/widget-message'];
export type Conversation = Schemas['resources/widget-conversation'];
export type WidgetEvent = Schemas['resources/widget-event'];
type Session = Schemas['resources/widget-session'];

/** Who the visitor is, as far as the page tells. */
export interface Visitor {
  identifier?: string | undefined;
  identifierHash?: string | undefined;
  name?: string | undefined;
  email?: string | undefined;
}

/** That the service refused something, in its own words; `status` 0 where it did not answer. */
export class Refusal extends Error {
  readonly status: number;
  readonly code: string;
  /** Seconds after which to ask again, if the service said so; else 0. */
  readonly retryAfter: number;

  constructor(status: number, { error = '', code = '' } = {}, retryAfter = 0) {
    super(error);
    this.status = status;
    this.code = code;
    this.retryAfter = retryAfter;
  }

  /** Whether the same request may succeed later. */
  get mayPass(): boolean {
    return [0, 409, 429].includes(this.status) || this.status >= 500;
  }
}

const patienceMs = 20_000;

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

  send(body: Schemas['requests/widget-message.create'] | FormData, key: string): Promise<Message> {
    return this.#call('POST', '/messages', body, { 'idempotency-key': key });
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

  async #call<Reply>(method: string, path: string, body?: object, headers = {}): Promise<Reply> {
    const isForm = body instanceof FormData;
    const content = body ? { body: isForm ? body : JSON.stringify(body) } : {};
    const type = body && !isForm ? { 'content-type': 'application/json' } : {};
    const signal = AbortSignal.timeout(patienceMs);
    const sent = { method, signal, headers: { ...this.#headers(), ...type, ...headers }, ...content };
    const response = await this.#fetch(path, sent);
    return (await response.json().catch(unanswered)) as Reply;
  }

  async #fetch(path: string, init: RequestInit): Promise<Response> {
    const response = await fetch(this.#base + path, { ...init, credentials: 'omit' }).catch(unanswered);
    if (response.ok) return response;
    const told = (await response.json().catch(() => ({}))) as { error?: string; code?: string };
    throw new Refusal(response.status, told, Number(response.headers.get('retry-after')));
  }

  #headers(): Record<string, string> {
    return this.token === null ? {} : { 'x-contact-token': this.token };
  }
}

function unanswered(): never {
  throw new Refusal(0);
}

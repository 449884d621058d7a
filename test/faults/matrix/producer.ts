import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { adminToken } from '../../support/app.ts';
import type { Outcome, Write } from './evidence.ts';
import { moved } from './patience.ts';
import type { Services } from './services.ts';

interface Answer {
  /** Null when the connection broke; then nobody knows what has become of the request. */
  status: number | null;
  // oxlint-disable-next-line typescript/no-explicit-any
  body: any;
}

const busyMs = 100;
/** How often what is not to fail is tried again while the service or its database is away. */
const tries = 600;

/** A client of the service: it finds the process that answers at the moment, and says what it was answered. */
export class Client {
  readonly #services: Services;
  readonly #agent = new Agent({ connections: 64, headersTimeout: 0, bodyTimeout: 0 });

  constructor(services: Services) {
    this.#services = services;
  }

  /** One request of account 1's administrator. Nothing is sent while no process listens. */
  async send(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: object): Promise<Answer> {
    for (;;) {
      const base = await this.#services.url();
      try {
        const full = path.startsWith('/') ? path : `/api/v1/accounts/1/${path}`;
        const answer = await request(base + full, {
          method,
          dispatcher: this.#agent,
          headers: { api_access_token: adminToken, 'content-type': 'application/json' },
          ...(body ? { body: JSON.stringify(body) } : {}),
        });
        const text = await answer.body.text();
        return { status: answer.statusCode, body: text === '' ? undefined : JSON.parse(text) };
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'ECONNREFUSED') return { status: null, body: undefined };
        await sleep(busyMs);
      }
    }
  }

  /** A request that has to succeed; it is repeated while the service is busy or away, so it must be one that may be. */
  // oxlint-disable-next-line typescript/no-explicit-any
  async need(method: 'GET' | 'POST' | 'PATCH' | 'DELETE', path: string, body?: object): Promise<any> {
    let answer: Answer = { status: null, body: undefined };
    for (let left = tries; left > 0; left -= 1) {
      answer = await this.send(method, path, body);
      if (answer.status !== null && answer.status < 300) return answer.body;
      if (answer.status !== null && answer.status < 500 && answer.status !== 429) break;
      await sleep(busyMs);
    }
    throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  }

  close(): Promise<void> {
    return this.#agent.destroy();
  }
}

/** Writes customers' messages, and its own log of how each was answered. */
export class Producer {
  readonly writes: Write[] = [];
  /** What a broken connection or a 5xx says of a write. */
  failed: Outcome = 'unknown';
  readonly #client: Client;
  readonly #name: string;
  #conversations: number[] = [];
  #written = 0;

  constructor(client: Client, name: string) {
    this.#client = client;
    this.#name = name;
  }

  get conversations(): readonly number[] {
    return this.#conversations;
  }

  /** The text of the message that is written next. */
  get nextKey(): string {
    return `${this.#name} ${this.#written + 1}`;
  }

  /** Opens conversations in an inbox and of a contact of their own. */
  async open(count: number): Promise<void> {
    const inbox = await this.#client.need('POST', 'inboxes', {
      name: `Inbox of ${this.#name}`,
      channel: { type: 'api' },
    });
    const contact = await this.#client.need('POST', 'contacts', { name: `Customer of ${this.#name}` });
    for (let number = 0; number < count; number += 1) {
      const body = { inbox_id: inbox.id, contact_id: contact.id };
      this.#conversations.push((await this.#client.need('POST', 'conversations', body)).id);
    }
  }

  /** Writes messages, in all conversations at once, each one after the answer to the one before. */
  async write(count: number): Promise<void> {
    const end = this.#written + count;
    await Promise.all(
      this.#conversations.map((conversation) => this.#writeIn(conversation, () => this.#written < end)),
    );
  }

  /** Writes until the returned function is called, which waits for the last answers; with pauses between a conversation's messages. */
  keepWriting(pauseMs = 0): () => Promise<void> {
    const ending = new AbortController();
    const writing = this.#conversations.map((conversation) =>
      this.#writeIn(conversation, () => !ending.signal.aborted, pauseMs),
    );
    return async () => {
      ending.abort();
      await Promise.all(writing);
    };
  }

  /** Writes one message in the conversation. */
  async writeOne(conversation: number): Promise<Write> {
    const write: Write = { key: this.nextKey, conversation, outcome: 'unknown' };
    this.#written += 1;
    this.writes.push(write);
    const body = { content: write.key, message_type: 'incoming' };
    const { status, body: answer } = await this.#client.send('POST', `conversations/${conversation}/messages`, body);
    if (status !== null && status >= 400 && status < 500)
      throw new Error(`A message was refused: ${status} ${JSON.stringify(answer)}`);
    write.outcome = status !== null && status < 300 ? 'acknowledged' : this.failed;
    moved();
    // The service asks for patience by its 503.
    if (write.outcome !== 'acknowledged') await sleep(busyMs);
    return write;
  }

  async #writeIn(conversation: number, goesOn: () => boolean, pauseMs = 0): Promise<void> {
    while (goesOn()) {
      await this.writeOne(conversation);
      if (pauseMs > 0) await sleep(pauseMs);
    }
  }
}

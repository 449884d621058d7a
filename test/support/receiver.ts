import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { expect } from 'chai';
import { Webhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import type { Certificate } from '../outbound/certificate.ts';

/** A received POST. */
export interface Received {
  headers: IncomingHttpHeaders;
  /** The body as text and as JSON. */
  text: string;
  body: Record<string, unknown>;
  at: number;
}

export type Answer = (received: Received, response: ServerResponse) => void;

/**
 * Refuses what comes for the first time, and takes it the next time: in so many seconds, however soon the test sees the
 * first one.
 */
export function failFirst(seconds = 10): Answer {
  return ({ headers }, response) => {
    const isFirst = headers['webhook-attempt'] === '1';
    response.writeHead(isFirst ? 500 : 200, isFirst ? { 'retry-after': String(seconds) } : {}).end();
  };
}

/** A receiver of webhooks on loopback: it stores posts and answers 200, or what it is told. */
export class Receiver {
  readonly received: Received[] = [];
  readonly #server: Server;
  readonly #host: string;
  #answer: Answer = (_, response) => response.end();

  private constructor(certificate: Certificate | null) {
    const listener = (request: IncomingMessage, response: ServerResponse): void => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const text = Buffer.concat(chunks).toString();
        const body = JSON.parse(text) as Record<string, unknown>;
        const received: Received = { headers: request.headers, text, body, at: Date.now() };
        this.received.push(received);
        this.#answer(received, response);
      });
    };
    this.#server = certificate ? createSecureServer(certificate, listener) : createServer(listener);
    // A connection that it closed while a post is on its way would be an honest failure, and its repetition one too.
    this.#server.keepAliveTimeout = 0;
    this.#host = certificate ? 'https://localhost' : 'http://127.0.0.1';
  }

  /** With a certificate it uses https. */
  static async start(certificate: Certificate | null = null): Promise<Receiver> {
    const receiver = new Receiver(certificate);
    await new Promise<void>((resolve) => receiver.#server.listen(0, '127.0.0.1', resolve));
    return receiver;
  }

  get url(): string {
    return `${this.#host}:${(this.#server.address() as AddressInfo).port}/hook`;
  }

  /** Sets the following answers. */
  answerWith(answer: Answer): void {
    this.#answer = answer;
  }

  /** Waits for `count` posts; fails after `timeoutMs`. */
  async waitFor(count: number, timeoutMs = 60_000): Promise<Received[]> {
    const until = Date.now() + timeoutMs;
    while (this.received.length < count) {
      if (Date.now() > until) throw new Error(`${this.received.length} of ${count} posts came in ${timeoutMs} ms`);
      await new Promise((resolve) => setTimeout(resolve, 10));
    }
    return this.received;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }
}

const libraries = [Webhook, SvixWebhook] as const;

/** Throws unless the post has a valid Standard Webhooks signature by the secret, in the eyes of two libraries. */
export function verify(secret: string, post: Received): void {
  for (const Library of libraries) new Library(secret).verify(post.text, signatureOf(post));
}

/** Throws unless both libraries refuse the post. */
export function expectRefused(secret: string, post: Received): void {
  for (const Library of libraries) expect(() => new Library(secret).verify(post.text, signatureOf(post))).to.throw();
}

function signatureOf({ headers }: Received): Record<string, string> {
  const names = ['webhook-id', 'webhook-timestamp', 'webhook-signature'];
  return Object.fromEntries(names.map((name) => [name, String(headers[name])]));
}

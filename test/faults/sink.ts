import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

/** A received POST; kept in order of arrival. */
export interface Arrival {
  webhookId: string;
  attempt: number;
  /** Number of the event, from the webhook-id. */
  eventId: number;
  endpointId: number;
  text: string;
  body: { event: string; sequence: number; id?: unknown; content?: string; conversation?: { id: number } };
  /** Port that the sender's connection came from. */
  remotePort: number;
  at: number;
}

export interface SinkOptions {
  /** How long an answer takes, in milliseconds. */
  delayMs?: () => number;
  /** The answer's status, 200 unless given. */
  status?: (arrival: Arrival) => number;
}

const webhookIdShape = /^evt_(\d+)_webhook_(\d+)$/;

/** A receiver of webhooks that keeps a log of what arrived. */
export class Sink {
  readonly log: Arrival[] = [];
  /** Called at each arrival, before the answer. */
  onArrival: (arrival: Arrival) => void = () => undefined;
  readonly #server: Server;
  readonly #options: SinkOptions;

  private constructor(options: SinkOptions) {
    this.#options = options;
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      // A sender that is killed in the middle of its request has not delivered it.
      request.on('error', () => undefined);
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const { headers, socket } = request;
        void this.#take(Buffer.concat(chunks).toString(), headers, socket.remotePort ?? 0).then((status) =>
          response.writeHead(status).end(),
        );
      });
    });
    // Closing a connection on which a post is on its way would be an honest failure.
    this.#server.keepAliveTimeout = 0;
  }

  static async start(options: SinkOptions = {}): Promise<Sink> {
    const sink = new Sink(options);
    await new Promise<void>((resolve) => sink.#server.listen(0, '127.0.0.1', resolve));
    return sink;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/sink`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #take(text: string, headers: NodeJS.Dict<string | string[]>, remotePort: number): Promise<number> {
    const webhookId = String(headers['webhook-id']);
    const [, eventId, endpointId] = webhookIdShape.exec(webhookId) ?? [];
    const arrival: Arrival = {
      webhookId,
      attempt: Number(headers['webhook-attempt']),
      eventId: Number(eventId),
      endpointId: Number(endpointId),
      text,
      body: JSON.parse(text) as Arrival['body'],
      remotePort,
      at: Date.now(),
    };
    this.log.push(arrival);
    this.onArrival(arrival);
    const delay = this.#options.delayMs?.() ?? 0;
    if (delay > 0) await sleep(delay);
    return this.#options.status?.(arrival) ?? 200;
  }
}

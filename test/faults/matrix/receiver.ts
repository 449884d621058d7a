import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Arrival, ReceiverLog, Reply } from './evidence.ts';
import type { Manner } from './manners.ts';
import { moved } from './patience.ts';

/** A POST as it came, for who looks into it. */
export interface Post {
  headers: IncomingHttpHeaders;
  text: string;
  arrival: Arrival;
}

export type Conduct = (post: Post, count: number) => Manner | Promise<Manner>;

/** A receiver of webhooks with a log of its own. How it answers is asked anew for each arrival. */
export class Receiver implements ReceiverLog {
  readonly name: string;
  readonly arrivals: Arrival[] = [];
  readonly posts: Post[] = [];
  /** The most arrivals that waited for an answer at one time. */
  mostAtOnce = 0;
  /** How it answers; `count` is how often this webhook-id has arrived, this time included. */
  conduct: Conduct;
  /** Called at each arrival, before the answer. */
  onArrival: (arrival: Arrival) => void = () => undefined;
  readonly #keepsPosts: boolean;
  readonly #counts = new Map<string, number>();
  #server: Server;
  #port = 0;
  #atOnce = 0;

  constructor(name: string, conduct: Conduct, { keepsPosts = false }: { keepsPosts?: boolean } = {}) {
    this.name = name;
    this.conduct = conduct;
    this.#keepsPosts = keepsPosts;
    this.#server = this.#create();
  }

  get url(): string {
    return `http://127.0.0.1:${this.#port}/${this.name}`;
  }

  /** Listens, always on the same port. */
  async open(): Promise<this> {
    this.#server = this.#create();
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject).listen(this.#port, '127.0.0.1', resolve);
    });
    this.#port = (this.#server.address() as AddressInfo).port;
    return this;
  }

  /** Cuts all connections. */
  cut(): void {
    this.#server.closeAllConnections();
  }

  /** Cuts all connections; from now on they are refused. */
  async close(): Promise<void> {
    this.cut();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  #create(): Server {
    const server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      // A sender that is killed in the middle of its request has not delivered it.
      request.on('error', () => undefined).on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => void this.#take(request, Buffer.concat(chunks).toString(), response));
    });
    // The service closes unused connections, never the receiver: it could close one that is just being used.
    server.keepAliveTimeout = 0;
    server.on('connection', (socket) => socket.on('error', () => undefined));
    return server;
  }

  async #take(request: IncomingMessage, text: string, response: ServerResponse): Promise<void> {
    const arrival = readArrival(request.headers, text);
    const count = (this.#counts.get(arrival.webhookId) ?? 0) + 1;
    this.#counts.set(arrival.webhookId, count);
    this.arrivals.push(arrival);
    moved();
    this.#atOnce += 1;
    this.mostAtOnce = Math.max(this.mostAtOnce, this.#atOnce);
    response.once('close', () => (this.#atOnce -= 1));
    const post: Post = { headers: request.headers, text, arrival };
    if (this.#keepsPosts) this.posts.push(post);
    this.onArrival(arrival);
    const manner = await this.conduct(post, count);
    const reply: Reply = await manner(response);
    arrival.reply = reply;
    arrival.repliedAt = performance.now();
  }
}

function readArrival(headers: IncomingHttpHeaders, text: string): Arrival {
  const body = JSON.parse(text) as {
    event: string;
    sequence?: number;
    content?: string;
    id: number;
    conversation?: { id: number };
  };
  const isConversation = body.event.startsWith('conversation_');
  return {
    webhookId: String(headers['webhook-id']),
    key: body.event === 'message_created' ? (body.content ?? '') : null,
    event: body.event,
    conversation: body.conversation?.id ?? (isConversation ? body.id : null),
    sequence: body.sequence ?? 0,
    attempt: Number(headers['webhook-attempt']),
    at: performance.now(),
    repliedAt: null,
    reply: null,
  };
}

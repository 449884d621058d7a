import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from '../lib/node-http.ts';
import type { OpenEndpoint } from '../outbound/addresses.ts';
import { isHook } from './endpoint.ts';
import type { Receiver } from './receiver.ts';
import { takePost } from './take-post.ts';

export interface ReceiverServerOptions {
  receiver: Receiver;
  endpoint: OpenEndpoint;
  /** Called with what goes wrong behind a request. */
  failed: (error: unknown) => void;
  /** Called when it cannot listen: another process on this machine has the address, for example. */
  unavailable: (problem: string) => void;
}

/** Listens at the one loopback address that the service may call, and passes posts on to the receiver. */
export class ReceiverServer {
  readonly receiver: Receiver;
  readonly #options: ReceiverServerOptions;
  readonly #server: Server;
  #problem: string | null = 'It does not listen yet';

  constructor(options: ReceiverServerOptions) {
    this.receiver = options.receiver;
    this.#options = options;
    // Longer than the service keeps a connection that it does not use.
    this.#server = createServer(
      { keepAliveTimeout: 65_000 },
      (request, response) => void this.#answer(request, response),
    );
  }

  /** Why no post can arrive, in a sentence; null while it listens. */
  get problem(): string | null {
    return this.#problem;
  }

  /** Never rejects: the service runs without its receiver too, and `problem` says so. */
  async listen(): Promise<void> {
    const { address, port } = this.#options.endpoint;
    const { promise, resolve } = Promise.withResolvers<string | null>();
    this.#server.once('error', ({ message }) => resolve(`It cannot listen on ${address}:${port}: ${message}`));
    this.#server.listen(port, address, () => resolve(null));
    this.#problem = await promise;
    if (this.#problem !== null) this.#options.unavailable(this.#problem);
  }

  /** Ends what waits for an answer; posts are still taken, and answered 503. */
  release(): void {
    this.receiver.stop();
  }

  async close(): Promise<void> {
    if (!this.#server.listening) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#server.close(() => resolve());
    this.#server.closeAllConnections();
    await promise;
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const [path = ''] = (request.url ?? '').split('?');
    try {
      const taken = request.method === 'POST' && isHook(path);
      response.statusCode = taken ? await takePost(this.receiver, path, { request, response }) : 404;
    } catch (error) {
      this.#options.failed(error);
      response.statusCode = 500;
    }
    response.end();
  }
}

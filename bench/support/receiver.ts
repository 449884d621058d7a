import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';

const patienceMs = 40_000;

/** Counts posts and notes when the first and the last of a round came. */
export class Receiver {
  #count = 0;
  #first = 0;
  #last = 0;
  readonly #server: Server;

  constructor() {
    this.#server = createServer((request, response) => {
      request.resume();
      request.on('end', () => {
        this.#last = performance.now();
        if (this.#count++ === 0) this.#first = this.#last;
        response.end();
      });
    });
  }

  /** Resolves with where it listens. */
  async listen(): Promise<string> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/`;
  }

  /** Waits until so many posts came; resolves with the posts per second, from the first to the last. */
  async round(posts: number): Promise<number> {
    const until = performance.now() + patienceMs;
    while (this.#count < posts) {
      if (performance.now() > until) throw new Error(`Only ${this.#count} of ${posts} posts came`);
      await sleep(5);
    }
    const perSecond = posts / ((this.#last - this.#first) / 1000);
    this.#count = 0;
    return perSecond;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }
}

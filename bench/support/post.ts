import { setTimeout as sleep } from 'node:timers/promises';
import { Pool } from 'undici';
import { signatureHeaders } from '../../src/deliveries/core/sign.ts';

const betweenMs = 500;
/** Posts under way at once, for our limit and our peers alike. */
export const atOnce = 64;
/** The bytes that every delivery carries, ours as well. */
export const body = JSON.stringify({ event: 'message_created', content: 'x'.repeat(400) });

/** Signs and posts the body to one receiver, as Standard Webhooks say. */
export class Poster {
  readonly #pool: Pool;
  readonly #path: string;
  readonly #secret: string;
  #posted = 0;

  constructor(receiver: string, secret: string) {
    const { origin, pathname } = new URL(receiver);
    this.#pool = new Pool(origin, { connections: atOnce });
    this.#path = pathname;
    this.#secret = secret;
  }

  async post(id: string): Promise<void> {
    const signature = signatureHeaders({ id, timestamp: new Date(), body, secrets: [this.#secret] });
    const headers = { 'content-type': 'application/json', ...signature };
    const response = await this.#pool.request({ method: 'POST', path: this.#path, headers, body });
    await response.body.dump();
    this.#posted += 1;
  }

  /**
   * Enqueues so many posts, again and again, each round when the one before is over: the first warms the process up, as a
   * service's is that runs for longer than a moment.
   */
  async rounds(
    { count, rounds }: { count: number; rounds: number },
    enqueue: (ids: string[]) => Promise<unknown>,
  ): Promise<void> {
    for (let round = 1; round <= rounds; round++) {
      await enqueue(Array.from({ length: count }, (_, index) => `evt_${round}_${index}`));
      while (this.#posted < round * count) await sleep(5);
      // The receiver counts the next round anew.
      await sleep(betweenMs);
    }
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}

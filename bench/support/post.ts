import { Pool } from 'undici';
import { signatureHeaders } from '../../src/deliveries/core/sign.ts';

/** Posts under way at once, for our limit and our peers alike. */
export const atOnce = 64;
/** The bytes that every delivery carries. */
const body = JSON.stringify({ event: 'message_created', content: 'x'.repeat(400) });

/** Signs and posts the body to one receiver, as Standard Webhooks say. */
export class Poster {
  readonly #pool: Pool;
  readonly #path: string;
  readonly #secret: string;

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
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}

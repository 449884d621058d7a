import { setTimeout as sleep } from 'node:timers/promises';
import { byStandard } from '../../support/hook-senders.ts';
import type { Write } from './evidence.ts';
import { moved } from './patience.ts';
import type { Services } from './services.ts';

const busyMs = 50;
/** Below the messages after which a bot that hears nothing from its customer is taken for one in a loop. */
const requestsPerPerson = 10;
const foreignSecret = `whsec_${Buffer.from('the key of somebody else').toString('base64')}`;

/** A hook that requests are sent to. */
export interface Target {
  /** `/hooks/TOKEN`. */
  path: string;
  secret: string;
}

/** A request with the id that it was stored under. */
interface Sent extends Write {
  requestId: number;
}

/**
 * Another system that sends requests of one hook, one after the other, as such systems do: again with the same id
 * until it is answered 2xx. Its log has each request as the message that the plugin writes for it.
 */
export class HookSender {
  writes: Sent[] = [];
  /** Answers to requests that somebody else has signed. */
  readonly forged: number[] = [];
  /** Answers that were no 2xx, by status; of broken connections none. */
  readonly refused = new Map<number, number>();
  readonly name: string;
  readonly #services: Services;
  readonly #target: Target;
  #begun = 0;

  constructor(services: Services, name: string, target: Target) {
    this.#services = services;
    this.name = name;
    this.#target = target;
  }

  /** Sends until the returned function is called, which waits for the last answer. */
  keepSending({ pauseMs, forgeEvery }: { pauseMs: number; forgeEvery: number }): () => Promise<void> {
    const ending = new AbortController();
    const sending = (async () => {
      while (!ending.signal.aborted) {
        await this.sendOne();
        if (this.#begun % forgeEvery === 0) this.forged.push(await this.#forge());
        await sleep(pauseMs);
      }
    })();
    return async () => {
      ending.abort();
      await sending;
    };
  }

  /** Sends one request until it is stored. */
  async sendOne(): Promise<void> {
    this.#begun += 1;
    const text = `${this.name} ${this.#begun}`;
    for (;;) {
      const answer = await this.#post(text, this.#target.secret);
      if (answer?.status === 202) {
        this.writes.push({ key: text, conversation: 0, outcome: 'acknowledged', requestId: answer.id });
        return moved();
      }
      if (answer) this.refused.set(answer.status, (this.refused.get(answer.status) ?? 0) + 1);
      await sleep(busyMs);
    }
  }

  async #forge(): Promise<number> {
    for (;;) {
      const answer = await this.#post(`${this.name} forged`, foreignSecret);
      if (answer && answer.status < 500 && answer.status !== 429) return answer.status;
      await sleep(busyMs);
    }
  }

  // Null where the connection broke.
  async #post(text: string, secret: string): Promise<{ status: number; id: number } | null> {
    const person = `${this.name}, ${Math.floor(this.#begun / requestsPerPerson)}`;
    const body = JSON.stringify({ sender: this.name, person, text });
    try {
      const response = await fetch(`${await this.#services.url()}${this.#target.path}`, {
        method: 'POST',
        headers: byStandard(body, secret, text),
        body,
      });
      const answer = (await response.json()) as { id: number };
      return { status: response.status, id: answer.id };
    } catch {
      return null;
    }
  }
}

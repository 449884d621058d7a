import { Client } from 'pg';

/** A connection that is opened with the first statement, stays open for the next ones, and is opened again when it was lost. */
export class KeptClient {
  readonly #url: string;
  readonly #idleMs: number;
  #opening: Promise<Client> | null = null;
  #idle: NodeJS.Timeout | undefined;
  #underWay = 0;

  /** After `idleMs` without a statement the connection is closed. */
  constructor(url: string, idleMs: number) {
    this.#url = url;
    this.#idleMs = idleMs;
  }

  async query<Row extends object>(text: string, parameters: readonly unknown[] = []): Promise<Row[]> {
    clearTimeout(this.#idle);
    this.#underWay += 1;
    try {
      return await this.#ask<Row>(text, parameters);
    } finally {
      this.#underWay -= 1;
      if (this.#underWay === 0) this.#idle = setTimeout(() => void this.close(), this.#idleMs).unref();
    }
  }

  async close(): Promise<void> {
    clearTimeout(this.#idle);
    const opening = this.#opening;
    this.#opening = null;
    await (await opening?.catch(() => null))?.end();
  }

  async #ask<Row extends object>(text: string, parameters: readonly unknown[]): Promise<Row[]> {
    const wasOpen = this.#opening !== null;
    const opening = (this.#opening ??= this.#open());
    try {
      return (await (await opening).query<Row>(text, [...parameters])).rows;
    } catch (error) {
      const isRefused = 'severity' in (error as object) && this.#opening === opening;
      if (isRefused) throw error;
      if (this.#opening === opening) this.#opening = null;
      // A restart of the server ends connections that nobody uses.
      if (wasOpen) return this.#ask(text, parameters);
      throw error;
    }
  }

  #open(): Promise<Client> {
    const client = new Client({ connectionString: this.#url });
    const opening = client.connect().then(() => client);
    const forget = (): void => {
      if (this.#opening === opening) this.#opening = null;
    };
    client.on('error', forget).once('end', forget);
    return opening;
  }
}

const idleMs = 250;
const kept = new Map<string, KeptClient>();

/** Rows of one statement; statements that follow each other soon share a connection, because each costs the server a process. */
export function rowsOf<Row extends object>(url: string, text: string, parameters?: readonly unknown[]): Promise<Row[]> {
  let client = kept.get(url);
  if (!client) kept.set(url, (client = new KeptClient(url, idleMs)));
  return client.query<Row>(text, parameters);
}

import type { Pool, PoolClient } from 'pg';
import { Batch, type Result } from './batch.ts';
import { nameOf } from './prepared.ts';

/** A statement with its parameters `$1 …`. */
export interface Statement {
  text: string;
  parameters: readonly unknown[];
}

/**
 * A transaction on a connection of its own. Statements that are asked for together, before any of them is awaited, are one
 * round trip: BEGIN goes with the first, COMMIT with the last.
 */
export class SqlTransaction {
  readonly #client: PoolClient;
  #gathering: Batch | null = null;
  #hasBegun = false;
  #isOver = false;

  private constructor(client: PoolClient) {
    this.#client = client;
  }

  /** Takes a connection of the pool, until the transaction is over. */
  static async on(pool: Pool): Promise<SqlTransaction> {
    return new SqlTransaction(await pool.connect());
  }

  /** Runs one statement, which is a transaction of its own. */
  static async single<Row>(pool: Pool, text: string, parameters: readonly unknown[] = []): Promise<Row[]> {
    const client = await pool.connect();
    try {
      const batch = new Batch(client);
      const answer = batch.add(text, nameOf(text), parameters);
      client.query(batch);
      return (await answer).rows as Row[];
    } finally {
      client.release();
    }
  }

  async query<Row>(text: string, parameters: readonly unknown[] = []): Promise<Row[]> {
    return (await this.execute(text, parameters)).rows as Row[];
  }

  /** Like query, with what PostgreSQL says of the statement. */
  async execute(text: string, parameters: readonly unknown[]): Promise<Result> {
    // Work that was left behind by an error must not reach whoever has the connection now.
    if (this.#isOver) throw new Error('The transaction is over');
    if (!this.#hasBegun) {
      this.#hasBegun = true;
      // Its failure is that of the statement after it.
      this.#add('BEGIN', []).catch(() => undefined);
    }
    return this.#add(text, parameters);
  }

  /** Sends the last statements together with COMMIT, which is not run when one of them fails; returns the rows of each. */
  async commit<Row>(last: readonly Statement[]): Promise<Row[][]> {
    const written = last.map(({ text, parameters }) => this.query<Row>(text, parameters));
    if (!this.#hasBegun) return [];
    const [rows, { tag }] = await Promise.all([Promise.all(written), this.#add('COMMIT', [])]);
    this.#isOver = true;
    // PostgreSQL rolls back when a statement has failed before, and nobody minded.
    if (tag !== 'COMMIT') throw new Error(`The transaction ended with ${tag}`);
    return rows;
  }

  /** Rolls back, unless the transaction is over, and returns the connection to the pool. */
  async end(): Promise<void> {
    const isOpen = this.#hasBegun && !this.#isOver;
    this.#isOver = true;
    const isLost = isOpen && (await this.#add('ROLLBACK', []).catch(() => null)) === null;
    this.#client.release(isLost);
  }

  #add(text: string, parameters: readonly unknown[]): Promise<Result> {
    const batch = (this.#gathering ??= this.#begin());
    return batch.add(text, nameOf(text), parameters);
  }

  #begin(): Batch {
    process.nextTick(() => {
      const batch = this.#gathering;
      this.#gathering = null;
      if (batch) this.#client.query(batch);
    });
    return new Batch(this.#client);
  }
}

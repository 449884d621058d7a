import type { Pool, PoolClient } from 'pg';
import { Batch, type Result } from './batch.ts';
import { nameOf } from './prepared.ts';
import type { Sql } from './sql.ts';

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
  #savepoints = 0;

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

  readonly sql: Sql = async <Row>(text: string, parameters: readonly unknown[] = []): Promise<Row[]> => {
    // Work that was left behind by an error must not reach whoever has the connection now.
    if (this.#isOver) throw new Error('The transaction is over');
    if (!this.#hasBegun) {
      this.#hasBegun = true;
      // Its failure is that of the statement after it.
      this.#add('BEGIN', []).catch(() => undefined);
    }
    return (await this.#add(text, parameters)).rows as Row[];
  };

  /** Runs `work` in a savepoint, to which it rolls back when `work` fails; SAVEPOINT goes with its first statement. */
  async savepoint<Done>(work: () => Promise<Done>): Promise<Done> {
    const name = `savepoint_${++this.#savepoints}`;
    // Its failure is that of the statement after it.
    this.sql(`SAVEPOINT ${name}`).catch(() => undefined);
    try {
      const done = await work();
      await this.sql(`RELEASE ${name}`);
      return done;
    } catch (error) {
      // Where this fails, so does whatever the transaction asks for next: the first error says more.
      await this.sql(`ROLLBACK TO ${name}`).catch(() => undefined);
      throw error;
    }
  }

  /** Sends the last statements together with COMMIT, which is not run when one of them fails; returns the rows of each. */
  async commit<Row>(last: readonly Statement[] = []): Promise<Row[][]> {
    const written = last.map(({ text, parameters }) => this.sql<Row>(text, parameters));
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

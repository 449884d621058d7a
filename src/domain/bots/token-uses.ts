import type { Database } from '../../postgres/database.ts';
import { prepared } from '../../postgres/prepared.ts';
import { sql } from '../../postgres/sql.ts';

/** Uses are gathered for so long, and written together. */
const gatherMs = 2_000;

// A token that was replaced meanwhile is gone: its last use is not that of the new one.
const statement = prepared(`UPDATE agent_bots b SET token_last_used_at = greatest(b.token_last_used_at, u.used_at)
  FROM unnest($1::bigint[], $2::timestamptz[]) AS u (token_id, used_at) JOIN access_tokens k ON k.id = u.token_id
  WHERE b.id = k.agent_bot_id`);

/** When the access tokens of bots were last used: kept apart from the requests, which write nothing for it. */
export class TokenUses {
  readonly #database: Database;
  readonly #failed: (error: unknown) => void;
  #uses = new Map<number, Date>();
  #timer: NodeJS.Timeout | null = null;
  #writing: Promise<void> = Promise.resolve();

  constructor(database: Database, failed: (error: unknown) => void) {
    this.#database = database;
    this.#failed = failed;
  }

  /** Notes that a bot has used its token now. */
  note(tokenId: number): void {
    this.#uses.set(tokenId, this.#database.clock.now());
    this.#timer ??= setTimeout(() => this.#write(), gatherMs).unref();
  }

  /** Writes what was noted; to be called before the database is closed. */
  async stop(): Promise<void> {
    if (this.#timer) {
      clearTimeout(this.#timer);
      this.#write();
    }
    await this.#writing;
  }

  #write(): void {
    this.#timer = null;
    const uses = [...this.#uses];
    this.#uses = new Map();
    const values = [uses.map(([id]) => id), uses.map(([, at]) => at)];
    const written = sql(this.#database.em(), statement, values);
    this.#writing = written.then(() => undefined, this.#failed);
  }
}

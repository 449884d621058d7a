import { storeTokenUses } from '../../../domain/bots/token-uses.ts';
import type { Database } from '../../../postgres/database.ts';

/** Uses are gathered for so long, and written together. */
const gatherMs = 2_000;

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
    const uses = this.#uses;
    this.#uses = new Map();
    this.#writing = storeTokenUses(this.#database.sql, uses).catch(this.#failed);
  }
}

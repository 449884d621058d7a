import type { EntityManager } from '@mikro-orm/postgresql';
import type { Database } from '../postgres/database.ts';
import { HeldConversations } from '../records/held-conversations.ts';
import { AfterCommit } from './after-commit.ts';
import { Outbox } from './outbox.ts';

/** What a transaction holds and says in one account. */
interface Part {
  conversations: HeldConversations;
  outbox: Outbox;
}

/**
 * What all that is done in one transaction of the database has in common: what it holds and says in each account, and what
 * follows its commit.
 */
export class UnitOfWork {
  readonly database: Database;
  /** The business time of everything in it. */
  readonly now: Date;
  readonly afterCommit = new AfterCommit();
  readonly #parts = new Map<number, Part>();
  #em: EntityManager;

  constructor(database: Database, em: EntityManager) {
    this.database = database;
    this.now = database.clock.now();
    this.#em = em;
  }

  /** The entity manager of the innermost savepoint that is open. */
  get em(): EntityManager {
    return this.#em;
  }

  part(accountId: number): Part {
    const known = this.#parts.get(accountId);
    if (known) return known;
    const part = { conversations: new HeldConversations(accountId), outbox: new Outbox() };
    this.#parts.set(accountId, part);
    return part;
  }

  /**
   * Runs `work` in a savepoint, and `ending` last in it. When that fails, what was changed, held and said since is undone
   * and forgotten.
   */
  async savepoint<Result>(work: () => Promise<Result>, ending: () => Promise<void>): Promise<Result> {
    const outer = this.#em;
    const undo = this.#mark();
    try {
      return await outer.transactional(async (em) => {
        this.#em = em;
        const result = await work();
        await ending();
        return result;
      });
    } catch (error) {
      undo();
      throw error;
    } finally {
      this.#em = outer;
    }
  }

  /** Writes the rows that were changed, so that statements see them. */
  async writeRows(): Promise<void> {
    await this.#em.flush();
    for (const { conversations } of this.#parts.values()) await conversations.write(this.#em);
  }

  /** Writes what was changed and said: the last part of the commit. */
  async flush(): Promise<void> {
    await this.writeRows();
    for (const [accountId, { outbox }] of this.#parts) await this.#flushOutbox(accountId, outbox);
  }

  async #flushOutbox(accountId: number, outbox: Outbox): Promise<void> {
    const { database, afterCommit } = this;
    const { events, touched } = await outbox.flush(this.#em, accountId);
    if (events > 0) afterCommit.add(() => database.announce('events', events));
    if (touched.length > 0) afterCommit.add(() => database.announce('deliveries', touched));
  }

  #mark(): () => void {
    const parts = new Map(this.#parts);
    const undo = [this.afterCommit.mark()];
    for (const { conversations, outbox } of parts.values()) undo.push(conversations.mark(), outbox.mark());
    return () => {
      for (const id of this.#parts.keys()) if (!parts.has(id)) this.#parts.delete(id);
      for (const forget of undo) forget();
    };
  }
}

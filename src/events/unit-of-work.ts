import type { EntityManager } from '@mikro-orm/postgresql';
import type { Database } from '../postgres/database.ts';
import { HeldConversations } from '../records/held-conversations.ts';
import { AfterCommit } from './after-commit.ts';
import { Outbox } from './outbox.ts';

/** The locked conversations and recorded events of a transaction in one account. */
interface Part {
  conversations: HeldConversations;
  outbox: Outbox;
}

/**
 * The state of one database transaction, shared by its views (Transaction, OuterTransaction): conversations and events by
 * account, and the work after its commit.
 */
export class UnitOfWork {
  readonly database: Database;
  /** The business time of the whole transaction. */
  readonly now: Date;
  readonly afterCommit = new AfterCommit();
  readonly #parts = new Map<number, Part>();
  #em: EntityManager;

  constructor(database: Database, em: EntityManager) {
    this.database = database;
    this.now = database.clock.now();
    this.#em = em;
  }

  /** The entity manager of the innermost open savepoint. */
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
   * Runs `work` and then `ending` in a savepoint. If either fails, the changes, locked conversations and events since its
   * beginning are forgotten.
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

  /** Writes the changed rows, so that later statements see them. */
  async writeRows(): Promise<void> {
    await this.#em.flush();
    for (const { conversations } of this.#parts.values()) await conversations.write(this.#em);
  }

  /** Writes the changed rows and the events; the last part of the commit. */
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

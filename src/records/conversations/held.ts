import type { Sql } from '../../postgres/sql.ts';
import type { Held } from './held-changes.ts';
import type { Conversation, Named } from './conversation.ts';
import type { Presumed } from './presumed.ts';
import {
  draftConversation,
  lockConversationRow,
  lockConversationRows,
  type ConversationDraft,
  type Reserved,
  type RowChoice,
} from './locked.ts';

/** The transaction that holds them. */
interface Within {
  sql: Sql;
  account: Named;
}

/**
 * The conversations that a transaction of an account has locked: each is read once, is the same object until the
 * transaction ends, and is written when it differs from its stored values. Verbs change the object; no other statement
 * changes the row.
 */
export class HeldConversations {
  readonly #held = new Map<number, Held>();
  /** Held conversations by id, from which the commit writes the changed ones. */
  readonly byId: ReadonlyMap<number, Held> = this.#held;
  /** Ids for the next message of conversations, where one was taken with the lock. */
  readonly messageIds = new Map<number, number>();
  /** Public messages of bots in the last minute, those of the transaction included, of conversations where they were counted. */
  readonly botMessages = new Map<number, number>();

  /** Locks a conversation; null when the account has none with the id. */
  async lock({ sql, account }: Within, id: number): Promise<Conversation | null> {
    const held = this.#held.get(id);
    if (held) return held.conversation;
    const row = await lockConversationRow(sql, account.id, id);
    return row && this.#hold(row);
  }

  /** Holds a conversation as it was read without a lock; a statement that locks it must be under way, and verify it. */
  presume({ conversation, messageId }: Presumed): Conversation {
    return (
      this.#held.get(conversation.id)?.conversation ?? this.#hold({ conversation: { ...conversation }, messageId })
    );
  }

  /** Whether the conversation is locked already. */
  holds(id: number): boolean {
    return this.#held.has(id);
  }

  /** Locks conversations by one statement, in the order of their ids. */
  async lockMany({ sql, account }: Within, choice: RowChoice): Promise<Conversation[]> {
    const rows = await lockConversationRows(sql, account.id, choice);
    return rows.map((row) => this.#held.get(row.conversation.id)?.conversation ?? this.#hold(row));
  }

  /** Creates a conversation at `now`; null without its inbox or contact. */
  async create({ sql, account }: Within, draft: ConversationDraft, now: Date): Promise<Conversation | null> {
    const created = await draftConversation(sql, account.id, draft, now);
    return created && this.#hold(created, null);
  }

  /** Deletes locked conversations, with the rows that refer to them. */
  async delete({ sql, account }: Within, conversations: readonly Conversation[]): Promise<void> {
    const ids = conversations.map(({ id }) => id);
    await sql('DELETE FROM conversations WHERE account_id = $1 AND id = ANY ($2)', [account.id, ids]);
    for (const id of ids) this.#held.delete(id);
  }

  /**
   * Marks the present state; the returned function restores it, for a rolled-back savepoint. Conversations locked since are
   * forgotten, because their locks are released.
   */
  mark(): () => void {
    const before = Array.from(this.#held.values(), (held) => ({ ...held, copy: { ...held.conversation } }));
    const counted = new Map(this.botMessages);
    return () => {
      this.botMessages.clear();
      for (const [id, count] of counted) this.botMessages.set(id, count);
      this.#held.clear();
      for (const { copy, ...held } of before) {
        Object.assign(held.conversation, copy);
        this.#held.set(copy.id, held);
      }
    };
  }

  #hold({ conversation, messageId }: Reserved, stored: Conversation | null = { ...conversation }): Conversation {
    this.#held.set(conversation.id, { conversation, stored });
    if (messageId !== null) this.messageIds.set(conversation.id, messageId);
    return conversation;
  }
}

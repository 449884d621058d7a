import { prepared } from '../postgres/prepared.ts';
import { sql, type Executor } from '../postgres/sql.ts';
import type { Conversation } from './conversation.ts';
import {
  insertConversationRow,
  lockConversationRow,
  lockConversationRows,
  type ConversationDraft,
  type RowChoice,
} from './conversation-rows.ts';

interface Column {
  name: string;
  type: 'text' | 'bigint' | 'int' | 'timestamptz' | 'jsonb';
  valueOf: (conversation: Conversation) => unknown;
}

/** The columns that verbs may change, and their values. */
const columns: readonly Column[] = [
  { name: 'status', type: 'text', valueOf: ({ status }) => status },
  { name: 'priority', type: 'text', valueOf: ({ priority }) => priority },
  { name: 'assignee_id', type: 'bigint', valueOf: ({ assignee }) => assignee?.id ?? null },
  { name: 'team_id', type: 'bigint', valueOf: ({ team }) => team?.id ?? null },
  { name: 'bot_silence', type: 'text', valueOf: ({ botSilence }) => botSilence },
  { name: 'bot_streak', type: 'int', valueOf: ({ botStreak }) => botStreak },
  { name: 'snoozed_until', type: 'timestamptz', valueOf: ({ snoozedUntil }) => snoozedUntil },
  { name: 'waiting_since', type: 'timestamptz', valueOf: ({ waitingSince }) => waitingSince },
  { name: 'sla_policy_id', type: 'bigint', valueOf: ({ slaPolicyId }) => slaPolicyId },
  { name: 'unread_count', type: 'int', valueOf: ({ unreadCount }) => unreadCount },
  { name: 'event_sequence', type: 'bigint', valueOf: ({ eventSequence }) => eventSequence },
  { name: 'additional_attributes', type: 'jsonb', valueOf: ({ additionalAttributes }) => additionalAttributes },
  { name: 'custom_attributes', type: 'jsonb', valueOf: ({ customAttributes }) => customAttributes },
  { name: 'updated_at', type: 'timestamptz', valueOf: ({ updatedAt }) => updatedAt },
  { name: 'last_activity_at', type: 'timestamptz', valueOf: ({ lastActivityAt }) => lastActivityAt },
  { name: 'first_response_due_at', type: 'timestamptz', valueOf: ({ firstResponseDueAt }) => firstResponseDueAt },
  { name: 'resolution_due_at', type: 'timestamptz', valueOf: ({ resolutionDueAt }) => resolutionDueAt },
  { name: 'bot_silence_of', type: 'bigint', valueOf: ({ botSilenceOf }) => botSilenceOf },
  { name: 'human_silence', type: 'text', valueOf: ({ humanSilence }) => humanSilence },
  {
    name: 'agent_bot_id',
    type: 'bigint',
    valueOf: ({ bot }) => (bot?.chosenBy === 'conversation' ? bot.id : null),
  },
];

type Values = readonly unknown[];

/** A locked conversation, and the stored values of its columns. */
interface Held {
  conversation: Conversation;
  stored: Values;
}

// Null keeps stored attributes: they may be large, and most changes do not concern them.
const updateOne = prepared(
  `UPDATE conversations SET ${columns
    .map(({ name, type }, index) =>
      type === 'jsonb' ? `${name} = coalesce($${index + 3}, ${name})` : `${name} = $${index + 3}`,
    )
    .join(', ')} WHERE account_id = $1 AND id = $2`,
);

/** A conversation that differs from its stored values. */
interface Changed extends Held {
  values: Values;
  /** Indices of the differing columns. */
  differing: readonly number[];
}

/**
 * The conversations that a transaction of an account has locked: each is read once, is the same object until the
 * transaction ends, and is written when it differs from its stored values. Verbs change the object; no other statement
 * changes the row.
 */
export class HeldConversations {
  readonly #accountId: number;
  readonly #held = new Map<number, Held>();

  constructor(accountId: number) {
    this.#accountId = accountId;
  }

  /** Locks a conversation; null when the account has none with the id. */
  async lock(executor: Executor, id: number): Promise<Conversation | null> {
    const held = this.#held.get(id);
    if (held) return held.conversation;
    const conversation = await lockConversationRow(executor, this.#accountId, id);
    return conversation && this.#hold(conversation);
  }

  /** Locks conversations by one statement, in the order of their ids. */
  async lockMany(executor: Executor, choice: RowChoice): Promise<Conversation[]> {
    const conversations = await lockConversationRows(executor, this.#accountId, choice);
    return conversations.map((read) => this.#held.get(read.id)?.conversation ?? this.#hold(read));
  }

  /** Inserts a conversation created at `now`. */
  async insert(executor: Executor, draft: ConversationDraft, now: Date): Promise<Conversation> {
    return this.#hold(await insertConversationRow(executor, this.#accountId, draft, now));
  }

  /** Deletes locked conversations, with the rows that refer to them. */
  async delete(executor: Executor, conversations: readonly Conversation[]): Promise<void> {
    const ids = conversations.map(({ id }) => id);
    await sql(executor, 'DELETE FROM conversations WHERE account_id = $1 AND id = ANY ($2)', [this.#accountId, ids]);
    for (const id of ids) this.#held.delete(id);
  }

  /** Writes the conversations that differ from their stored values, in one statement. */
  async write(executor: Executor): Promise<void> {
    const changed = [...this.#held.values()].flatMap((held): Changed[] => {
      const values = valuesOf(held.conversation);
      const differing = [...values.keys()].filter((index) => !isSame(values[index], held.stored[index]));
      return differing.length > 0 ? [{ ...held, values, differing }] : [];
    });
    const [first] = changed;
    if (!first) return;
    await (changed.length === 1 ? writeOne(executor, first) : writeMany(executor, this.#accountId, changed));
    for (const { conversation, values } of changed) this.#held.set(conversation.id, { conversation, stored: values });
  }

  /**
   * Marks the present state; the returned function restores it, for a rolled-back savepoint. Conversations locked since are
   * forgotten, because their locks are released.
   */
  mark(): () => void {
    const before = Array.from(this.#held.values(), (held) => ({ ...held, copy: { ...held.conversation } }));
    return () => {
      this.#held.clear();
      for (const { conversation, stored, copy } of before) {
        Object.assign(conversation, copy);
        this.#held.set(conversation.id, { conversation, stored });
      }
    };
  }

  #hold(conversation: Conversation): Conversation {
    this.#held.set(conversation.id, { conversation, stored: valuesOf(conversation) });
    return conversation;
  }
}

function valuesOf(conversation: Conversation): Values {
  return columns.map(({ valueOf }) => valueOf(conversation));
}

// Identity suffices for attributes: they are replaced, never changed in place.
function isSame(one: unknown, other: unknown): boolean {
  return one === other || (one instanceof Date && other instanceof Date && one.getTime() === other.getTime());
}

async function writeOne(executor: Executor, { conversation, values, differing }: Changed): Promise<void> {
  const parameters = columns.map((column, index) =>
    column.type === 'jsonb' && !differing.includes(index) ? null : encode(column, values[index]),
  );
  await sql(executor, updateOne, [conversation.account.id, conversation.id, ...parameters]);
}

function encode({ type }: Column, value: unknown): unknown {
  return type === 'jsonb' ? JSON.stringify(value) : value;
}

async function writeMany(executor: Executor, accountId: number, changed: readonly Changed[]): Promise<void> {
  const differing = [...new Set(changed.flatMap((one) => one.differing))];
  const written = differing.flatMap((index) => columns.slice(index, index + 1));
  const arrays = ['$2::bigint[]', ...written.map(({ type }, index) => `$${index + 3}::${type}[]`)];
  await sql(
    executor,
    `UPDATE conversations c SET ${written.map(({ name }) => `${name} = changed.${name}`).join(', ')}
     FROM unnest(${arrays.join(', ')}) AS changed (id, ${written.map(({ name }) => name).join(', ')})
     WHERE c.account_id = $1 AND c.id = changed.id`,
    [
      accountId,
      changed.map(({ conversation }) => conversation.id),
      ...written.map((column) => changed.map(({ conversation }) => encode(column, column.valueOf(conversation)))),
    ],
  );
}

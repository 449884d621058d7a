import { sql, type Executor } from '../postgres/sql.ts';
import { valuesOf as placesOf, type Part } from '../postgres/write-set.ts';
import type { Conversation, Named } from './conversation.ts';
import {
  draftConversation,
  lockConversationRow,
  lockConversationRows,
  type ConversationDraft,
  type Reserved,
  type RowChoice,
} from './locked-conversations.ts';

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

/** The columns of a new conversation that never change. */
const lasting: readonly Column[] = [
  { name: 'id', type: 'bigint', valueOf: ({ id }) => id },
  { name: 'inbox_id', type: 'bigint', valueOf: ({ inbox }) => inbox.id },
  { name: 'contact_id', type: 'bigint', valueOf: ({ contact }) => contact.id },
  { name: 'source_id', type: 'text', valueOf: ({ sourceId }) => sourceId },
  { name: 'created_at', type: 'timestamptz', valueOf: ({ createdAt }) => createdAt },
];

/** The columns that a message changes on most conversations. */
const usual = new Set(['unread_count', 'event_sequence', 'updated_at', 'last_activity_at', 'waiting_since']);
const usualColumns = columns.filter(({ name }) => usual.has(name));

type Values = readonly unknown[];

/** A locked conversation, and what is known of its row. */
interface Held {
  conversation: Conversation;
  /** The stored values of its columns; null when it is not inserted yet. */
  stored: Values | null;
}

/** The transaction that holds them. */
interface Within {
  connection: Executor;
  account: Named;
}

/**
 * The conversations that a transaction of an account has locked: each is read once, is the same object until the
 * transaction ends, and is written when it differs from its stored values. Verbs change the object; no other statement
 * changes the row.
 */
export class HeldConversations {
  readonly #held = new Map<number, Held>();
  /** Ids for the next message of conversations, where one was taken with the lock. */
  readonly messageIds = new Map<number, number>();

  /** Locks a conversation; null when the account has none with the id. */
  async lock({ connection, account }: Within, id: number): Promise<Conversation | null> {
    const held = this.#held.get(id);
    if (held) return held.conversation;
    const row = await lockConversationRow(connection, account.id, id);
    return row && this.#hold(row);
  }

  /** Whether the conversation is locked already. */
  holds(id: number): boolean {
    return this.#held.has(id);
  }

  /** Locks conversations by one statement, in the order of their ids. */
  async lockMany({ connection, account }: Within, choice: RowChoice): Promise<Conversation[]> {
    const rows = await lockConversationRows(connection, account.id, choice);
    return rows.map((row) => this.#held.get(row.conversation.id)?.conversation ?? this.#hold(row));
  }

  /** Creates a conversation at `now`; null without its inbox or contact. */
  async create({ connection, account }: Within, draft: ConversationDraft, now: Date): Promise<Conversation | null> {
    const created = await draftConversation(connection, account.id, draft, now);
    return created && this.#hold(created, null);
  }

  /** Deletes locked conversations, with the rows that refer to them. */
  async delete({ connection, account }: Within, conversations: readonly Conversation[]): Promise<void> {
    const ids = conversations.map(({ id }) => id);
    await sql(connection, 'DELETE FROM conversations WHERE account_id = $1 AND id = ANY ($2)', [account.id, ids]);
    for (const id of ids) this.#held.delete(id);
  }

  /** What is to be written: new conversations, and those that differ from their stored values. */
  takeChanges(): Part[] {
    const [created, changed]: [Conversation[], Changed[]] = [[], []];
    for (const held of this.#held.values()) {
      const { conversation, stored } = held;
      const values = valuesOf(conversation);
      const differing = stored && columns.filter((_, index) => !isSame(values[index], stored[index]));
      if (!differing) created.push(conversation);
      else if (differing.length > 0) changed.push({ conversation, differing });
      held.stored = values;
    }
    return [...created.map(insertOne), ...update(changed)];
  }

  /**
   * Marks the present state; the returned function restores it, for a rolled-back savepoint. Conversations locked since are
   * forgotten, because their locks are released.
   */
  mark(): () => void {
    const before = Array.from(this.#held.values(), (held) => ({ ...held, copy: { ...held.conversation } }));
    return () => {
      this.#held.clear();
      for (const { copy, ...held } of before) {
        Object.assign(held.conversation, copy);
        this.#held.set(copy.id, held);
      }
    };
  }

  #hold({ conversation, messageId }: Reserved, stored: Values | null = valuesOf(conversation)): Conversation {
    this.#held.set(conversation.id, { conversation, stored });
    if (messageId !== null) this.messageIds.set(conversation.id, messageId);
    return conversation;
  }
}

function valuesOf(conversation: Conversation): Values {
  return columns.map(({ valueOf }) => valueOf(conversation));
}

/** A conversation that differs from its stored values, and the differing columns. */
interface Changed {
  conversation: Conversation;
  differing: readonly Column[];
}

// Identity suffices for attributes: they are replaced, never changed in place.
function isSame(one: unknown, other: unknown): boolean {
  return one === other || (one instanceof Date && other instanceof Date && one.getTime() === other.getTime());
}

function insertOne(conversation: Conversation, index: number): Part {
  const all = [...lasting, ...columns];
  const names = all.map(({ name }) => name).join(', ');
  const types = all.map(({ type }) => type);
  return {
    shape: `create_${index}`,
    hot: index === 0,
    parameters: all.map((column) => encode(column, conversation)),
    text: (first) => `created_${index} AS (
      INSERT INTO conversations (account_id, ${names}) SELECT $1, c.* FROM (VALUES ${placesOf(first, 1, types)}) AS c)`,
  };
}

function encode({ type, valueOf }: Column, conversation: Conversation): unknown {
  const value = valueOf(conversation);
  return type === 'jsonb' ? JSON.stringify(value) : value;
}

// Attributes are written only where they differ: they may be large, and most changes do not concern them.
function update(changed: readonly Changed[]): Part[] {
  const [first] = changed;
  if (!first) return [];
  if (changed.length > 1) return [updateMany(changed)];
  const { conversation, differing } = first;
  if (differing.every(({ name }) => usual.has(name))) return [updateOne('usual', conversation, usualColumns)];
  const attributes = differing.filter(({ type }) => type === 'jsonb');
  const written = columns.filter((column) => column.type !== 'jsonb' || attributes.includes(column));
  return [updateOne(`all ${attributes.map(({ name }) => name).join(' ')}`, conversation, written)];
}

function updateOne(shape: string, conversation: Conversation, written: readonly Column[]): Part {
  const set = (first: number) => written.map(({ name }, index) => `${name} = $${first + 1 + index}`).join(', ');
  return {
    shape: `change ${shape}`,
    hot: true,
    parameters: [conversation.id, ...written.map((column) => encode(column, conversation))],
    text: (first) => `changed AS (
      UPDATE conversations SET ${set(first)} WHERE account_id = $1 AND id = $${first})`,
  };
}

function updateMany(changed: readonly Changed[]): Part {
  const differing = new Set(changed.flatMap((one) => one.differing));
  const written = columns.filter((column) => differing.has(column));
  const arrays = (first: number) =>
    ['bigint', ...written.map(({ type }) => type)].map((type, index) => `$${first + index}::${type}[]`).join(', ');
  return {
    shape: 'change many',
    hot: false,
    parameters: [
      changed.map(({ conversation }) => conversation.id),
      ...written.map((column) => changed.map(({ conversation }) => encode(column, conversation))),
    ],
    text: (first) => `changed AS (
      UPDATE conversations c SET ${written.map(({ name }) => `${name} = changed.${name}`).join(', ')}
      FROM unnest(${arrays(first)}) AS changed (id, ${written.map(({ name }) => name).join(', ')})
      WHERE c.account_id = $1 AND c.id = changed.id)`,
  };
}

import { arrayParameter } from '../../postgres/array-parameter.ts';
import { valuesOf as placesOf, type Part } from '../../postgres/write-set.ts';
import { joinInbox } from '../contacts/source-ids.ts';
import type { Conversation } from './conversation.ts';

interface Column {
  name: string;
  type: 'text' | 'bigint' | 'int' | 'timestamptz' | 'jsonb';
  valueOf: (conversation: Conversation) => unknown;
}

/** The columns that verbs may change, and their values. */
const columns: readonly Column[] = [
  { name: 'contact_id', type: 'bigint', valueOf: ({ contact }) => contact.id },
  { name: 'status', type: 'text', valueOf: ({ status }) => status },
  { name: 'priority', type: 'text', valueOf: ({ priority }) => priority },
  { name: 'assignee_id', type: 'bigint', valueOf: ({ assignee }) => assignee?.id ?? null },
  { name: 'team_id', type: 'bigint', valueOf: ({ team }) => team?.id ?? null },
  { name: 'bot_silence', type: 'text', valueOf: ({ botSilence }) => botSilence },
  { name: 'bot_streak', type: 'int', valueOf: ({ botStreak }) => botStreak },
  { name: 'bot_changes', type: 'int', valueOf: ({ botChanges }) => botChanges },
  { name: 'bot_changed_at', type: 'timestamptz', valueOf: ({ botChangedAt }) => botChangedAt },
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
  { name: 'handoff_reason', type: 'text', valueOf: ({ handoffReason }) => handoffReason },
  { name: 'closed_by', type: 'text', valueOf: ({ closedBy }) => closedBy },
  { name: 'session_began_at', type: 'timestamptz', valueOf: ({ sessionBeganAt }) => sessionBeganAt },
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
  { name: 'source_id', type: 'text', valueOf: ({ sourceId }) => sourceId },
  { name: 'created_at', type: 'timestamptz', valueOf: ({ createdAt }) => createdAt },
];

/** The columns that a message changes on most conversations. */
const usual = new Set(['unread_count', 'event_sequence', 'updated_at', 'last_activity_at', 'waiting_since']);
const usualColumns = columns.filter(({ name }) => usual.has(name));

/** A locked conversation, and its stored row. */
export interface Held {
  conversation: Conversation;
  /** A copy of it as it is stored; null when it is not inserted yet. */
  stored: Conversation | null;
}

/**
 * Returns the writes of held conversations: new ones, with their contacts' places in their inboxes, and those that differ
 * from what is stored. From then on they count as stored.
 */
export function writeConversations(held: Iterable<Held>): Part[] {
  const [created, changed]: [Conversation[], Changed[]] = [[], []];
  for (const one of held) {
    const { conversation, stored } = one;
    const differing = stored && columns.filter(({ valueOf }) => !isSame(valueOf(conversation), valueOf(stored)));
    if (!differing) created.push(conversation);
    else if (differing.length > 0) changed.push({ conversation, differing });
    one.stored = { ...conversation };
  }
  return [...created.map(insertOne), ...created.map(joinInbox), ...update(changed)];
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
      ...written.map((column) => {
        const values = changed.map(({ conversation }) => encode(column, conversation));
        return arrayParameter(column.type, values);
      }),
    ],
    text: (first) => `changed AS (
      UPDATE conversations c SET ${written.map(({ name }) => `${name} = changed.${name}`).join(', ')}
      FROM unnest(${arrays(first)}) AS changed (id, ${written.map(({ name }) => name).join(', ')})
      WHERE c.account_id = $1 AND c.id = changed.id)`,
  };
}

import { sql, type Executor } from '../postgres/sql.ts';
import type { Conversation } from './conversation.ts';

/**
 * Writes back, in one statement, what verbs may change on many conversations at once that the transaction has locked:
 * their assignee, their bots' silence, the number of their events, and when they were changed. `assignments` go to
 * further columns, as SQL.
 */
export async function saveConversations(
  executor: Executor,
  accountId: number,
  conversations: readonly Conversation[],
  assignments: readonly string[] = [],
): Promise<void> {
  const columns = [
    'assignee_id = said.assignee_id',
    'bot_silence = said.bot_silence',
    'bot_silence_of = said.bot_silence_of',
    'human_silence = said.human_silence',
    'bot_streak = said.bot_streak',
    'event_sequence = said.sequence',
    'updated_at = said.updated_at',
    ...assignments,
  ];
  await sql(
    executor,
    `UPDATE conversations c SET ${columns.join(', ')}
     FROM unnest($2::bigint[], $3::bigint[], $4::text[], $5::bigint[], $6::text[], $7::int[], $8::bigint[],
       $9::timestamptz[]) AS said (id, assignee_id, bot_silence, bot_silence_of, human_silence, bot_streak, sequence,
       updated_at)
     WHERE c.account_id = $1 AND c.id = said.id`,
    [
      accountId,
      conversations.map(({ id }) => id),
      conversations.map(({ assignee }) => assignee?.id ?? null),
      conversations.map(({ botSilence }) => botSilence),
      conversations.map(({ botSilenceOf }) => botSilenceOf),
      conversations.map(({ humanSilence }) => humanSilence),
      conversations.map(({ botStreak }) => botStreak),
      conversations.map(({ eventSequence }) => eventSequence),
      conversations.map(({ updatedAt }) => updatedAt),
    ],
  );
}

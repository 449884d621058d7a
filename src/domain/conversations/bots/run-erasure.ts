import type { Transaction } from '../../../events/transaction.ts';

/** Texts shorter than this are in too many records by chance. */
const minChars = 4;

// Calls, actions and logs hold the text as JSON, in answers and arguments also as JSON within JSON: without their backslashes
// all these forms are alike.
const without = (text: string): string => `replace(${text}, '\\', '')`;
// The data of calls that a bot has scheduled, by the event of the call.
const remembers = (event: string, text: string): string => `${event}.account_id = $1 AND ${event}.conversation_id = $2
  AND ${event}.name = 'schedule' AND strpos(${without(`(${event}.bot_payload->'data')::text`)}, ${text}) > 0`;
const forgetStatements = [
  `UPDATE bot_schedules SET data = 'null' WHERE account_id = $1 AND conversation_id = $2
     AND strpos(${without('data::text')}, $3) > 0`,
  `UPDATE events e SET bot_payload = (e.bot_payload::jsonb || '{"data": null}')::json WHERE ${remembers('e', '$3')}`,
];
const statement = `
  UPDATE bot_runs r SET calls = '[]', actions = '[]', logs = '[]', error = NULL, error_stack = NULL, erased_at = $6
  WHERE r.account_id = $1 AND r.conversation_id = $2 AND r.erased_at IS NULL AND (
    r.event_id IN (
      SELECT e.id FROM events e WHERE e.account_id = $1 AND e.conversation_id = $2
        AND e.name IN ('message_created', 'message_updated') AND coalesce(e.account_payload, e.bot_payload)->>'id' = $3
      UNION ALL SELECT e.id FROM events e WHERE ${remembers('e', '$4')})
    OR EXISTS (SELECT FROM json_array_elements(r.calls) call, json_array_elements(
      CASE WHEN call->>'name' IN ('history', 'settled') AND json_typeof(call->'output') = 'array' THEN call->'output'
        ELSE '[]' END) heard
      WHERE heard->>'id' = $3)
    OR strpos(${without('r.calls::text || r.actions::text || r.logs::text')}, $4) > 0
    OR strpos(${without('concat(r.error, r.error_stack)')}, $5) > 0)`;

/**
 * Deletes what runs got, asked for, did and wrote, of all runs in the conversation that were called for the message, had it
 * in their history or in a burst, or recorded its text. What a bot has made of the text beyond recognition is found by the
 * first three. The data of scheduled calls that holds the text becomes null.
 */
export async function eraseFromRuns(
  tx: Transaction,
  { conversationId, messageId, content }: { conversationId: number; messageId: number; content: string },
): Promise<void> {
  const isTelling = content.length >= minChars;
  const [asJson, plain] = [JSON.stringify(content).slice(1, -1), content].map((text) => text.replaceAll('\\', ''));
  await tx.sql(statement, [
    tx.account.id,
    conversationId,
    String(messageId),
    isTelling ? asJson : null,
    isTelling ? plain : null,
    tx.now,
  ]);
  if (!isTelling) return;
  for (const forget of forgetStatements) await tx.sql(forget, [tx.account.id, conversationId, asJson]);
}

import type { Transaction } from '../../events/transaction.ts';
import { sql } from '../../postgres/sql.ts';

/** Texts shorter than this are in too many records by chance. */
const minChars = 4;

// Calls, actions and logs hold the text as JSON, in answers and arguments also as JSON within JSON: without their backslashes
// all these forms are alike.
const without = (text: string): string => `replace(${text}, '\\', '')`;
const statement = `
  UPDATE bot_runs r SET calls = '[]', actions = '[]', logs = '[]', error = NULL, error_stack = NULL, erased_at = $6
  WHERE r.account_id = $1 AND r.conversation_id = $2 AND r.erased_at IS NULL AND (
    r.event_id IN (
      SELECT e.id FROM events e WHERE e.account_id = $1 AND e.conversation_id = $2
        AND e.name IN ('message_created', 'message_updated') AND coalesce(e.account_payload, e.bot_payload)->>'id' = $3)
    OR EXISTS (SELECT FROM json_array_elements(CASE WHEN r.calls->0->>'name' = 'history'
      AND json_typeof(r.calls->0->'output') = 'array' THEN r.calls->0->'output' ELSE '[]' END) heard
      WHERE heard->>'id' = $3)
    OR strpos(${without('r.calls::text || r.actions::text || r.logs::text')}, $4) > 0
    OR strpos(${without('concat(r.error, r.error_stack)')}, $5) > 0)`;

/**
 * Deletes what runs got, asked for, did and wrote, of all runs in the conversation that were called for the message, had it
 * in their history, or recorded its text. What a bot has made of the text beyond recognition is found by the first two.
 */
export async function eraseFromRuns(
  tx: Transaction,
  { conversationId, messageId, content }: { conversationId: number; messageId: number; content: string },
): Promise<void> {
  const isTelling = content.length >= minChars;
  const [asJson, plain] = [JSON.stringify(content).slice(1, -1), content].map((text) => text.replaceAll('\\', ''));
  await sql(tx.connection, statement, [
    tx.account.id,
    conversationId,
    String(messageId),
    isTelling ? asJson : null,
    isTelling ? plain : null,
    tx.now,
  ]);
}

import type { Transaction } from '../../events/transaction.ts';

/** The account of a transaction. */
type Scope = Pick<Transaction, 'sql' | 'account' | 'now'>;

/** Texts shorter than this are in too many records by chance. */
const minChars = 4;

/** Notes that the run of a hook's request found or made a contact: the request is erased with it. */
export async function noteContact({ sql, account }: Scope, requestId: number, contactId: number): Promise<void> {
  await sql(
    `INSERT INTO hook_request_subjects (account_id, request_id, contact_id) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
    [account.id, requestId, contactId],
  );
}

/** Notes that the run of a hook's request found, began or wrote to conversations: the request is erased with them, and with their contacts. */
export async function noteConversations(
  { sql, account }: Scope,
  requestId: number,
  conversationIds: readonly number[],
): Promise<void> {
  if (conversationIds.length === 0) return;
  await sql(
    `INSERT INTO hook_request_subjects (account_id, request_id, contact_id, conversation_id)
     SELECT c.account_id, $2, c.contact_id, c.id FROM conversations c WHERE c.account_id = $1 AND c.id = ANY ($3) ORDER BY c.id
     ON CONFLICT DO NOTHING`,
    [account.id, requestId, conversationIds],
  );
}

/** Has the requests that are noted for a contact be those of another, with which it is merged. */
export async function moveHookSubjects({ sql, account }: Scope, ids: { from: number; to: number }): Promise<void> {
  await sql(
    `INSERT INTO hook_request_subjects (account_id, request_id, contact_id, conversation_id)
     SELECT account_id, request_id, $3, conversation_id FROM hook_request_subjects WHERE account_id = $1 AND contact_id = $2
     ON CONFLICT DO NOTHING`,
    [account.id, ids.from, ids.to],
  );
}

/** Whether a request is still there as it came, until the end of the transaction. */
export async function isHookRequestKept({ sql, account }: Scope, id: number): Promise<boolean> {
  const kept = await sql(
    'SELECT FROM hook_requests WHERE account_id = $1 AND id = $2 AND erased_at IS NULL FOR SHARE',
    [account.id, id],
  );
  return kept.length > 0;
}

// The id of the sender stays known for as long as it repeats requests: else a repetition would bring back what is erased.
const eraseStatement = (subjects: string): string => `
  WITH subjects AS MATERIALIZED (${subjects}), erased AS (
    UPDATE hook_requests r SET headers = NULL, body = NULL, key = NULL, stored_bytes = 0, reason = 'erased', erased_at = $3
    WHERE r.account_id = $1 AND r.id IN (SELECT request_id FROM subjects) AND r.erased_at IS NULL RETURNING r.event_id)
  UPDATE bot_runs r SET calls = '[]', actions = '[]', logs = '[]', error = NULL, error_stack = NULL, erased_at = $3
  WHERE r.account_id = $1 AND r.event_id IN (SELECT event_id FROM erased) AND r.erased_at IS NULL`;
const ofSubject = (column: string): string =>
  eraseStatement(
    `SELECT DISTINCT s.request_id FROM hook_request_subjects s WHERE s.account_id = $1 AND s.${column} = ANY ($2)`,
  );
const statements = { contact: ofSubject('contact_id'), conversation: ofSubject('conversation_id') };

/**
 * Deletes content and runs of the requests of hooks that are noted for contacts or conversations. Requests that wait are handled no
 * more.
 */
export async function eraseHookRequests(
  { sql, account, now }: Scope,
  kind: keyof typeof statements,
  ids: readonly number[],
): Promise<void> {
  await sql(statements[kind], [account.id, ids, now]);
}

// The runs of hooks have no conversation: their actions name it.
const eraseWriters = eraseStatement(`
  SELECT s.request_id FROM hook_request_subjects s
    JOIN hook_requests q ON q.account_id = s.account_id AND q.id = s.request_id
    JOIN bot_runs b ON b.account_id = q.account_id AND b.event_id = q.event_id
  WHERE s.account_id = $1 AND s.conversation_id = $2 AND (
    EXISTS (SELECT FROM json_array_elements(b.actions) a WHERE a->>'content' = $4)
    OR strpos(replace(concat(b.calls, b.actions, b.logs), '\\', ''), $5) > 0)`);

/** Deletes content and runs of the requests of hooks that wrote a message, or recorded its text, in the conversation. */
export async function eraseHookRequestsOf(
  { sql, account, now }: Scope,
  { conversationId, content }: { conversationId: number; content: string },
): Promise<void> {
  const isTelling = content.length >= minChars;
  const text = isTelling ? JSON.stringify(content).slice(1, -1).replaceAll('\\', '') : null;
  await sql(eraseWriters, [account.id, conversationId, now, content, text]);
}

import type { Sql } from '../../../postgres/sql.ts';
import { storableTextOrNull } from '../../../lib/text/storable.ts';

const maxErrorChars = 500;

/** Embedding of an account's passages, taken by one process for the time of a lease. */
export interface EmbeddingTask {
  account_id: number;
  /** Server and model of the stored vectors; null for none. */
  space: string | null;
  /** Number of the account's present space. */
  generation: number;
  /** Numbers of each vector of this space; null before the first. */
  dimensions: number | null;
  /** Id of the last passage that was embedded. */
  done_id: number;
  /** Failures in a row. */
  failures: number;
  claim: number;
  /** Whether the account's record has an error. */
  is_told: boolean;
}

/** A passage without a vector. */
export interface Unembedded {
  id: number;
  title: string;
  heading: string | null;
  /** Markdown. */
  text: string;
}

/** A vector of a passage; null for one that the server does not accept. */
export interface EmbeddedPassage {
  id: number;
  signs: string | null;
  /** In base64. */
  numbers: string | null;
}

const claimStatement = `
  WITH due AS (
    SELECT account_id FROM embedding_tasks WHERE due_at <= now() ORDER BY due_at LIMIT 1 FOR UPDATE SKIP LOCKED
  )
  UPDATE embedding_tasks t SET due_at = now() + make_interval(secs => $1), claim = t.claim + 1
  FROM due JOIN accounts a ON a.id = due.account_id WHERE t.account_id = due.account_id
  RETURNING t.account_id, t.space, t.generation, t.dimensions, t.done_id, t.failures, t.claim,
    a.passages_error IS NOT NULL AS is_told`;

/** Takes the task that has been due for longest; returns null when none is due. */
export async function claimTask(sql: Sql, leaseSeconds: number): Promise<EmbeddingTask | null> {
  const [task] = await sql<EmbeddingTask>(claimStatement, [leaseSeconds]);
  return task ?? null;
}

/** Returns the milliseconds until a task is due; null when none will be. */
export async function untilNextTask(sql: Sql): Promise<number | null> {
  const [row] = await sql<{ ms: number | null }>(
    `SELECT (extract(epoch FROM min(due_at) - now()) * 1000)::float8 AS ms FROM embedding_tasks WHERE due_at < 'infinity'`,
  );
  return row?.ms ?? null;
}

/** Makes the tasks of accounts without a server of their own due if the service's server or model has changed. */
export async function noticeSpace(sql: Sql, space: string | null): Promise<void> {
  await sql(
    `UPDATE embedding_tasks t SET due_at = now() FROM accounts a
     WHERE a.id = t.account_id AND a.llm_base_url IS NULL AND t.due_at = 'infinity' AND t.space IS DISTINCT FROM $1`,
    [space],
  );
}

// Excludes a task that another process has taken meanwhile.
const ours = 'account_id = $1 AND claim = $2';

// The account's row before its task, as in a change of the server, and without blocking inserts of rows that refer to it.
const held = 'held AS MATERIALIZED (SELECT id FROM accounts WHERE id = $1 FOR NO KEY UPDATE)';
const allAnew = 'generation = t.generation + 1, dimensions = NULL, done_id = 0, failures = 0, due_at = now()';
const forgetErrors = `
  UPDATE accounts SET passages_error = NULL, passages_error_since = NULL, questions_error = NULL, questions_error_since = NULL
  FROM begun WHERE id = begun.account_id AND (passages_error IS NOT NULL OR questions_error IS NOT NULL)`;

const beginStatement = `
  WITH ${held}, begun AS (
    UPDATE embedding_tasks t SET space = $3, ${allAnew}, changes = 0, changes_since = NULL
    FROM held WHERE account_id = held.id AND ${ours} RETURNING account_id
  ) ${forgetErrors}`;

/** Begins with all passages anew, for another server or model, or for none; clears earlier errors. */
export async function beginSpace(sql: Sql, task: EmbeddingTask, space: string | null): Promise<void> {
  await sql(beginStatement, [task.account_id, task.claim, space]);
}

const isToday = `changes_since > now() - interval '1 day'`;
const againStatement = `
  WITH ${held}, begun AS (
    UPDATE embedding_tasks t SET ${allAnew}, changes = CASE WHEN ${isToday} THEN changes ELSE 0 END + 1,
      changes_since = CASE WHEN ${isToday} THEN changes_since ELSE now() END
    FROM held WHERE account_id = held.id AND ${ours} AND NOT coalesce(${isToday} AND changes >= $3, false)
    RETURNING account_id
  ), forgotten AS (${forgetErrors})
  SELECT FROM begun`;
const restStatement = `
  UPDATE embedding_tasks SET failures = failures + 1, due_at = greatest(now(), changes_since + interval '1 day') WHERE ${ours}
  RETURNING 1`;

/**
 * Begins with all passages anew, because the model behind the same name has changed. If that has happened `most` times within
 * a day, changes nothing until the day is over, and returns false.
 */
export async function beginAgain(sql: Sql, task: EmbeddingTask, most: number): Promise<boolean> {
  const begun = await sql(againStatement, [task.account_id, task.claim, most]);
  if (begun.length > 0) return true;
  // No row: another process has taken the task, which is neither begun anew nor postponed.
  return (await sql(restStatement, [task.account_id, task.claim])).length === 0;
}

/** Returns the next passages without a vector, in the order of their ids. */
export function findUnembedded(sql: Sql, task: EmbeddingTask, limit: number): Promise<Unembedded[]> {
  return sql<Unembedded>(
    `SELECT p.id, a.title, p.heading, p.text FROM article_passages p
     JOIN articles a ON a.account_id = p.account_id AND a.id = p.article_id
     WHERE p.account_id = $1 AND p.id > $2 ORDER BY p.id LIMIT $3`,
    [task.account_id, task.done_id, limit],
  );
}

// Leaves out passages that were deleted during the request. The text of a passage never changes: changed articles have other
// passages.
const keepStatement = `
  WITH task AS (
    UPDATE embedding_tasks SET done_id = $3, dimensions = $4, failures = 0, due_at = now() + make_interval(secs => $6)
    WHERE ${ours} RETURNING generation
  ), present AS (
    SELECT p.id, p.language, p.tags, g.signs, g.numbers FROM task CROSS JOIN jsonb_to_recordset($5::jsonb)
      AS g (id bigint, signs text, numbers text)
    JOIN article_passages p ON p.account_id = $1 AND p.id = g.id FOR KEY SHARE OF p
  ), signed AS (
    INSERT INTO passage_signs (account_id, passage_id, generation, language, tags, signs)
    SELECT $1, present.id, task.generation, present.language, present.tags, present.signs::varbit FROM task, present
    ON CONFLICT (account_id, passage_id) DO UPDATE SET generation = excluded.generation, signs = excluded.signs
  ), numbered AS (
    INSERT INTO passage_numbers (account_id, passage_id, numbers)
    SELECT $1, id, decode(numbers, 'base64') FROM present WHERE numbers IS NOT NULL
    ON CONFLICT (account_id, passage_id) DO UPDATE SET numbers = excluded.numbers
  )
  SELECT FROM task`;

/**
 * Stores the vectors of passages, which searches use from then on, and releases the task or extends its lease by
 * `leaseSeconds`. Returns false if the task is another process's.
 */
export async function keepVectors(
  sql: Sql,
  { account_id: accountId, claim, dimensions }: EmbeddingTask,
  { passages, leaseSeconds }: { passages: readonly EmbeddedPassage[]; leaseSeconds: number },
): Promise<boolean> {
  const parameters = [accountId, claim, passages.at(-1)?.id, dimensions, JSON.stringify(passages), leaseSeconds];
  return (await sql(keepStatement, parameters)).length > 0;
}

/** Deletes up to `limit` vectors of an account; returns their number. */
export async function deleteVectors(sql: Sql, task: EmbeddingTask, limit: number): Promise<number> {
  const rows = await sql(
    `DELETE FROM passage_signs WHERE account_id = $1 AND passage_id IN (
       SELECT passage_id FROM passage_signs WHERE account_id = $1 ORDER BY passage_id LIMIT $2) RETURNING passage_id`,
    [task.account_id, limit],
  );
  return rows.length;
}

const settleStatement = `
  UPDATE embedding_tasks SET failures = 0, due_at = CASE
    WHEN space IS NULL OR free.yes THEN 'infinity'::timestamptz ELSE now() + interval '200 milliseconds' END
  FROM (SELECT pg_try_advisory_xact_lock(hashtextextended('articles', $1)) AS yes) free WHERE ${ours}`;
const wakeStatement = `
  UPDATE embedding_tasks t SET due_at = now() WHERE t.account_id = $1 AND t.due_at = 'infinity' AND t.space IS NOT NULL
    AND EXISTS (SELECT FROM article_passages p WHERE p.account_id = $1 AND p.id > t.done_id)`;

/** Ends a task that has nothing to do; makes it due soon if articles of the account are being written. */
export async function settleTask(sql: Sql, task: EmbeddingTask): Promise<void> {
  await sql(settleStatement, [task.account_id, task.claim]);
  // A writer that committed before the first statement had its lock did not find the task settled, and woke nobody.
  await sql(wakeStatement, [task.account_id]);
}

/** Releases a task, for another process to continue. */
export async function releaseTask(sql: Sql, task: EmbeddingTask): Promise<void> {
  await sql(`UPDATE embedding_tasks SET due_at = now() WHERE ${ours}`, [task.account_id, task.claim]);
}

/** Postpones a task, for twice as long with each failure in a row. */
export async function setBackTask(
  sql: Sql,
  task: EmbeddingTask,
  { pauseMs, maxMs }: { pauseMs: number; maxMs: number },
): Promise<void> {
  const ms = Math.min(maxMs, pauseMs * 2 ** Math.min(task.failures, 30));
  await sql(
    `UPDATE embedding_tasks SET failures = failures + 1, due_at = now() + make_interval(secs => $3) WHERE ${ours}`,
    [task.account_id, task.claim, ms / 1000],
  );
}

/**
 * Stores the error of the account's passages, or of its questions, for its record; null when there is none. The time since
 * which it fails stays until it succeeds.
 */
export async function keepEmbeddingHealth(
  sql: Sql,
  accountId: number,
  { of, error }: { of: 'passages' | 'questions'; error: string | null },
): Promise<void> {
  const kept = storableTextOrNull(error, maxErrorChars);
  await sql(
    `UPDATE accounts SET ${of}_error = $2, ${of}_error_since =
       CASE WHEN $2::text IS NULL THEN NULL ELSE coalesce(${of}_error_since, now()) END
     WHERE id = $1 AND ${of}_error IS DISTINCT FROM $2`,
    [accountId, kept],
  );
}

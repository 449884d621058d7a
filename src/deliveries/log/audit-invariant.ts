import type { Invariant } from './invariant.ts';

/** SQL: the text of an entry that its hash in the chain covers, after the hash before. */
export const auditedText = (entry: string): string =>
  `jsonb_build_array(${[
    ...['id', 'account_id'].map((column) => `${entry}.${column}`),
    `extract(epoch FROM ${entry}.at)`,
    ...['actor_type', 'actor_id', 'actor_name', 'action', 'target_type', 'target_id'].map(
      (column) => `${entry}.${column}`,
    ),
    ...['changes', 'address', 'request_id'].map((column) => `${entry}.${column}::text`),
  ].join(', ')})::text`;

// The newest entry of a chain is never deleted for its age, so that an entry missing at the end shows, too.
export const audited: Invariant = {
  id: 'L13',
  name: 'no entry of the audit log was changed, and none is missing',
  text: `
    WITH chained AS (
      SELECT a.account_id, a.id, a.position, a.hash, a.previous_hash,
        sha256(a.previous_hash || convert_to(${auditedText('a')}, 'UTF8')) AS computed,
        lag(a.hash) OVER chain AS before, lag(a.position) OVER chain AS before_position
      FROM audit_log a WHERE a.hash IS NOT NULL WINDOW chain AS (PARTITION BY a.account_id ORDER BY a.position)
    )
    SELECT account_id, id AS audit_id, position FROM chained
    WHERE hash <> computed OR before <> previous_hash OR position <> before_position + 1
    UNION ALL
    SELECT c.account_id, l.id, c.position FROM audit_chains c
    LEFT JOIN audit_log l ON l.account_id IS NOT DISTINCT FROM c.account_id AND l.position = c.position
    WHERE c.position > 0 AND l.hash IS DISTINCT FROM c.hash`,
};

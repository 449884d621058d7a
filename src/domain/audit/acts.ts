import { storableJson } from '../../lib/text/storable.ts';
import type { Sql } from '../../postgres/sql.ts';

/** Where an act came from: the caller's network address and the id of the request; null for commands and the service itself. */
export interface Origin {
  address: string | null;
  requestId: string | null;
}

/** Actor of an act: `operator` is who has a shell on the server, `system` the service. */
export interface Acting {
  type: 'user' | 'agent_bot' | 'operator' | 'system';
  id: number | null;
  name: string | null;
}

/** The value of each field before and after; null where there was or is none. */
export type Changes = Readonly<Record<string, readonly [before: unknown, after: unknown]>>;

/** An act, for the audit log. Nothing in it is secret. */
export interface Act {
  actor: Acting;
  /** `NOUN.VERB`, such as `webhook.updated`. */
  action: string;
  target: { type: string; id: number | string } | null;
  changes: Changes;
  origin: Origin;
}

/** The origin of commands and of the service itself. */
export const noOrigin: Origin = { address: null, requestId: null };

const insert =
  'INSERT INTO audit_log (account_id, at, actor_type, actor_id, actor_name, action, target_type, target_id, changes, address, request_id)';

/** Writes an act into the audit log of the account, or of the platform (`accountId` null), in the transaction of the act. */
export async function recordAct(sql: Sql, accountId: number | null, act: Act, now: Date): Promise<void> {
  const { actor, action, target, changes, origin } = act;
  await sql(`${insert} VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`, [
    accountId,
    now,
    actor.type,
    actor.id,
    actor.name,
    action,
    target?.type ?? null,
    target === null ? null : String(target.id),
    storableJson(changes),
    origin.address,
    origin.requestId,
  ]);
}

/** An act by a person, or by the operator on a person. */
export interface ActOfPerson extends Pick<Act, 'action' | 'origin'> {
  userId: number;
  changes?: Changes;
  by?: 'user' | 'operator';
}

/**
 * Writes an act of a person that is about no account, such as a sign-in, into the log of each account that the person works in,
 * and of the platform's for its administrators. The person is called by the seat in an account's log.
 */
export async function recordActOfPerson(
  sql: Sql,
  { userId, action, changes = {}, origin, by = 'user' }: ActOfPerson,
  now: Date,
): Promise<void> {
  await sql(
    `${insert}
     SELECT s.account_id, $2::timestamptz, $7, CASE $7 WHEN 'user' THEN coalesce(s.id, u.id) END,
       CASE $7 WHEN 'user' THEN u.name END, $3, 'user', coalesce(s.id, u.id)::text, $4::json, $5, $6
     FROM users u CROSS JOIN LATERAL (
       SELECT account_id, id FROM seats WHERE person_id = u.id AND left_at IS NULL
       UNION ALL SELECT NULL, NULL WHERE u.platform_admin) s
     WHERE u.id = $1`,
    [userId, now, action, storableJson(changes), origin.address, origin.requestId, by],
  );
}

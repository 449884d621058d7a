import type { Identity } from './identity.ts';
import type { Sql } from '../../postgres/sql.ts';

/** Membership of a person in an account by a token, valid until either ends. */
export interface Standing {
  tokenHash: Buffer;
  accountId: number;
  /** The seat. */
  agentId: number;
  role: 'administrator' | 'agent';
}

/** Returns the standing of a person who was just identified in an account. */
export function standingOf({ tokenHash, accountId, entry }: Identity): Standing {
  const { id: agentId, role } = entry?.entrant ?? {};
  if (accountId !== null && agentId !== undefined && role) return { tokenHash, accountId, agentId, role };
  throw new Error('Only people have a standing');
}

/** Returns the standings that still hold: token or sign-in, seat and role are unchanged. Takes one statement. */
export async function findStanding<Held extends Standing>(
  sql: Sql,
  held: readonly Held[],
  now: Date,
): Promise<Set<Held>> {
  if (held.length === 0) return new Set();
  const rows = await sql<{ place: number }>(
    `SELECT h.place FROM unnest($1::bytea[], $2::bigint[], $3::bigint[], $4::text[]) WITH ORDINALITY
       AS h (token_hash, account_id, agent_id, role, place)
     JOIN access_tokens k ON k.token_hash = h.token_hash AND (k.expires_at IS NULL OR k.expires_at > $5)
     JOIN seats s ON s.account_id = h.account_id AND s.id = h.agent_id AND s.person_id = k.user_id AND s.left_at IS NULL
     JOIN agents g ON g.account_id = h.account_id AND g.user_id = s.id AND g.role = h.role`,
    [
      held.map(({ tokenHash }) => tokenHash),
      held.map(({ accountId }) => accountId),
      held.map(({ agentId }) => agentId),
      held.map(({ role }) => role),
      now,
    ],
  );
  return new Set(rows.flatMap(({ place }) => held[place - 1] ?? []));
}

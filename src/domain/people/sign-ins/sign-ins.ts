import { forbidden, unauthenticated } from '../../../errors.ts';
import type { OuterTransaction } from '../../../events/transaction.ts';
import { hashToken, isSignIn, lastFour, looksForged } from '../../../lib/secrets/tokens.ts';
import type { Sql } from '../../../postgres/sql.ts';
import { recordActOfPerson, type Origin } from '../../audit/acts.ts';
import { findPrincipal } from '../identity.ts';
import { lockPerson } from '../users.ts';

// The oldest ones of a person end when there are more.
const maxSignIns = 50;

/** Way in which a person proved who it is. */
export type Proof = 'token' | 'link' | 'password' | 'invitation' | 'oidc';

/** A sign-in that is to be made: `token` stands for the person in the cookie of a browser that names itself so. */
export interface NewSignIn {
  token: string;
  expiresAt: Date;
  userAgent: string | null;
  /** Where the request comes from. */
  origin: Origin;
}

/** Signs in by an access token. Errors: 401 for a token that is not valid, 403 for a bot's. */
export async function signInByToken({ sql, now }: OuterTransaction, token: string, made: NewSignIn): Promise<void> {
  const userId = await findHolder(sql, token);
  await lockPerson(sql, userId);
  // The token may have been revoked before its holder was locked.
  await findHolder(sql, token);
  await openSignIn(sql, userId, { ...made, by: 'token', now });
}

/** Makes a sign-in of a person who has proved who it is, and tells it in the audit log. Locks the person. */
export async function openSignIn(
  sql: Sql,
  userId: number,
  { token, expiresAt, userAgent, origin, by, now }: NewSignIn & { by: Proof; now: Date },
): Promise<void> {
  await lockPerson(sql, userId);
  await sql(
    `DELETE FROM access_tokens WHERE id IN (
       SELECT id FROM access_tokens WHERE user_id = $1 AND expires_at IS NOT NULL ORDER BY id DESC OFFSET ${maxSignIns - 1})`,
    [userId],
  );
  await sql(
    `INSERT INTO access_tokens (user_id, token_hash, last_four, created_at, expires_at, user_agent, signed_in_by)
     VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [userId, hashToken(token), lastFour(token), now, expiresAt, userAgent, by],
  );
  await recordActOfPerson(sql, { userId, action: 'sign_in', changes: { by: [null, by] }, origin }, now);
}

async function findHolder(sql: Sql, token: string): Promise<number> {
  const principal = isSignIn(token) || looksForged(token) ? null : await findPrincipal(sql, hashToken(token));
  if (!principal) throw unauthenticated();
  if (principal.kind === 'agent_bot') throw forbidden('Bots cannot sign in: this is the access token of a bot');
  if (principal.kind === 'webhook') throw forbidden('This token opens the log of one webhook, and signs nobody in');
  return principal.id;
}

/** Ends a sign-in. */
export async function signOut({ sql }: OuterTransaction, token: string): Promise<void> {
  await sql('DELETE FROM access_tokens WHERE token_hash = $1 AND expires_at IS NOT NULL', [hashToken(token)]);
}

/** Ends all sign-ins of a person but the one with the id `keptId`. */
export async function endSignIns(sql: Sql, userId: number, keptId: number | null): Promise<void> {
  await sql(
    'DELETE FROM access_tokens WHERE user_id = $1 AND expires_at IS NOT NULL AND id IS DISTINCT FROM $2::bigint',
    [userId, keptId],
  );
}

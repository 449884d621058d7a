import { ApiError, forbidden, unauthenticated } from '../../errors.ts';
import type { OuterTransaction } from '../../events/transaction.ts';
import { hashToken, isSignIn, lastFour, looksForged } from '../../lib/secrets/tokens.ts';
import type { Sql } from '../../postgres/sql.ts';
import { findPrincipal } from './identity.ts';
import { lockPerson } from './users.ts';

/** How a person proves who it is: by an access token, or by a link that lets its holder in once. */
export type Proven = { accessToken: string } | { link: string };

const linkMs = 30 * 60_000;
// The oldest ones of a person end when there are more.
const maxSignIns = 50;
// Each new link removes more old ones than it adds, so that nobody need sweep.
const removedLinks = 10;

/**
 * Signs a person in until `expiresAt`: `token` then stands for the person in the cookie of a browser that names itself so.
 * Answers the person's id.
 * Errors: 401 for a token that is not valid, 403 for a bot's, 410 for a link that was used or has expired.
 */
export async function signIn(
  { sql, now }: OuterTransaction,
  proven: Proven,
  { token, expiresAt, userAgent }: { token: string; expiresAt: Date; userAgent: string | null },
): Promise<number> {
  const userId = await ('link' in proven ? redeemLink(sql, proven.link, now) : findHolder(sql, proven.accessToken));
  await lockPerson(sql, userId);
  // The token may have been revoked before its holder was locked.
  if ('accessToken' in proven) await findHolder(sql, proven.accessToken);
  await sql(
    `DELETE FROM access_tokens WHERE id IN (
       SELECT id FROM access_tokens WHERE user_id = $1 AND expires_at IS NOT NULL ORDER BY id DESC OFFSET ${maxSignIns - 1})`,
    [userId],
  );
  await sql(
    `INSERT INTO access_tokens (user_id, token_hash, last_four, created_at, expires_at, user_agent)
     VALUES ($1, $2, $3, $4, $5, $6)`,
    [userId, hashToken(token), lastFour(token), now, expiresAt, userAgent],
  );
  return userId;
}

async function findHolder(sql: Sql, token: string): Promise<number> {
  const principal = isSignIn(token) || looksForged(token) ? null : await findPrincipal(sql, hashToken(token));
  if (!principal) throw unauthenticated();
  if (principal.kind === 'agent_bot') throw forbidden('Bots cannot sign in: this is the access token of a bot');
  if (principal.kind === 'webhook') throw forbidden('This token opens the log of one webhook, and signs nobody in');
  return principal.id;
}

async function redeemLink(sql: Sql, link: string, now: Date): Promise<number> {
  const [row] = await sql<{ user_id: number }>(
    'DELETE FROM sign_in_links WHERE link_hash = $1 AND expires_at > $2 RETURNING user_id',
    [hashToken(link), now],
  );
  if (row) return row.user_id;
  const message = 'This link was used already, or has expired: `npx switchboard console-link` makes a new one';
  throw new ApiError(410, 'sign_in_link_over', message);
}

/** Ends a sign-in. */
export async function signOut({ sql }: OuterTransaction, token: string): Promise<void> {
  await sql('DELETE FROM access_tokens WHERE token_hash = $1 AND expires_at IS NOT NULL', [hashToken(token)]);
}

/** Lets the holder of the link sign in as the person, once and within 30 minutes. */
export async function grantSignInLink({ sql, now }: OuterTransaction, userId: number, link: string): Promise<void> {
  await sql(
    `WITH expired AS (
       DELETE FROM sign_in_links WHERE link_hash IN (
         SELECT link_hash FROM sign_in_links WHERE expires_at <= $3
         ORDER BY expires_at LIMIT ${removedLinks} FOR UPDATE SKIP LOCKED)
     )
     INSERT INTO sign_in_links (user_id, link_hash, expires_at) VALUES ($1, $2, $4)`,
    [userId, hashToken(link), now, new Date(now.getTime() + linkMs)],
  );
}

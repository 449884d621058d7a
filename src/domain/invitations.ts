import type { EntityManager } from '@mikro-orm/postgresql';
import { Invitation } from '../entities/invitation.ts';
import { ApiError, notFound } from '../errors.ts';
import type { Transaction } from '../events/transaction.ts';
import { sql, type Executor } from '../lib/sql.ts';
import { hashToken, looksForged } from '../lib/tokens.ts';
import { grantToken } from './accounts.ts';
import type { TransactIn } from './platform.ts';

const hourMs = 3_600_000;
const lifetimeMs = 7 * 24 * hourMs;
const keptMs = 30 * 24 * hourMs;
/** Invitations that an account may send within an hour, since they go to addresses that did not ask for them. */
export const maxInvitationsPerHour = 20;

/** Whether the user cannot get in yet: the address is not confirmed, or there is no access token. */
export async function needsInvitation(executor: Executor, userId: number): Promise<boolean> {
  const rows = await sql(
    executor,
    'SELECT FROM users u WHERE id = $1 AND confirmed AND EXISTS (SELECT FROM access_tokens WHERE user_id = u.id)',
    [userId],
  );
  return rows.length === 0;
}

async function checkRate(tx: Transaction): Promise<void> {
  const hourAgo = new Date(tx.now.getTime() - hourMs);
  const recent = await tx.em.find(
    Invitation,
    { accountId: tx.account.id, createdAt: { $gt: hourAgo } },
    { orderBy: { createdAt: 'desc' }, limit: maxInvitationsPerHour },
  );
  const oldest = recent.length < maxInvitationsPerHour ? undefined : recent.at(-1);
  if (!oldest) return;
  const seconds = Math.max(1, Math.ceil((oldest.createdAt.getTime() - hourAgo.getTime()) / 1000));
  throw new ApiError(429, 'rate_limited', `An account sends at most ${maxInvitationsPerHour} invitations an hour`, {
    headers: { 'retry-after': String(seconds) },
  });
}

/** Makes an invitation that the token accepts within 7 days. The caller has locked the account. Errors: 429. */
export async function invite(tx: Transaction, userId: number, token: string): Promise<void> {
  await checkRate(tx);
  const accountId = tx.account.id;
  await tx.em.nativeDelete(Invitation, { accountId, createdAt: { $lt: new Date(tx.now.getTime() - keptMs) } });
  tx.em.create(Invitation, {
    accountId,
    userId,
    tokenHash: hashToken(token),
    expiresAt: new Date(tx.now.getTime() + lifetimeMs),
    createdAt: tx.now,
  });
  await tx.em.flush();
}

/** Withdraws the account's invitations of the user that are still open. */
export async function closeInvitations(tx: Transaction, userId: number): Promise<void> {
  await tx.em.nativeUpdate(Invitation, { accountId: tx.account.id, userId, closedAt: null }, { closedAt: tx.now });
}

/** An invitation that can be accepted: who is invited, and where to. */
export interface OpenInvitation {
  account: { id: number; name: string };
  user: { id: number; name: string; email: string };
}

interface OpenRow {
  account_id: number;
  account_name: string;
  user_id: number;
  user_name: string;
  email: string;
  closed: boolean;
  expired: boolean;
}

function gone(code: string, message: string): ApiError {
  return new ApiError(410, code, message);
}

/** The invitation of the token. Errors: 404 for one that nobody sent, 410 when it was used, withdrawn or is too old. */
export async function findInvitation(executor: Executor, token: string, now: Date): Promise<OpenInvitation> {
  const [row] = looksForged(token)
    ? []
    : await sql<OpenRow>(
        executor,
        `SELECT i.account_id, a.name AS account_name, i.user_id, u.name AS user_name, u.email,
           i.closed_at IS NOT NULL AS closed, i.expires_at <= $2 AS expired
         FROM invitations i JOIN accounts a ON a.id = i.account_id JOIN users u ON u.id = i.user_id
         WHERE i.token_hash = $1`,
        [hashToken(token), now],
      );
  if (!row) throw notFound('Invitation');
  if (row.closed) throw gone('invitation_closed', 'This invitation was used or withdrawn: ask for another');
  if (row.expired) throw gone('invitation_expired', 'This invitation is too old: ask for another');
  return {
    account: { id: row.account_id, name: row.account_name },
    user: { id: row.user_id, name: row.user_name, email: row.email },
  };
}

async function accept(
  tx: Transaction,
  userId: number,
  { token, accessToken }: { token: string; accessToken: string },
): Promise<OpenInvitation> {
  // Locks the user: of two who accept at once, the second finds the invitation used.
  await sql(tx.em, 'UPDATE users SET confirmed = true, updated_at = $2 WHERE id = $1', [userId, tx.now]);
  const invitation = await findInvitation(tx.em, token, tx.now);
  // Those of other accounts too: they would let in who is in already.
  await sql(tx.em, 'UPDATE invitations SET closed_at = $2 WHERE user_id = $1 AND closed_at IS NULL', [userId, tx.now]);
  await grantToken(tx.em, userId, accessToken, tx.now);
  return invitation;
}

/**
 * Accepts the invitation of the token: the address is confirmed, `accessToken` lets the user in, and no other invitation
 * of the user can be accepted any more. Errors: 404, 410.
 */
export async function acceptInvitation(
  transactIn: TransactIn,
  em: EntityManager,
  { token, accessToken, now }: { token: string; accessToken: string; now: Date },
): Promise<OpenInvitation> {
  const { account, user } = await findInvitation(em, token, now);
  return transactIn(account, (tx) => accept(tx, user.id, { token, accessToken }));
}

import { createRow, findRows, updateRows } from '../small-rows.ts';
import type { Agent } from '../../records/agent.ts';
import { Invitation } from '../../records/invitation.ts';
import { ApiError, notFound } from '../../errors.ts';
import type { OuterTransaction, Transact, Transaction } from '../../events/transaction.ts';
import type { Sql } from '../../postgres/sql.ts';
import { hashToken, looksForged } from '../../lib/secrets/tokens.ts';
import { findFactor } from './sign-ins/second-factors.ts';
import { openSignIn, type NewSignIn } from './sign-ins/sign-ins.ts';
import { findOrCreatePerson, grantFirstToken, hasOtherAccess } from './users.ts';
import { lockAccount, lockSeat, takeSeat, type Seat } from './seats.ts';

const hourMs = 3_600_000;
const lifetimeMs = 7 * 24 * hourMs;
const keptMs = 30 * 24 * hourMs;
/** Invitations per account and hour, which are limited since they go to addresses that did not ask for them. */
const maxInvitationsPerHour = 20;

/** The token of an invitation's link; `mailed`: the link goes to the invited address only. */
export interface InvitationLink {
  token: string;
  mailed: boolean;
}

/** Creates an invitation to a seat; `token` accepts it within 7 days. The caller holds the account's lock. Errors: 429. */
export async function invite(tx: Transaction, userId: number, { token, mailed }: InvitationLink): Promise<void> {
  await checkRate(tx);
  await forgetOld(tx);
  const accountId = tx.account.id;
  await createRow(tx.sql, Invitation, {
    accountId,
    userId,
    tokenHash: hashToken(token),
    mailed,
    expiresAt: new Date(tx.now.getTime() + lifetimeMs),
    createdAt: tx.now,
  });
}

async function checkRate(tx: Transaction): Promise<void> {
  const hourAgo = new Date(tx.now.getTime() - hourMs);
  const recent = await findRows(
    tx.sql,
    Invitation,
    { accountId: tx.account.id, createdAt: { $gt: hourAgo } },
    { orderBy: { createdAt: 'desc' }, limit: maxInvitationsPerHour },
  );
  const oldest = recent.length < maxInvitationsPerHour ? undefined : recent.at(-1);
  if (!oldest) return;
  const seconds = Math.max(1, Math.ceil((oldest.createdAt.getTime() - hourAgo.getTime()) / 1000));
  throw new ApiError(429, 'rate_limited', `An account can send at most ${maxInvitationsPerHour} invitations an hour`, {
    headers: { 'retry-after': String(seconds) },
  });
}

// Deletes invitations that no longer count for the limit, and seats that were removed before anybody took them, unless they
// came with an import, and name the authors of its messages.
async function forgetOld(tx: Transaction): Promise<void> {
  const scope = [tx.account.id, new Date(tx.now.getTime() - keptMs)];
  await tx.sql('DELETE FROM invitations WHERE account_id = $1 AND created_at < $2', scope);
  await tx.sql(
    `DELETE FROM seats s WHERE account_id = $1 AND person_id IS NULL AND left_at < $2 AND NOT EXISTS (
       SELECT FROM imported i WHERE i.account_id = s.account_id AND i.local_id = s.id AND i.kind IN ('agent', 'author'))`,
    scope,
  );
}

/** Withdraws the open invitations to a seat. */
export async function closeInvitations(tx: Transaction, userId: number): Promise<void> {
  await updateRows(tx.sql, Invitation, { accountId: tx.account.id, userId, closedAt: null }, { closedAt: tx.now });
}

/** An invitation that can be accepted: account and seat. */
export interface OpenInvitation {
  account: { id: number; name: string };
  seat: Seat;
  mailed: boolean;
}

interface OpenRow {
  account_id: number;
  account_name: string;
  id: number;
  name: string;
  email: string;
  mailed: boolean;
  closed: boolean;
  expired: boolean;
}

function gone(code: string, message: string): ApiError {
  return new ApiError(410, code, message);
}

/** The invitation of the token. Errors: 404 for an unknown token, 410 for a used, withdrawn or expired invitation. */
export async function findInvitation(sql: Sql, token: string, now: Date): Promise<OpenInvitation> {
  const [row] = looksForged(token)
    ? []
    : await sql<OpenRow>(
        `SELECT i.account_id, a.name AS account_name, s.id, s.name, s.email, i.mailed,
           i.closed_at IS NOT NULL OR s.person_id IS NOT NULL OR s.left_at IS NOT NULL AS closed, i.expires_at <= $2 AS expired
         FROM invitations i JOIN accounts a ON a.id = i.account_id
         JOIN seats s ON s.account_id = i.account_id AND s.id = i.user_id
         WHERE i.token_hash = $1`,
        [hashToken(token), now],
      );
  if (!row) throw notFound('Invitation');
  if (row.closed) throw gone('invitation_closed', 'This invitation was used or withdrawn: ask for another');
  if (row.expired) throw gone('invitation_expired', 'This invitation is too old: ask for another');
  return {
    account: { id: row.account_id, name: row.account_name },
    seat: { id: row.id, name: row.name, email: row.email },
    mailed: row.mailed,
  };
}

// The caller holds the locks of account and seat.
async function seatPerson(tx: Transaction, seat: Seat): Promise<number> {
  const personId = await findOrCreatePerson(tx.sql, seat, tx.now);
  await takeSeat(tx, seat.id, personId);
  await closeInvitations(tx, seat.id);
  return personId;
}

/** Way in for the person who accepts: an access token, or a sign-in in the browser. */
type Entrance = { accessToken: string } | { signIn: NewSignIn };

/** An accepted invitation; `granted`: whether the request's access token, or its sign-in, was granted. */
export interface AcceptedInvitation extends OpenInvitation {
  granted: boolean;
}

async function accept(
  tx: Transaction,
  seatId: number,
  { token, entrance }: { token: string; entrance: Entrance },
): Promise<AcceptedInvitation> {
  await lockAccount(tx);
  await lockSeat(tx, seatId);
  // Read again after waiting for the locks: it may have been accepted or withdrawn meanwhile.
  const invitation = await findInvitation(tx.sql, token, tx.now);
  const { seat } = invitation;
  // Asked before the seat is taken.
  const isKnown = await hasOtherAccess(tx.sql, seat.email);
  const personId = await seatPerson(tx, seat);
  // Only a first token: with a second one, a reader of the person's mail could enter the person's other accounts.
  if ('accessToken' in entrance)
    return { ...invitation, granted: await grantFirstToken(tx.sql, personId, entrance.accessToken, tx.now) };
  // A link that others may have seen must not open what the person has elsewhere.
  const granted = (invitation.mailed || !isKnown) && (await findFactor(tx.sql, personId)) === null;
  if (granted) await openSignIn(tx.sql, personId, { ...entrance.signIn, by: 'invitation', now: tx.now });
  return { ...invitation, granted };
}

/**
 * Accepts the invitation of the token: the person with the invited address, created if necessary, becomes an agent of the
 * account. An access token is granted to a person who has no way in yet; existing ones stay valid. A sign-in is granted to
 * who got the link by mail, and to who has no access elsewhere, but to nobody with a second factor. Errors: 404, 410, 422 for who works in the account already.
 */
export async function acceptInvitation(
  transact: Transact<OuterTransaction>,
  sql: Sql,
  { token, entrance, now }: { token: string; entrance: Entrance; now: Date },
): Promise<AcceptedInvitation> {
  const { account, seat } = await findInvitation(sql, token, now);
  return transact((tx) => accept(tx.in(account), seat.id, { token, entrance }));
}

// Invitations of one address that a sign-in accepts, of as many accounts.
const maxAccepted = 20;

interface WaitingRow extends Seat {
  account_id: number;
  account_name: string;
}

/**
 * Accepts all open invitations of an e-mail address that somebody has proved to have; `role`, if any, takes the place of theirs.
 * Returns the person, or null where there are none.
 */
export async function acceptAllOf(
  tx: OuterTransaction,
  { email, role }: { email: string; role: Agent['role'] | null },
): Promise<number | null> {
  let personId: number | null = null;
  // In the order of accounts, so that two sign-ins do not wait for each other.
  for (const { account_id: id, account_name: name, ...found } of await findWaiting(tx, email)) {
    const own = tx.in({ id, name });
    await lockAccount(own);
    await lockSeat(own, found.id);
    // Read again after waiting for the locks.
    const isOpen = (await findWaiting(tx, email)).some((seat) => seat.account_id === id && seat.id === found.id);
    if (!isOpen) continue;
    if (role !== null)
      await own.sql('UPDATE agents SET role = $3 WHERE account_id = $1 AND user_id = $2', [id, found.id, role]);
    personId = await seatPerson(own, found);
  }
  return personId;
}

function findWaiting({ sql, now }: OuterTransaction, email: string): Promise<WaitingRow[]> {
  return sql<WaitingRow>(
    `SELECT s.account_id, a.name AS account_name, s.id, s.name, s.email FROM seats s JOIN accounts a ON a.id = s.account_id
     WHERE lower(s.email) = lower($1) AND s.person_id IS NULL AND s.left_at IS NULL
       AND EXISTS (SELECT FROM invitations i WHERE i.account_id = s.account_id AND i.user_id = s.id
         AND i.closed_at IS NULL AND i.expires_at > $2)
     ORDER BY s.account_id LIMIT ${maxAccepted}`,
    [email, now],
  );
}

import { noOrigin, recordActOfPerson } from '../audit/acts.ts';
import { countRows, createRow, deleteRows, findRow } from '../small-rows.ts';
import { AccessToken } from '../../records/access-token.ts';
import { Account } from '../../records/account.ts';
import { Agent } from '../../records/agent.ts';
import { User } from '../../records/user.ts';
import { unauthenticated } from '../../errors.ts';
import type { OuterTransaction } from '../../events/transaction.ts';
import type { Sql } from '../../postgres/sql.ts';
import { hashToken, lastFour } from '../../lib/secrets/tokens.ts';
import { makeTakenSeat, type Seat } from './seats.ts';

/** Whether any account exists. */
export async function hasAccounts(sql: Sql): Promise<boolean> {
  return (await countRows(sql, Account, {})) > 0;
}

/** Creates an account. */
export async function createAccount(sql: Sql, name: string, now: Date): Promise<Account> {
  return createRow(sql, Account, { name, createdAt: now, updatedAt: now });
}

export interface NewUser {
  name: string;
  email: string;
  confirmed: boolean;
  platformAdmin: boolean;
  avatarUrl?: string | null;
}

/** Creates a user, who belongs to no account yet. */
export async function createUser(sql: Sql, input: NewUser, now: Date): Promise<User> {
  return createRow(sql, User, { ...input, createdAt: now, updatedAt: now });
}

async function confirmUser(sql: Sql, email: string, now: Date): Promise<number | null> {
  const [user] = await sql<{ id: number }>(
    `UPDATE users SET confirmed = true, updated_at = CASE WHEN confirmed THEN updated_at ELSE $2 END
     WHERE lower(email) = lower($1) RETURNING id`,
    [email, now],
  );
  return user?.id ?? null;
}

/**
 * The person with the seat's e-mail address, which the invitation's link has verified: an existing user, or a new one with
 * the seat's name and, unless it is in use, the seat's id. The row is locked until the transaction ends.
 */
export async function findOrCreatePerson(sql: Sql, seat: Seat, now: Date): Promise<number> {
  const present = await confirmUser(sql, seat.email, now);
  if (present !== null) return present;
  const [created] = await sql<{ id: number }>(
    `INSERT INTO users (id, name, email, confirmed, created_at, updated_at)
     SELECT CASE WHEN EXISTS (SELECT FROM users WHERE id = $1) THEN nextval('users_id_seq') ELSE $1 END, $2, $3, true, $4, $4
     ON CONFLICT DO NOTHING RETURNING id`,
    [seat.id, seat.name, seat.email, now],
  );
  // Another invitation to the same address was accepted at the same time.
  const id = created?.id ?? (await confirmUser(sql, seat.email, now));
  if (id === null) throw new Error('A user can neither be found nor made');
  return id;
}

/** Makes a user an agent of an account in which no agent has the user's e-mail address. */
export async function addAgent(
  sql: Sql,
  { accountId, userId: personId, role, now }: { accountId: number; userId: number; role: Agent['role']; now: Date },
): Promise<Agent> {
  const userId = await makeTakenSeat(sql, { accountId, personId }, now);
  if (userId === null) throw new Error('The account has an agent with this e-mail address');
  return createRow(sql, Agent, { accountId, userId, role, createdAt: now, updatedAt: now });
}

/** Grants a user an access token; only its hash is stored. */
export async function grantToken(sql: Sql, userId: number, token: string, now: Date): Promise<void> {
  await createRow(sql, AccessToken, { userId, tokenHash: hashToken(token), lastFour: lastFour(token), createdAt: now });
}

/**
 * Grants a user a first access token; false when the user has one, or another way in. The caller holds the lock of the user's
 * row.
 */
export async function grantFirstToken(sql: Sql, userId: number, token: string, now: Date): Promise<boolean> {
  const held = await countRows(sql, AccessToken, { userId, expiresAt: null });
  const others = await sql(
    'SELECT FROM passwords WHERE user_id = $1 UNION ALL SELECT FROM second_factors WHERE user_id = $1',
    [userId],
  );
  const isFirst = held === 0 && others.length === 0;
  if (isFirst) await grantToken(sql, userId, token, now);
  return isFirst;
}

/** Whether the person with the e-mail address can do something here already: in an account, on the platform, or by a token. */
export async function hasOtherAccess(sql: Sql, email: string): Promise<boolean> {
  const rows = await sql(
    `SELECT FROM users u WHERE lower(u.email) = lower($1) AND (u.platform_admin
       OR EXISTS (SELECT FROM seats WHERE person_id = u.id AND left_at IS NULL)
       OR EXISTS (SELECT FROM access_tokens WHERE user_id = u.id))`,
    [email],
  );
  return rows.length > 0;
}

/**
 * Replaces all access tokens and sign-ins of a user by a new token. `tokenId` is the caller's present one. Errors: 401 when that was
 * revoked meanwhile.
 */
export async function resetToken(
  { sql, now }: OuterTransaction,
  { userId, tokenId }: { userId: number; tokenId: number },
  token: string,
): Promise<void> {
  await lockPerson(sql, userId);
  const revoked = await deleteRows(sql, AccessToken, { id: tokenId, userId });
  if (revoked === 0) throw unauthenticated();
  await deleteRows(sql, AccessToken, { userId });
  await grantToken(sql, userId, token, now);
}

/** The user with the e-mail address, in any case; for null the first platform administrator. Null when there is none. */
export async function findTokenHolder(sql: Sql, email: string | null): Promise<User | null> {
  if (email === null) return findRow(sql, User, { platformAdmin: true }, { orderBy: { id: 'asc' } });
  const [row] = await sql<{ id: number }>('SELECT id FROM users WHERE lower(email) = $1', [email.toLowerCase()]);
  return row ? findRow(sql, User, { id: row.id }) : null;
}

/** Grants a new token to a user who lost one; `revoke` deletes the others. For operators. */
export async function replaceLostToken(
  { sql, now }: OuterTransaction,
  { userId, revoke }: { userId: number; revoke: boolean },
  token: string,
): Promise<void> {
  await lockPerson(sql, userId);
  if (revoke) await deleteRows(sql, AccessToken, { userId });
  await grantToken(sql, userId, token, now);
  const changes = revoke ? { revoked: [null, 'all earlier tokens'] as const } : {};
  await recordActOfPerson(sql, { userId, action: 'token.created', changes, origin: noOrigin, by: 'operator' }, now);
}

/** Locks a person's row until the transaction ends: who revokes tokens does not miss those that are granted meanwhile. */
export async function lockPerson(sql: Sql, userId: number): Promise<void> {
  await sql('SELECT FROM users WHERE id = $1 FOR NO KEY UPDATE', [userId]);
}

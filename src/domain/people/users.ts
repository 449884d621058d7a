import { raw, type EntityManager } from '@mikro-orm/postgresql';
import { AccessToken } from '../../records/access-token.ts';
import { Account } from '../../records/account.ts';
import { Agent } from '../../records/agent.ts';
import { User } from '../../records/user.ts';
import { unauthenticated } from '../../errors.ts';
import type { OuterTransaction } from '../../events/transaction.ts';
import { sql, type Executor } from '../../postgres/sql.ts';
import { hashToken, lastFour } from '../../lib/tokens.ts';
import { makeTakenSeat, type Seat } from './seats.ts';

/** Whether any account exists. */
export async function hasAccounts(em: EntityManager): Promise<boolean> {
  return (await em.count(Account)) > 0;
}

/** Creates an account. */
export async function createAccount(em: EntityManager, name: string, now: Date): Promise<Account> {
  const account = em.create(Account, { name, createdAt: now, updatedAt: now });
  await em.flush();
  return account;
}

export interface NewUser {
  name: string;
  email: string;
  confirmed: boolean;
  platformAdmin: boolean;
  avatarUrl?: string | null;
}

/** Creates a user, who belongs to no account yet. */
export async function createUser(em: EntityManager, input: NewUser, now: Date): Promise<User> {
  const user = em.create(User, { ...input, createdAt: now, updatedAt: now });
  await em.flush();
  return user;
}

async function confirmUser(executor: Executor, email: string, now: Date): Promise<number | null> {
  const [user] = await sql<{ id: number }>(
    executor,
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
export async function findOrCreatePerson(executor: Executor, seat: Seat, now: Date): Promise<number> {
  const present = await confirmUser(executor, seat.email, now);
  if (present !== null) return present;
  const [created] = await sql<{ id: number }>(
    executor,
    `INSERT INTO users (id, name, email, confirmed, created_at, updated_at)
     SELECT CASE WHEN EXISTS (SELECT FROM users WHERE id = $1) THEN nextval('users_id_seq') ELSE $1 END, $2, $3, true, $4, $4
     ON CONFLICT DO NOTHING RETURNING id`,
    [seat.id, seat.name, seat.email, now],
  );
  // Another invitation to the same address was accepted at the same time.
  const id = created?.id ?? (await confirmUser(executor, seat.email, now));
  if (id === null) throw new Error('A user can neither be found nor made');
  return id;
}

/** Makes a user an agent of an account in which no agent has the user's e-mail address. */
export async function addAgent(
  em: EntityManager,
  { accountId, userId: personId, role, now }: { accountId: number; userId: number; role: Agent['role']; now: Date },
): Promise<Agent> {
  const userId = await makeTakenSeat(em, { accountId, personId }, now);
  if (userId === null) throw new Error('The account has an agent with this e-mail address');
  const agent = em.create(Agent, { accountId, userId, role, createdAt: now, updatedAt: now });
  await em.flush();
  return agent;
}

/** Grants a user an access token; only its hash is stored. */
export async function grantToken(em: EntityManager, userId: number, token: string, now: Date): Promise<void> {
  em.create(AccessToken, { userId, tokenHash: hashToken(token), lastFour: lastFour(token), createdAt: now });
  await em.flush();
}

/** Grants a user a first access token; false when the user has one. The caller holds the lock of the user's row. */
export async function grantFirstToken(em: EntityManager, userId: number, token: string, now: Date): Promise<boolean> {
  const held = await em.count(AccessToken, { userId, expiresAt: null });
  if (held === 0) await grantToken(em, userId, token, now);
  return held === 0;
}

/**
 * Replaces all access tokens and sign-ins of a user by a new token. `tokenId` is the caller's present one. Errors: 401 when that was
 * revoked meanwhile.
 */
export async function resetToken(
  { em, now }: OuterTransaction,
  { userId, tokenId }: { userId: number; tokenId: number },
  token: string,
): Promise<void> {
  await lockPerson(em, userId);
  const revoked = await em.nativeDelete(AccessToken, { id: tokenId, userId });
  if (revoked === 0) throw unauthenticated();
  await em.nativeDelete(AccessToken, { userId });
  await grantToken(em, userId, token, now);
}

/** The user with the e-mail address, in any case; for null the first platform administrator. Null when there is none. */
export function findTokenHolder(em: EntityManager, email: string | null): Promise<User | null> {
  if (email === null) return em.findOne(User, { platformAdmin: true }, { orderBy: { id: 'asc' } });
  return em.findOne(User, { [raw('lower(email)')]: email.toLowerCase() });
}

/** Grants a new token to a user who lost one; `revoke` deletes the others. For operators. */
export async function replaceLostToken(
  { em, now }: OuterTransaction,
  { userId, revoke }: { userId: number; revoke: boolean },
  token: string,
): Promise<void> {
  await lockPerson(em, userId);
  if (revoke) await em.nativeDelete(AccessToken, { userId });
  await grantToken(em, userId, token, now);
}

/** Locks a person's row until the transaction ends: who revokes tokens does not miss those that are granted meanwhile. */
export async function lockPerson(executor: Executor, userId: number): Promise<void> {
  await sql(executor, 'SELECT FROM users WHERE id = $1 FOR NO KEY UPDATE', [userId]);
}

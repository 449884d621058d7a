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

/** Whether there is any account yet. */
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
 * The person with the seat's e-mail address, which a link sent there has proven: the user who has it, or a new one by the
 * seat's name and, unless it is taken, the seat's id. The row is held until the transaction ends.
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
  // Somebody else accepted for the same address at the same moment.
  const id = created?.id ?? (await confirmUser(executor, seat.email, now));
  if (id === null) throw new Error('A user can neither be found nor made');
  return id;
}

/** Makes a user an agent of an account that has none with the user's e-mail address. */
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

/** Lets a user in with a token; only its hash is kept. */
export async function grantToken(em: EntityManager, userId: number, token: string, now: Date): Promise<void> {
  em.create(AccessToken, { userId, tokenHash: hashToken(token), lastFour: lastFour(token), createdAt: now });
  await em.flush();
}

/** Lets a user in with a token who holds none; answers whether that was so. The caller holds the user's row. */
export async function grantFirstToken(em: EntityManager, userId: number, token: string, now: Date): Promise<boolean> {
  const held = await em.count(AccessToken, { userId });
  if (held === 0) await grantToken(em, userId, token, now);
  return held === 0;
}

/**
 * Replaces the access tokens of the user who holds the one with this id by a new one. Errors: 401 when that one was
 * replaced meanwhile.
 */
export async function resetToken(
  { em, now }: OuterTransaction,
  { userId, tokenId }: { userId: number; tokenId: number },
  token: string,
): Promise<void> {
  const revoked = await em.nativeDelete(AccessToken, { id: tokenId, userId });
  if (revoked === 0) throw unauthenticated();
  await em.nativeDelete(AccessToken, { userId });
  await grantToken(em, userId, token, now);
}

/**
 * The user with the e-mail address, in whatever case; without one, the first platform administrator. Null when there is
 * none such.
 */
export function findTokenHolder(em: EntityManager, email: string | null): Promise<User | null> {
  if (email === null) return em.findOne(User, { platformAdmin: true }, { orderBy: { id: 'asc' } });
  return em.findOne(User, { [raw('lower(email)')]: email.toLowerCase() });
}

/** Gives a user who lost the access token a new one; `revoke` ends all earlier ones. For whoever runs the service. */
export async function replaceLostToken(
  { em, now }: OuterTransaction,
  { userId, revoke }: { userId: number; revoke: boolean },
  token: string,
): Promise<void> {
  if (revoke) await em.nativeDelete(AccessToken, { userId });
  await grantToken(em, userId, token, now);
}

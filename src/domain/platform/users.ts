import { AccessToken } from '../../records/access-token.ts';
import { Agent } from '../../records/agent.ts';
import { User } from '../../records/user.ts';
import { invalid, notFound } from '../../errors.ts';
import { within, type OuterTransaction, type Transact, type Transaction } from '../../events/transaction.ts';
import type { Sql } from '../../postgres/sql.ts';
import { createUser, grantToken } from '../people/users.ts';
import { deleteAgent } from '../people/agent-removal.ts';
import { checkAgentRoom, insertAgent, readAgent, type AgentProfile } from '../people/agents.ts';
import { findMemberships } from '../people/identity.ts';
import { closeInvitations } from '../people/invitations.ts';
import { findSeatOf, findWaitingSeat, lockAccount, makeTakenSeat, takeSeat } from '../people/seats.ts';
import { deleteRows, lockOne, readOne, save, uniqueOr422, update, updateRows } from '../small-rows.ts';

/** Fields of a person that platform administrators set. */
export interface UserProfile {
  name: string;
  email: string;
  avatarUrl: string | null;
  platformAdmin: boolean;
}

const refuseEmail = uniqueOr422('users_email_unique', '/email', 'Another user has this e-mail address');

/** Creates a user without an account, and grants `token`. Errors: 422 for an e-mail address in use. */
export async function addUser({ sql, now }: OuterTransaction, profile: UserProfile, token: string): Promise<User> {
  const user = await createUser(sql, { ...profile, confirmed: true }, now).catch(refuseEmail);
  await grantToken(sql, user.id, token, now);
  return user;
}

/** Returns a user. Errors: 404. */
export function readUser(sql: Sql, id: number): Promise<User> {
  return readOne(sql, User, { id });
}

async function checkNotLastPlatformAdmin(sql: Sql, id: number, pointer = ''): Promise<void> {
  // Locks in one order, so that two administrators who step down at the same time do so one after the other.
  const admins = await sql<{ id: number }>('SELECT id FROM users WHERE platform_admin ORDER BY id FOR NO KEY UPDATE');
  const left = admins.filter((admin) => admin.id !== id);
  if (left.length > 0 || admins.length === 0) return;
  throw invalid(pointer, 'last_platform_admin', 'This is the last platform administrator: make another user one first');
}

/** Changes a user. Errors: 404, 422 for an e-mail address in use and for the last platform administrator's role. */
export async function updateUser(
  { sql, now }: OuterTransaction,
  id: number,
  changes: Partial<UserProfile>,
): Promise<User> {
  if (changes.platformAdmin === false) await checkNotLastPlatformAdmin(sql, id, '/platform_admin');
  const user = await lockOne(sql, User, { id });
  if (update(user, changes, now)) await save(sql, user).catch(refuseEmail);
  return user;
}

/** Replaces all access tokens of a user by a new one. Errors: 404. */
export async function resetUserToken({ sql, now }: OuterTransaction, id: number, token: string): Promise<User> {
  const user = await lockOne(sql, User, { id });
  await deleteRows(sql, AccessToken, { userId: id });
  await grantToken(sql, id, token, now);
  return user;
}

async function checkNotLastAnywhere(sql: Sql, id: number): Promise<void> {
  await checkNotLastPlatformAdmin(sql, id);
  const [account] = await sql<{ name: string }>(
    `SELECT a.name FROM seats s JOIN agents g ON g.account_id = s.account_id AND g.user_id = s.id
     JOIN accounts a ON a.id = s.account_id
     WHERE s.person_id = $1 AND s.left_at IS NULL AND g.role = 'administrator' AND NOT EXISTS (
       SELECT FROM agents og JOIN seats os ON os.account_id = og.account_id AND os.id = og.user_id
       WHERE og.account_id = s.account_id AND og.role = 'administrator' AND os.person_id <> $1)
     ORDER BY a.id LIMIT 1`,
    [id],
  );
  if (account)
    throw invalid(
      '',
      'last_administrator',
      `This is the last administrator of the account ${account.name}: make another agent one first`,
    );
}

async function removeWhenFree(sql: Sql, id: number): Promise<boolean> {
  await checkNotLastPlatformAdmin(sql, id);
  await lockOne(sql, User, { id });
  if ((await findMemberships(sql, id)).length > 0) return false;
  await sql(
    `UPDATE contact_notes n SET user_id = NULL FROM seats s
     WHERE s.person_id = $1 AND n.account_id = s.account_id AND n.user_id = s.id`,
    [id],
  );
  await deleteRows(sql, User, { id });
  return true;
}

/**
 * Deletes a user, who is first removed from every account: says the events of deleteAgent. Messages and notes of the user keep
 * no author. Errors: 404, 422 for the last administrator of an account or of the platform.
 */
export async function deleteUser(transact: Transact<OuterTransaction>, sql: Sql, id: number): Promise<void> {
  await transact((tx) => checkNotLastAnywhere(tx.sql, id));
  while (!(await transact((tx) => removeWhenFree(tx.sql, id)))) {
    for (const { account, agentId } of await findMemberships(sql, id)) {
      await deleteAgent(within(transact, account), agentId);
    }
  }
}

/**
 * Makes a person an agent of the account, without an invitation; an open one for the person's address becomes void.
 * Errors: 404 for the person or the account, 422 when the person is an agent already, when an agent has the person's
 * address, and when the account has too many agents.
 */
export async function joinAccount(
  tx: Transaction,
  { personId, role }: { personId: number; role: Agent['role'] },
): Promise<AgentProfile> {
  const { sql, account, now } = tx;
  const found = await sql('SELECT FROM users u, accounts a WHERE u.id = $1 AND a.id = $2 FOR KEY SHARE OF u, a', [
    personId,
    account.id,
  ]);
  if (found.length === 0) throw notFound('User');
  await lockAccount(tx);
  if (await findSeatOf(sql, account.id, personId)) {
    throw invalid('/user_id', 'unique', 'This user is already a member of the account');
  }
  const waiting = await findWaitingSeat(sql, account.id, personId);
  if (waiting) {
    await takeSeat(tx, waiting.id, personId);
    await closeInvitations(tx, waiting.id);
    await updateRows(sql, Agent, { accountId: account.id, userId: waiting.id }, { role });
    return readAgent(sql, account.id, waiting.id);
  }
  await checkAgentRoom(tx);
  const userId = await makeTakenSeat(sql, { accountId: account.id, personId }, now);
  if (userId === null)
    throw invalid('/user_id', 'unique', "Another agent of this account has the user's e-mail address");
  await insertAgent(tx, userId, { role, availability: 'online' });
  return readAgent(sql, account.id, userId);
}

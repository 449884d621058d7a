import { Agent } from '../entities/agent.ts';
import { User } from '../entities/user.ts';
import { forbidden, invalid, notFound } from '../errors.ts';
import type { Actor, Transaction } from '../events/transaction.ts';
import { differs } from '../lib/differs.ts';
import { moment, sql, type Executor } from '../lib/sql.ts';
import { closeInvitations, invite, needsInvitation } from './invitations.ts';

/** An agent as its colleagues see it; `id` is the user's. */
export interface AgentProfile {
  id: number;
  accountId: number;
  name: string;
  email: string;
  role: Agent['role'];
  availability: Agent['availability'];
  confirmed: boolean;
  avatarUrl: string | null;
  createdAt: Date;
  updatedAt: Date;
}

interface AgentRow {
  id: number;
  account_id: number;
  name: string;
  email: string;
  role: Agent['role'];
  availability: Agent['availability'];
  confirmed: boolean;
  avatar_url: string | null;
  created_at: string;
  updated_at: string;
}

// The list comes whole.
const maxAgentsPerAccount = 1000;

/** Agents of the account, by name: all, or those with the named ids who are. */
export async function findAgents(
  executor: Executor,
  accountId: number,
  userIds: readonly number[] | null = null,
): Promise<AgentProfile[]> {
  const rows = await sql<AgentRow>(
    executor,
    `SELECT u.id, g.account_id, u.name, u.email, g.role, g.availability, u.confirmed, u.avatar_url, g.created_at, g.updated_at
     FROM agents g JOIN users u ON u.id = g.user_id
     WHERE g.account_id = $1 AND ($2::bigint[] IS NULL OR g.user_id = ANY ($2)) ORDER BY lower(u.name), u.id`,
    [accountId, userIds],
  );
  return rows.map(
    ({ account_id: account, avatar_url: avatarUrl, created_at: created, updated_at: updated, ...rest }) => ({
      ...rest,
      accountId: account,
      avatarUrl,
      createdAt: moment(created),
      updatedAt: moment(updated),
    }),
  );
}

/** An agent of the account; 404 when it has none such. */
export async function readAgent(executor: Executor, accountId: number, userId: number): Promise<AgentProfile> {
  const [agent] = await findAgents(executor, accountId, [userId]);
  if (!agent) throw notFound('Agent');
  return agent;
}

/** Throws 404 unless all of these are agents of the account; they stay it until the transaction ends. */
export async function checkAgents(executor: Executor, accountId: number, userIds: readonly number[]): Promise<void> {
  const rows = await sql(
    executor,
    'SELECT FROM agents WHERE account_id = $1 AND user_id = ANY ($2) ORDER BY user_id FOR KEY SHARE',
    [accountId, userIds],
  );
  if (rows.length < new Set(userIds).size) throw notFound('Agent');
}

export interface NewAgent {
  name: string;
  email: string;
  role: Agent['role'];
  availability: Agent['availability'];
}

// One at a time for each account, so that its bounds hold.
async function lockAccount(tx: Transaction): Promise<void> {
  await sql(tx.em, 'SELECT FROM accounts WHERE id = $1 FOR NO KEY UPDATE', [tx.account.id]);
}

/** Makes a user an agent of the account; false when it is one already. Errors: 422 when the account has too many. */
export async function addMember(
  tx: Transaction,
  userId: number,
  { role, availability }: Pick<NewAgent, 'role' | 'availability'>,
): Promise<boolean> {
  await lockAccount(tx);
  const accountId = tx.account.id;
  if ((await tx.em.count(Agent, { accountId })) >= maxAgentsPerAccount) {
    throw invalid('', 'limit', `An account has at most ${maxAgentsPerAccount} agents`);
  }
  const added = await sql(
    tx.em,
    `INSERT INTO agents (account_id, user_id, role, availability, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $5)
     ON CONFLICT (account_id, user_id) DO NOTHING RETURNING id`,
    [accountId, userId, role, availability, tx.now],
  );
  return added.length > 0;
}

async function findOrCreateUser(tx: Transaction, { name, email }: NewAgent): Promise<number> {
  await sql(
    tx.em,
    'INSERT INTO users (name, email, created_at, updated_at) VALUES ($1, $2, $3, $3) ON CONFLICT (lower(email)) DO NOTHING',
    [name, email, tx.now],
  );
  const [user] = await sql<{ id: number }>(tx.em, 'SELECT id FROM users WHERE lower(email) = lower($1)', [email]);
  if (!user) throw new Error('A user just inserted cannot be read');
  return user.id;
}

/**
 * Makes whoever has the e-mail address an agent of the account. Who is new, or holds no access token, gets an invitation
 * by `token`. Errors: 422 for one who is an agent already, and when the account has too many; 429 after too many
 * invitations.
 */
export async function createAgent(
  tx: Transaction,
  input: NewAgent,
  token: string,
): Promise<{ agent: AgentProfile; invited: boolean }> {
  await lockAccount(tx);
  const userId = await findOrCreateUser(tx, input);
  const isNew = await addMember(tx, userId, input);
  if (!isNew) throw invalid('/email', 'unique', 'An agent of this account has this e-mail address');
  const invited = await needsInvitation(tx.em, userId);
  if (invited) await invite(tx, userId, token);
  return { agent: await readAgent(tx.em, tx.account.id, userId), invited };
}

/** Invites an agent anew; the link sent before is void. Errors: 404, 422 for one who is in already, 429. */
export async function inviteAgain(tx: Transaction, userId: number, token: string): Promise<AgentProfile> {
  await lockAccount(tx);
  const agent = await readAgent(tx.em, tx.account.id, userId);
  if (!(await needsInvitation(tx.em, userId))) throw invalid('', 'confirmed', 'This agent has accepted already');
  await closeInvitations(tx, userId);
  await invite(tx, userId, token);
  return agent;
}

export interface AgentChanges {
  name?: string;
  role?: Agent['role'];
  availability?: Agent['availability'];
}

function checkRights(actor: Actor, userId: number, { name, role }: AgentChanges): void {
  if (actor.role === 'administrator') return;
  if (actor.id === userId && name === undefined && role === undefined) return;
  throw forbidden('Only administrators may do this; everybody may change the own availability');
}

/** Throws 422 unless the account has another administrator than this one, and holds them until the transaction ends. */
export async function checkNotLastAdministrator(tx: Transaction, userId: number): Promise<void> {
  // Locked in one order, so that two who would step down at once do so one after the other.
  const administrators = await sql<{ user_id: number }>(
    tx.em,
    `SELECT user_id FROM agents WHERE account_id = $1 AND role = 'administrator' ORDER BY user_id FOR NO KEY UPDATE`,
    [tx.account.id],
  );
  if (administrators.some((other) => other.user_id !== userId)) return;
  throw invalid('/role', 'last_administrator', 'The last administrator of an account stays');
}

async function rename(tx: Transaction, userId: number, name: string): Promise<void> {
  const user = await tx.em.findOneOrFail(User, userId);
  if (user.name === name) return;
  const elsewhere = await sql(tx.em, 'SELECT FROM agents WHERE account_id <> $1 AND user_id = $2 LIMIT 1', [
    tx.account.id,
    userId,
  ]);
  if (elsewhere.length > 0 && tx.actor.id !== userId) {
    throw invalid('/name', 'shared', 'This person works in other accounts too, and chooses the name there');
  }
  Object.assign(user, { name, updatedAt: tx.now });
}

/**
 * Changes an agent. Errors: 404; 403 unless an administrator does, or the agent changes nothing but its own availability;
 * 422 for taking the last administrator's role, and for renaming somebody who works in other accounts too.
 */
export async function updateAgent(tx: Transaction, userId: number, changes: AgentChanges): Promise<AgentProfile> {
  checkRights(tx.actor, userId, changes);
  const { name, ...membership } = changes;
  // Agent and user are two rows, and administrators are looked at together: changes of the account take turns.
  await lockAccount(tx);
  const agent = await tx.em.findOne(Agent, { accountId: tx.account.id, userId });
  if (!agent) throw notFound('Agent');
  if (agent.role === 'administrator' && membership.role === 'agent') await checkNotLastAdministrator(tx, userId);
  if (differs(agent, membership)) Object.assign(agent, { ...membership, updatedAt: tx.now });
  if (name !== undefined) await rename(tx, userId, name);
  await tx.em.flush();
  return readAgent(tx.em, tx.account.id, userId);
}

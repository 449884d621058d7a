import { Agent } from '../../records/agent.ts';
import { forbidden, invalid, notFound } from '../../errors.ts';
import type { Actor, Transaction } from '../../events/transaction.ts';
import { checkRoom, readOne, save, update } from '../small-rows.ts';
import { moment, type Sql } from '../../postgres/sql.ts';
import { closeInvitations, invite, type InvitationLink } from './invitations.ts';
import { lockAccount, lockSeat, makeSeat } from './seats.ts';

/** An agent as shown within the account; `id` is the seat's. */
export interface AgentProfile {
  id: number;
  accountId: number;
  /** The user who accepted the invitation, null until then. Shown to platform administrators only. */
  personId: number | null;
  name: string;
  email: string;
  role: Agent['role'];
  availability: Agent['availability'];
  /** Whether the invitation has been accepted. */
  confirmed: boolean;
  avatarUrl: string | null;
  createdAt: Date;
  updatedAt: Date;
}

interface AgentRow {
  id: number;
  account_id: number;
  person_id: number | null;
  name: string;
  email: string;
  role: Agent['role'];
  availability: Agent['availability'];
  avatar_url: string | null;
  created_at: string;
  updated_at: string;
}

// The list has no pages.
const maxAgentsPerAccount = 1000;

/** Returns agents of the account, by name: all, or those of the ids that exist. */
export async function findAgents(
  sql: Sql,
  accountId: number,
  userIds: readonly number[] | null = null,
): Promise<AgentProfile[]> {
  const rows = await sql<AgentRow>(
    `SELECT s.id, g.account_id, s.person_id, s.name, s.email, g.role, g.availability, s.avatar_url, g.created_at, g.updated_at
     FROM agents g JOIN seats s ON s.account_id = g.account_id AND s.id = g.user_id
     WHERE g.account_id = $1 AND ($2::bigint[] IS NULL OR g.user_id = ANY ($2)) ORDER BY lower(s.name), s.id`,
    [accountId, userIds],
  );
  return rows.map((row) => ({
    id: row.id,
    accountId: row.account_id,
    personId: row.person_id,
    name: row.name,
    email: row.email,
    role: row.role,
    availability: row.availability,
    confirmed: row.person_id !== null,
    avatarUrl: row.avatar_url,
    createdAt: moment(row.created_at),
    updatedAt: moment(row.updated_at),
  }));
}

/** Returns an agent of the account. Errors: 404. */
export async function readAgent(sql: Sql, accountId: number, userId: number): Promise<AgentProfile> {
  const [agent] = await findAgents(sql, accountId, [userId]);
  if (!agent) throw notFound('Agent');
  return agent;
}

/** Checks that all of these are agents of the account, and locks them against deletion. Errors: 404. */
export async function checkAgents(sql: Sql, accountId: number, userIds: readonly number[]): Promise<void> {
  const rows = await sql(
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

/** Checks that the account has room for another agent. The caller holds the account's lock. Errors: 422. */
export function checkAgentRoom(tx: Transaction): Promise<void> {
  return checkRoom(tx, Agent, { most: maxAgentsPerAccount, plural: 'agents' });
}

type Part = Pick<Agent, 'role' | 'availability'>;

/** Inserts the agent of a seat that has none. */
export async function insertAgent(tx: Transaction, userId: number, { role, availability }: Part): Promise<void> {
  await tx.sql(
    `INSERT INTO agents (account_id, user_id, role, availability, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $5)`,
    [tx.account.id, userId, role, availability, tx.now],
  );
}

/**
 * Creates an agent for an e-mail address, and an invitation with a link. Does not look for a user with the address, so that
 * the answer cannot tell whether the address is known in other accounts. Errors: 422 for the address of another agent of
 * the account, and when the account has too many agents; 429 after too many invitations.
 */
export async function createAgent(tx: Transaction, input: NewAgent, link: InvitationLink): Promise<AgentProfile> {
  await lockAccount(tx);
  await checkAgentRoom(tx);
  const userId = await makeSeat(tx, input);
  if (userId === null) throw invalid('/email', 'unique', 'An agent of this account has this e-mail address');
  await insertAgent(tx, userId, input);
  await invite(tx, userId, link);
  return readAgent(tx.sql, tx.account.id, userId);
}

/** Invites an agent again; earlier links become void. Errors: 404, 422 when the invitation has been accepted, 429. */
export async function inviteAgain(tx: Transaction, userId: number, link: InvitationLink): Promise<AgentProfile> {
  await lockAccount(tx);
  const agent = await readAgent(tx.sql, tx.account.id, userId);
  if (agent.confirmed) throw invalid('', 'confirmed', 'This agent has already accepted the invitation');
  await closeInvitations(tx, userId);
  await invite(tx, userId, link);
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
  throw forbidden('Only administrators may do this; agents may change their own availability');
}

/**
 * Checks that the account has another administrator who has accepted the invitation, and locks the administrators until the
 * transaction ends. Errors: 422.
 */
export async function checkNotLastAdministrator(tx: Transaction, userId: number): Promise<void> {
  // Locks in one order, so that two administrators who step down at the same time do so one after the other.
  const administrators = await tx.sql<{ user_id: number }>(
    `SELECT g.user_id FROM agents g JOIN seats s ON s.account_id = g.account_id AND s.id = g.user_id
     WHERE g.account_id = $1 AND g.role = 'administrator' AND s.person_id IS NOT NULL
     ORDER BY g.user_id FOR NO KEY UPDATE OF g`,
    [tx.account.id],
  );
  if (administrators.some((other) => other.user_id !== userId)) return;
  throw invalid(
    '/role',
    'last_administrator',
    'This is the last administrator of the account: make another agent one first',
  );
}

async function rename(tx: Transaction, userId: number, name: string): Promise<boolean> {
  const renamed = await tx.sql(
    'UPDATE seats SET name = $3 WHERE account_id = $1 AND id = $2 AND name <> $3 RETURNING id',
    [tx.account.id, userId, name],
  );
  return renamed.length > 0;
}

/**
 * Changes an agent in this account. Errors: 404; 403 for changes by others than administrators, except of one's own
 * availability; 422 for taking the role of the last administrator.
 */
export async function updateAgent(tx: Transaction, userId: number, changes: AgentChanges): Promise<AgentProfile> {
  checkRights(tx.actor, userId, changes);
  const { name, ...membership } = changes;
  // Changes of the account's agents are serialized: agent and seat are two rows, and the last administrator is counted.
  await lockAccount(tx);
  const agent = await readOne(tx.sql, Agent, { accountId: tx.account.id, userId });
  if (agent.role === 'administrator' && membership.role === 'agent') await checkNotLastAdministrator(tx, userId);
  // Lock order: the agent before its seat, as in the agent's removal.
  await lockSeat(tx, userId);
  if (name !== undefined && (await rename(tx, userId, name))) agent.updatedAt = tx.now;
  update(agent, membership, tx.now);
  await save(tx.sql, agent);
  return readAgent(tx.sql, tx.account.id, userId);
}

import type { Named } from '../../records/conversation.ts';
import { prepared } from '../../postgres/prepared.ts';
import { sql, type Executor } from '../../postgres/sql.ts';

/** The holder of an access token. */
export interface Principal {
  tokenId: number;
  kind: 'user' | 'agent_bot';
  id: number;
  name: string;
  email: string | null;
  avatarUrl: string | null;
  confirmed: boolean;
  platformAdmin: boolean;
  /** The account of a bot; null for users and system bots. */
  accountId: number | null;
}

interface PrincipalRow {
  token_id: number;
  kind: Principal['kind'];
  id: number;
  name: string;
  email: string | null;
  avatar_url: string | null;
  confirmed: boolean | null;
  platform_admin: boolean | null;
  account_id: number | null;
}

const principalStatement = prepared(
  `SELECT k.id AS token_id, CASE WHEN u.id IS NULL THEN 'agent_bot' ELSE 'user' END AS kind,
       coalesce(u.id, b.id) AS id, coalesce(u.name, b.name) AS name, u.email,
       coalesce(u.avatar_url, b.avatar_url) AS avatar_url, u.confirmed, u.platform_admin, b.account_id
     FROM access_tokens k LEFT JOIN users u ON u.id = k.user_id LEFT JOIN agent_bots b ON b.id = k.agent_bot_id
     WHERE k.token_hash = $1`,
);

/** The holder of the token with this SHA-256, or null. */
export async function findPrincipal(executor: Executor, tokenHash: Buffer): Promise<Principal | null> {
  const [row] = await sql<PrincipalRow>(executor, principalStatement, [tokenHash]);
  if (!row) return null;
  return {
    tokenId: row.token_id,
    kind: row.kind,
    id: row.id,
    name: row.name,
    email: row.email,
    avatarUrl: row.avatar_url,
    confirmed: row.confirmed ?? true,
    platformAdmin: row.platform_admin ?? false,
    accountId: row.account_id,
  };
}

/** A user's membership of an account; `agentId` is the id of the user's seat there. */
export interface Membership {
  account: Named;
  agentId: number;
  role: 'administrator' | 'agent';
  availability: 'online' | 'busy' | 'offline';
}

/** The memberships of a user, oldest first. */
export async function findMemberships(executor: Executor, userId: number): Promise<Membership[]> {
  const rows = await sql<Named & { agent_id: number } & Pick<Membership, 'role' | 'availability'>>(
    executor,
    `SELECT a.id, a.name, s.id AS agent_id, g.role, g.availability FROM seats s
     JOIN agents g ON g.account_id = s.account_id AND g.user_id = s.id JOIN accounts a ON a.id = s.account_id
     WHERE s.person_id = $1 AND s.left_at IS NULL ORDER BY g.id`,
    [userId],
  );
  return rows.map(({ id, name, agent_id: agentId, ...rest }) => ({ account: { id, name }, agentId, ...rest }));
}

interface EntryRow {
  account_name: string;
  id: number | null;
  name: string;
  email: string;
  avatar_url: string | null;
  role: Membership['role'] | null;
}

const entryStatement = prepared(
  `SELECT a.name AS account_name, s.id, s.name, s.email, s.avatar_url, g.role FROM accounts a
     LEFT JOIN seats s ON s.account_id = a.id AND s.person_id = $2 AND s.left_at IS NULL
     LEFT JOIN agents g ON g.account_id = s.account_id AND g.user_id = s.id
     WHERE a.id = $1`,
);

/** A principal within an account: a person with the seat's id and name, a bot with its own. */
export type Entrant = Pick<Principal, 'kind' | 'id' | 'name' | 'email' | 'avatarUrl'> & {
  /** The agent's role; null for bots. */
  role: Membership['role'] | null;
};

function entrantOf(principal: Principal, row: EntryRow): Entrant | null {
  if (principal.kind === 'user') {
    const { id, name, email, avatar_url: avatarUrl, role } = row;
    return id === null || role === null ? null : { kind: 'user', id, name, email, avatarUrl, role };
  }
  const { kind, id, name, email, avatarUrl } = principal;
  return { kind, id, name, email, avatarUrl, role: null };
}

/** The account, and the principal within it; null when the principal does not belong to the account. */
export async function findEntry(
  executor: Executor,
  accountId: number,
  principal: Principal,
): Promise<{ account: Named; entrant: Entrant } | null> {
  if (principal.accountId !== null && principal.accountId !== accountId) return null;
  const personId = principal.kind === 'user' ? principal.id : null;
  const [row] = await sql<EntryRow>(executor, entryStatement, [accountId, personId]);
  const entrant = row && entrantOf(principal, row);
  return entrant ? { account: { id: accountId, name: row.account_name }, entrant } : null;
}

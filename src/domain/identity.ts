import type { Named } from '../entities/conversation.ts';
import { prepared } from '../lib/prepared.ts';
import { sql, type Executor } from '../lib/sql.ts';

/** Whom an access token belongs to. */
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
  user_id: number | null;
  bot_id: number | null;
  name: string;
  email: string | null;
  avatar_url: string | null;
  confirmed: boolean | null;
  platform_admin: boolean | null;
  account_id: number | null;
}

const principalStatement = prepared(
  `SELECT k.id AS token_id, u.id AS user_id, b.id AS bot_id, coalesce(u.name, b.name) AS name, u.email,
       coalesce(u.avatar_url, b.avatar_url) AS avatar_url, u.confirmed, u.platform_admin, b.account_id
     FROM access_tokens k LEFT JOIN users u ON u.id = k.user_id LEFT JOIN agent_bots b ON b.id = k.agent_bot_id
     WHERE k.token_hash = $1`,
);

/** Who holds the token with this SHA-256, or null. */
export async function findPrincipal(executor: Executor, tokenHash: Buffer): Promise<Principal | null> {
  const [row] = await sql<PrincipalRow>(executor, principalStatement, [tokenHash]);
  if (!row) return null;
  return {
    tokenId: row.token_id,
    kind: row.user_id === null ? 'agent_bot' : 'user',
    id: row.user_id ?? row.bot_id ?? 0,
    name: row.name,
    email: row.email,
    avatarUrl: row.avatar_url,
    confirmed: row.confirmed ?? true,
    platformAdmin: row.platform_admin ?? false,
    accountId: row.account_id,
  };
}

/** An account that a user belongs to. */
export interface Membership {
  account: Named;
  role: 'administrator' | 'agent';
  availability: 'online' | 'busy' | 'offline';
}

/** The accounts of a user, oldest membership first. */
export async function findMemberships(executor: Executor, userId: number): Promise<Membership[]> {
  const rows = await sql<{ id: number; name: string } & Pick<Membership, 'role' | 'availability'>>(
    executor,
    `SELECT a.id, a.name, g.role, g.availability FROM agents g JOIN accounts a ON a.id = g.account_id
     WHERE g.user_id = $1 ORDER BY g.id`,
    [userId],
  );
  return rows.map(({ id, name, role, availability }) => ({ account: { id, name }, role, availability }));
}

const entryStatement = prepared(
  `SELECT a.name, g.role FROM accounts a LEFT JOIN agents g ON g.account_id = a.id AND g.user_id = $2
     WHERE a.id = $1`,
);

/** The account as the principal may enter it: with a user's role, or without one for its bots; null when it may not. */
export async function findEntry(
  executor: Executor,
  accountId: number,
  principal: Principal,
): Promise<{ account: Named; role: Membership['role'] | null } | null> {
  const [row] = await sql<{ name: string; role: Membership['role'] | null }>(executor, entryStatement, [
    accountId,
    principal.kind === 'user' ? principal.id : null,
  ]);
  if (!row) return null;
  const account = { id: accountId, name: row.name };
  if (principal.kind === 'user') return row.role ? { account, role: row.role } : null;
  return principal.accountId === null || principal.accountId === accountId ? { account, role: null } : null;
}

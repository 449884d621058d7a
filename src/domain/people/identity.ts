import { isDeepStrictEqual } from 'node:util';
import type { Named } from '../../records/conversations/conversation.ts';
import { prepared } from '../../postgres/prepared.ts';
import { momentOrNull, type Sql } from '../../postgres/sql.ts';

/** The holder of an access token. */
export interface Principal {
  tokenId: number;
  /** `webhook`: whoever has a link that shares one. */
  kind: 'user' | 'agent_bot' | 'webhook';
  /** The person's, the bot's or the webhook's. */
  id: number;
  name: string;
  email: string | null;
  avatarUrl: string | null;
  confirmed: boolean;
  platformAdmin: boolean;
  /** The account of a bot or a shared webhook; null for users and system bots. */
  accountId: number | null;
  /** Null for a token that lasts; else when the person's sign-in or the link ends. */
  expiresAt: Date | null;
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
  /** As text. */
  expires_at: string | null;
}

const principalColumns = `k.id AS token_id,
       CASE WHEN k.webhook_id IS NOT NULL THEN 'webhook' WHEN u.id IS NULL THEN 'agent_bot' ELSE 'user' END AS kind,
       coalesce(u.id, b.id, k.webhook_id) AS id, coalesce(u.name, b.name, o.name) AS name, u.email,
       coalesce(u.avatar_url, b.avatar_url) AS avatar_url, u.confirmed, u.platform_admin,
       coalesce(b.account_id, w.account_id) AS account_id, k.expires_at`;
// A webhook is shared as long as the one who shared it is an administrator of its account.
const tokens = `access_tokens k LEFT JOIN users u ON u.id = k.user_id LEFT JOIN agent_bots b ON b.id = k.agent_bot_id
     LEFT JOIN webhooks w ON w.id = k.webhook_id
     LEFT JOIN seats o ON o.account_id = w.account_id AND o.id = k.seat_id AND o.left_at IS NULL
     LEFT JOIN agents h ON h.account_id = o.account_id AND h.user_id = o.id AND h.role = 'administrator'`;
const found = `k.token_hash = $1 AND (k.webhook_id IS NULL OR h.user_id IS NOT NULL)`;
const principalText = `SELECT ${principalColumns} FROM ${tokens} WHERE ${found}`;
const principalStatement = prepared(principalText);
const lockedPrincipalStatements = {
  share: prepared(`${principalText} FOR KEY SHARE OF k`),
  update: prepared(`${principalText} FOR UPDATE OF k`),
};

/** The holder of the token with this SHA-256, also of one that has expired; null for none, and for a link whose creator is no administrator. */
export async function findPrincipal(sql: Sql, tokenHash: Buffer): Promise<Principal | null> {
  const [row] = await sql<PrincipalRow>(principalStatement, [tokenHash]);
  return row ? toPrincipal(row) : null;
}

/** Whether the token's holder is still as it was read, and the token valid. */
export async function isSamePrincipal(
  sql: Sql,
  { tokenHash, principal }: { tokenHash: Buffer; principal: Principal },
  { now, lock }: Check,
): Promise<boolean> {
  const statement = lock ? lockedPrincipalStatements[lock] : principalStatement;
  const [row] = await sql<PrincipalRow>(statement, [tokenHash]);
  return isValid(principal, now) && row !== undefined && isDeepStrictEqual(toPrincipal(row), principal);
}

/**
 * Lock of the token's row that keeps it from being revoked until the transaction ends: `share` among callers who use it,
 * `update` for one who revokes it, since two sharers that both delete it would wait for each other.
 */
type TokenLock = 'share' | 'update';

interface Check {
  now: Date;
  lock: TokenLock | null;
}

/** Whether a token has not expired. */
export function isValid({ expiresAt }: { expiresAt: Date | null }, now: Date): boolean {
  return expiresAt === null || expiresAt > now;
}

function toPrincipal(row: PrincipalRow): Principal {
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
    expiresAt: momentOrNull(row.expires_at),
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
export async function findMemberships(sql: Sql, userId: number): Promise<Membership[]> {
  const rows = await sql<Named & { agent_id: number } & Pick<Membership, 'role' | 'availability'>>(
    `SELECT a.id, a.name, s.id AS agent_id, g.role, g.availability FROM seats s
     JOIN agents g ON g.account_id = s.account_id AND g.user_id = s.id JOIN accounts a ON a.id = s.account_id
     WHERE s.person_id = $1 AND s.left_at IS NULL ORDER BY g.id`,
    [userId],
  );
  return rows.map(({ id, name, agent_id: agentId, ...rest }) => ({ account: { id, name }, agentId, ...rest }));
}

interface IdentityRow extends PrincipalRow {
  account_name: string | null;
  sharer_id: number | null;
  seat_id: number | null;
  seat_name: string | null;
  seat_email: string | null;
  seat_avatar: string | null;
  role: Membership['role'] | null;
}

const identityText = `SELECT ${principalColumns}, a.name AS account_name, k.seat_id AS sharer_id, s.id AS seat_id, s.name AS seat_name,
       s.email AS seat_email, s.avatar_url AS seat_avatar, g.role
     FROM ${tokens} LEFT JOIN accounts a ON a.id = $2 AND coalesce(b.account_id, w.account_id, a.id) = a.id
     LEFT JOIN seats s ON s.account_id = a.id AND s.person_id = u.id AND s.left_at IS NULL
     LEFT JOIN agents g ON g.account_id = s.account_id AND g.user_id = s.id
     WHERE ${found}`;
const identityStatement = prepared(identityText);
const heldIdentityStatement = prepared(`${identityText} FOR KEY SHARE OF k`);

/**
 * A principal within an account: a person with the seat's id and name, a bot with its own. Through a link, the agent who shared
 * the webhook, without a role.
 */
type Entrant = Pick<Principal, 'name' | 'email' | 'avatarUrl'> & {
  kind: 'user' | 'agent_bot';
  id: number;
  /** The agent's role; null for bots and through a link. */
  role: Membership['role'] | null;
};

/** The holder of a token, and what the holder is in an account; `entry` is null for who does not belong to it. */
export interface Identity {
  tokenHash: Buffer;
  accountId: number | null;
  row: IdentityRow;
  principal: Principal;
  entry: { account: Named; entrant: Entrant } | null;
  expiresAt: Date | null;
}

/** Reads the identity of the token with this SHA-256, also of one that has expired, in an account; null when nobody holds it. */
export async function readIdentity(sql: Sql, tokenHash: Buffer, accountId: number | null): Promise<Identity | null> {
  const [row] = await sql<IdentityRow>(identityStatement, [tokenHash, accountId]);
  if (!row) return null;
  const expiresAt = momentOrNull(row.expires_at);
  return { tokenHash, accountId, row, principal: toPrincipal(row), entry: toEntry(row, accountId), expiresAt };
}

/** Whether everything is still as it was read, and the token valid. */
export async function isUnchanged(sql: Sql, identity: Identity, { now, lock }: Check): Promise<boolean> {
  const { tokenHash, accountId, row } = identity;
  const statement = lock ? heldIdentityStatement : identityStatement;
  const rows = await sql<IdentityRow>(statement, [tokenHash, accountId]);
  return isValid(identity, now) && isDeepStrictEqual(rows, [row]);
}

function toEntry(row: IdentityRow, accountId: number | null): Identity['entry'] {
  const { account_name: name, seat_id: id, role } = row;
  if (accountId === null || name === null) return null;
  const account = { id: accountId, name };
  if (row.kind === 'agent_bot') {
    const { kind, avatar_url: avatarUrl } = row;
    return { account, entrant: { kind, id: row.id, name: row.name, email: row.email, avatarUrl, role: null } };
  }
  if (row.kind === 'webhook') {
    const { sharer_id: sharer } = row;
    if (sharer === null) return null;
    return { account, entrant: { kind: 'user', id: sharer, name: row.name, email: null, avatarUrl: null, role: null } };
  }
  if (id === null || role === null) return null;
  const { seat_name: seatName, seat_email: email, seat_avatar: avatarUrl } = row;
  return { account, entrant: { kind: 'user', id, name: seatName ?? '', email, avatarUrl, role } };
}

import { createHash } from 'node:crypto';
import type { Transaction } from '../../events/transaction.ts';
import { readHookHandler, type HookHandler } from '../../packages/manifest/hooks.ts';
import { momentOrNull, type Sql } from '../../postgres/sql.ts';

/** A hook that a token leads to, as the running version of its plugin has it. */
export interface FoundHook {
  id: number;
  account: { id: number; name: string };
  owner: { kind: 'agent_bot' | 'automation'; id: number };
  /** The name of the handler. */
  name: string;
  /** Null while the plugin has no running version, or none with this handler. */
  handler: HookHandler | null;
  /** The secrets of the bot, sealed. */
  secrets: Readonly<Record<string, string>>;
  lastReceivedAt: Date | null;
}

interface HookRow {
  id: number;
  account_id: number;
  account_name: string;
  agent_bot_id: number;
  owner_kind: 'agent_bot' | 'automation';
  handler_name: string;
  handler: Parameters<typeof readHookHandler>[0] | null;
  secrets: Readonly<Record<string, string>>;
  last_received_at: string | null;
}

/** Returns the hook that a token leads to; null for a token that is unknown or has expired. */
export async function findHook(sql: Sql, tokenHash: Buffer, now: Date): Promise<FoundHook | null> {
  const [row] = await sql<HookRow>(
    `SELECT h.id, h.account_id, a.name AS account_name, h.agent_bot_id, h.owner_kind, h.handler AS handler_name, b.secrets, h.last_received_at,
       v.manifest::json -> 'hooks' -> h.handler AS handler
     FROM hook_tokens t JOIN hooks h ON h.account_id = t.account_id AND h.id = t.hook_id
     JOIN accounts a ON a.id = h.account_id JOIN agent_bots b ON b.id = h.agent_bot_id
     LEFT JOIN plugins p ON p.id = b.plugin_id LEFT JOIN plugin_bundles v ON v.hash = p.active_hash
     WHERE t.token_hash = $1 AND (t.expires_at IS NULL OR t.expires_at > $2)`,
    [tokenHash, now],
  );
  return row
    ? {
        id: row.id,
        account: { id: row.account_id, name: row.account_name },
        owner: { kind: row.owner_kind, id: row.agent_bot_id },
        name: row.handler_name,
        handler: row.handler && readHookHandler(row.handler),
        secrets: row.secrets,
        lastReceivedAt: momentOrNull(row.last_received_at),
      }
    : null;
}

/** A request that was verified. */
export interface HookRequest {
  headers: readonly (readonly [name: string, value: string])[];
  body: Buffer;
  /** The sender's id; null where it has none. */
  requestId: string | null;
  /** Key of its lane; null for a lane of its own. */
  key: string | null;
}

/** The id of a stored request. */
export interface StoredRequest {
  id: number;
  isDuplicate: boolean;
}

const seenEveryMs = 60_000;
/** Hexadecimal digits of a lane's number: 52 bits. */
const laneDigits = 13;

/**
 * Stores a request once, and says hook_received to the owner of the hook: of one whose id was stored before, only that it came again. Answers the id of the request that is
 * stored.
 */
export async function storeHookRequest(tx: Transaction, hook: FoundHook, request: HookRequest): Promise<StoredRequest> {
  noteSeen(tx, hook);
  const hash = request.requestId === null ? null : createHash('sha256').update(request.requestId).digest();
  const [stored] = await tx.sql<{ id: number }>(
    `INSERT INTO hook_requests (account_id, hook_id, received_at, outcome, bytes, key, request_hash, headers, body)
     VALUES ($1, $2, $3, 'accepted', $4, $5, $6, $7, $8)
     ON CONFLICT (account_id, hook_id, request_hash) WHERE request_hash IS NOT NULL DO NOTHING RETURNING id`,
    [
      hook.account.id,
      hook.id,
      tx.now,
      request.body.length,
      request.key,
      hash,
      JSON.stringify(request.headers),
      request.body,
    ],
  );
  if (stored) {
    await sayReceived(tx, hook, { id: stored.id, key: request.key });
    return { id: stored.id, isDuplicate: false };
  }
  const [first] = await tx.sql<{ id: number }>(
    'SELECT id FROM hook_requests WHERE account_id = $1 AND hook_id = $2 AND request_hash = $3',
    [hook.account.id, hook.id, hash],
  );
  const id = await keepFacts(tx, hook, { outcome: 'duplicate', reason: null, bytes: request.body.length });
  return { id: first?.id ?? id, isDuplicate: true };
}

// A refused signature has no event. The flush draws the event's id.
async function sayReceived(
  tx: Transaction,
  { id: hookId, name, owner, account }: FoundHook,
  { id, key }: { id: number; key: string | null },
): Promise<void> {
  const request = { id, hook: { id: hookId, name }, lane: key === null ? id : laneOf(hookId, key) };
  const isBot = owner.kind === 'agent_bot';
  const decision = isBot ? ({ botId: owner.id, chosenBy: 'hook', silence: null } as const) : null;
  tx.record('hook_received', { request, account }, decision, isBot ? null : owner.id);
  await tx.flush();
  await tx.sql(`UPDATE hook_requests SET event_id = currval('events_id_seq') WHERE account_id = $1 AND id = $2`, [
    account.id,
    id,
  ]);
}

// Two keys of the same number are handled in order as if they were one.
function laneOf(hookId: number, key: string): number {
  return Number.parseInt(createHash('sha256').update(`${hookId} ${key}`).digest('hex').slice(0, laneDigits), 16);
}

// A row that each request changed would have them wait for each other.
function noteSeen(tx: Transaction, { id, account, lastReceivedAt }: FoundHook): void {
  if (lastReceivedAt !== null && tx.now.getTime() - lastReceivedAt.getTime() < seenEveryMs) return;
  tx.atCommit({
    text: `UPDATE hooks SET last_received_at = $3 WHERE account_id = $1 AND id = (
      SELECT id FROM hooks WHERE account_id = $1 AND id = $2 FOR NO KEY UPDATE SKIP LOCKED)`,
    parameters: [account.id, id, tx.now],
  });
}

/** Keeps of a refused request when it came, why it was refused, and its size. */
export async function keepRefusal(
  tx: Transaction,
  hook: FoundHook,
  { reason, bytes }: { reason: string; bytes: number },
): Promise<void> {
  await keepFacts(tx, hook, { outcome: 'refused', reason, bytes });
}

async function keepFacts(
  tx: Transaction,
  { id, account }: FoundHook,
  { outcome, reason, bytes }: { outcome: 'refused' | 'duplicate'; reason: string | null; bytes: number },
): Promise<number> {
  const [row] = (await tx.sql<{ id: number }>(
    `INSERT INTO hook_requests (account_id, hook_id, received_at, outcome, reason, bytes, is_settled)
     VALUES ($1, $2, $3, $4, $5, $6, true) RETURNING id`,
    [account.id, id, tx.now, outcome, reason, bytes],
  )) as [{ id: number }];
  return row.id;
}

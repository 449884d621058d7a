import { createHash } from 'node:crypto';
import type { Transaction } from '../../events/transaction.ts';
import { readHookHandler, type HookHandler } from '../../packages/manifest/hooks.ts';
import { momentOrNull, type Sql } from '../../postgres/sql.ts';

/** A hook that a token leads to, as the running version of its plugin has it. */
export interface FoundHook {
  id: number;
  account: { id: number; name: string };
  botId: number;
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
  handler: Parameters<typeof readHookHandler>[0] | null;
  secrets: Readonly<Record<string, string>>;
  last_received_at: string | null;
}

/** Returns the hook that a token leads to; null for a token that is unknown or has expired. */
export async function findHook(sql: Sql, tokenHash: Buffer, now: Date): Promise<FoundHook | null> {
  const [row] = await sql<HookRow>(
    `SELECT h.id, h.account_id, a.name AS account_name, h.agent_bot_id, b.secrets, h.last_received_at,
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
        botId: row.agent_bot_id,
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

/**
 * Stores a request once: of one whose id was stored before, only that it came again. Answers the id of the request that is
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
  if (stored) return { id: stored.id, isDuplicate: false };
  const [first] = await tx.sql<{ id: number }>(
    'SELECT id FROM hook_requests WHERE account_id = $1 AND hook_id = $2 AND request_hash = $3',
    [hook.account.id, hook.id, hash],
  );
  const id = await keepFacts(tx, hook, { outcome: 'duplicate', reason: null, bytes: request.body.length });
  return { id: first?.id ?? id, isDuplicate: true };
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

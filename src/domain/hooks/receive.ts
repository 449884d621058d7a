import { createHash } from 'node:crypto';
import { busy } from '../../errors.ts';
import type { Transaction } from '../../events/transaction.ts';
import { holdHook, type FoundHook } from './find.ts';

/** A request that was verified. */
export interface HookRequest {
  headers: readonly (readonly [name: string, value: string])[];
  body: Buffer;
  /** The sender's id; null where it has none. */
  requestId: string | null;
  /** Key of its lane; null for a lane of its own. */
  key: string | null;
}

/** Bytes besides headers and body that a request takes: its event and its delivery. */
const overheadBytes = 1_024;

/** Returns the bytes that a request takes while it waits. */
export function storedBytes({ headers, body }: Pick<HookRequest, 'headers' | 'body'>): number {
  return overheadBytes + body.length + headers.reduce((sum, [name, value]) => sum + name.length + value.length, 0);
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
 * Stores a request once, and says hook_received to the owner of the hook: of one whose id was stored before, only that it came again,
 * and while `keepsFacts`. Returns the id of the stored one. Errors: those of `holdHook`; 503 when the stored one is deleted in this
 * moment.
 */
export async function storeHookRequest(
  tx: Transaction,
  hook: FoundHook,
  request: HookRequest & { tokenHash: Buffer; keepsFacts: () => Promise<boolean> },
): Promise<StoredRequest> {
  noteSeen(tx, hook);
  // Both in one round trip. The insertion counts only where the hook still serves.
  const holding = holdHook(tx, hook, request.tokenHash);
  const inserting = insertRequest(tx, hook, request);
  inserting.catch(() => undefined);
  await holding;
  const stored = await inserting;
  if (stored !== null) {
    await sayReceived(tx, hook, { id: stored, key: request.key });
    return { id: stored, isDuplicate: false };
  }
  const [first] = await tx.sql<{ id: number }>(
    'SELECT id FROM hook_requests WHERE account_id = $1 AND hook_id = $2 AND request_hash = $3',
    [hook.account.id, hook.id, hashOf(request)],
  );
  if (await request.keepsFacts())
    await keepFacts(tx, hook, { outcome: 'duplicate', reason: null, bytes: request.body.length });
  // The first was deleted in this moment: the sender comes again, and is stored.
  if (!first) throw busy();
  return { id: first.id, isDuplicate: true };
}

function hashOf({ requestId }: HookRequest): Buffer | null {
  return requestId === null ? null : createHash('sha256').update(requestId).digest();
}

// Null where the sender's id was stored before.
async function insertRequest(tx: Transaction, hook: FoundHook, request: HookRequest): Promise<number | null> {
  const [stored] = await tx.sql<{ id: number }>(
    `INSERT INTO hook_requests (account_id, hook_id, received_at, outcome, bytes, stored_bytes, key, request_hash, headers, body)
     VALUES ($1, $2, $3, 'accepted', $4, $9, $5, $6, $7, $8)
     ON CONFLICT (account_id, hook_id, request_hash) WHERE request_hash IS NOT NULL DO NOTHING RETURNING id`,
    [
      hook.account.id,
      hook.id,
      tx.now,
      request.body.length,
      request.key,
      hashOf(request),
      JSON.stringify(request.headers),
      request.body,
      storedBytes(request),
    ],
  );
  return stored?.id ?? null;
}

// A refused signature has no event. The flush draws the event's id.
async function sayReceived(
  tx: Transaction,
  { id: hookId, name, owner, account }: FoundHook,
  { id, key }: { id: number; key: string | null },
): Promise<void> {
  const channelId = owner.kind === 'channel' ? owner.id : null;
  const request = { id, hook: { id: hookId, name }, lane: key === null ? id : laneOf(hookId, key), channelId };
  const decision = owner.kind === 'agent_bot' ? ({ botId: owner.id, chosenBy: 'hook', silence: null } as const) : null;
  tx.record('hook_received', { request, account }, decision, owner.kind === 'automation' ? owner.id : null);
  await tx.flush();
  tx.atCommit({
    text: `UPDATE hook_requests SET event_id = currval('events_id_seq') WHERE account_id = $1 AND id = $2`,
    parameters: [account.id, id],
  });
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
): Promise<void> {
  // A hook that is deleted meanwhile takes its requests with it.
  await tx.sql(
    `INSERT INTO hook_requests (account_id, hook_id, received_at, outcome, reason, bytes, is_settled)
     SELECT h.account_id, h.id, $3, $4, $5, $6, true FROM hooks h WHERE h.account_id = $1 AND h.id = $2 FOR KEY SHARE`,
    [account.id, id, tx.now, outcome, reason, bytes],
  );
}

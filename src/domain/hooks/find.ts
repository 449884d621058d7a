import { isDeepStrictEqual } from 'node:util';
import type { Transaction } from '../../events/transaction.ts';
import { readHookHandler, type HookHandler } from '../../packages/manifest/hooks.ts';
import { momentOrNull, type Sql } from '../../postgres/sql.ts';
import { fieldOfPart } from '../../records/bots/part.ts';
import { ApiError } from '../../errors.ts';

/** A hook that a token leads to, as the running version of its plugin has it. */
export interface FoundHook {
  id: number;
  account: { id: number; name: string };
  owner: { kind: 'agent_bot' | 'automation' | 'channel'; id: number };
  /** The name of the handler. */
  name: string;
  /** Null while the plugin has no running version, or none with this handler, and while the automation is switched off. */
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
  owner_kind: 'agent_bot' | 'automation' | 'channel';
  handler_name: string;
  handler: Parameters<typeof readHookHandler>[0] | null;
  secrets: Readonly<Record<string, string>>;
  last_received_at: string | null;
}

const hooksOfOwner = fieldOfPart('v.manifest', 'b.kind', 'hooks');

/** Returns the hook that a token leads to; null for a token that is unknown or has expired. */
export async function findHook(sql: Sql, tokenHash: Buffer, now: Date): Promise<FoundHook | null> {
  const [row] = await sql<HookRow>(
    `SELECT h.id, h.account_id, a.name AS account_name, h.agent_bot_id, h.owner_kind, h.handler AS handler_name, b.secrets, h.last_received_at,
       CASE WHEN b.active THEN ${hooksOfOwner} -> h.handler END AS handler
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

/** The token of a request stopped to lead to its hook while the body arrived. */
export class HookGone extends Error {}

/**
 * Makes sure in the transaction that stores a request that its token still leads to the hook, whose deletion waits from then on. Errors:
 * HookGone; 503 when a secret was changed since the request was verified.
 */
export async function holdHook(tx: Transaction, { id, account, secrets }: FoundHook, tokenHash: Buffer): Promise<void> {
  const [held] = await tx.sql<{ secrets: Readonly<Record<string, string>> }>(
    `SELECT b.secrets FROM hooks h JOIN hook_tokens t ON t.account_id = h.account_id AND t.hook_id = h.id
       JOIN agent_bots b ON b.id = h.agent_bot_id
     WHERE h.account_id = $1 AND h.id = $2 AND t.token_hash = $3 AND (t.expires_at IS NULL OR t.expires_at > $4)
     FOR KEY SHARE OF h`,
    [account.id, id, tokenHash, tx.now],
  );
  if (!held) throw new HookGone();
  if (isDeepStrictEqual(held.secrets, secrets)) return;
  throw new ApiError(503, 'hook_not_ready', 'A secret of the hook was changed: try again', {
    headers: { 'retry-after': '1' },
  });
}

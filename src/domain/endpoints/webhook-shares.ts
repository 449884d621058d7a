import { invalid, notFound } from '../../errors.ts';
import type { Transaction } from '../../events/transaction.ts';
import { hashToken, lastFour } from '../../lib/secrets/tokens.ts';
import type { Sql } from '../../postgres/sql.ts';
import { AccessToken } from '../../records/access-token.ts';
import { Webhook } from '../../records/webhook.ts';
import { readWebhook } from '../webhooks.ts';
import { countRows, createRow, deleteRows, lockOne } from '../small-rows.ts';

/** A link that shares a webhook. */
export interface WebhookShare {
  id: number;
  lastFour: string;
  /** The name of the administrator. */
  createdBy: string;
  createdAt: Date;
  expiresAt: Date;
}

// Each is a way in that somebody must be able to oversee.
const maxShares = 20;

/**
 * Lets the holder of the token read a webhook's deliveries, resend them and send tests, until it expires, the caller is no
 * administrator of the account any more, or the webhook is deleted. Errors: 404; 422 when the webhook has 20 links.
 */
export async function shareWebhook(
  tx: Transaction,
  webhookId: number,
  { token, expiresAt }: { token: string; expiresAt: Date },
): Promise<void> {
  const { account, actor, now, sql } = tx;
  const accountId = account.id;
  await lockOne(sql, Webhook, { id: webhookId, accountId });
  const present = { webhookId, expiresAt: { $gt: now } };
  if ((await countRows(sql, AccessToken, present)) >= maxShares)
    throw invalid('', 'limit', `A webhook can have at most ${maxShares} links. Revoke one first.`);
  await createRow(sql, AccessToken, {
    webhookId,
    seatId: actor.id,
    tokenHash: hashToken(token),
    lastFour: lastFour(token),
    createdAt: now,
    expiresAt,
  });
}

interface ShareRow {
  id: number;
  last_four: string;
  name: string;
  created_at: string;
  expires_at: string;
}

/** Returns the links of a webhook that have not expired, the newest first. Errors: 404. */
export async function listShares(sql: Sql, accountId: number, webhookId: number, now: Date): Promise<WebhookShare[]> {
  await readWebhook(sql, accountId, webhookId);
  const rows = await sql<ShareRow>(
    `SELECT k.id, k.last_four, s.name, k.created_at, k.expires_at
     FROM webhooks w JOIN access_tokens k ON k.webhook_id = w.id
     JOIN seats s ON s.account_id = w.account_id AND s.id = k.seat_id
     WHERE w.account_id = $1 AND w.id = $2 AND k.expires_at > $3 ORDER BY k.id DESC LIMIT ${maxShares}`,
    [accountId, webhookId, now],
  );
  return rows.map((row) => ({
    id: row.id,
    lastFour: row.last_four,
    createdBy: row.name,
    createdAt: new Date(row.created_at),
    expiresAt: new Date(row.expires_at),
  }));
}

/** Ends a link of a webhook at once. Errors: 404. */
export async function revokeShare({ sql, account }: Transaction, webhookId: number, id: number): Promise<void> {
  await readWebhook(sql, account.id, webhookId);
  if ((await deleteRows(sql, AccessToken, { id, webhookId })) === 0) throw notFound('Link');
}

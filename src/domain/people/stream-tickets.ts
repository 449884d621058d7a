import type { Transaction } from '../../events/transaction.ts';
import { hashToken } from '../../lib/secrets/tokens.ts';
import type { Sql } from '../../postgres/sql.ts';

const lifeMs = 30_000;
// Each new ticket removes more old ones than it adds, so that nobody need sweep.
const removed = 10;

/** Lets the holder of an access token open one stream by a ticket, which may stand in a URL. Answers when it expires. */
export async function grantStreamTicket(tx: Transaction, tokenId: number, ticket: string): Promise<Date> {
  const expiresAt = new Date(tx.now.getTime() + lifeMs);
  await tx.sql(
    `WITH expired AS (
       DELETE FROM stream_tickets WHERE ticket_hash IN (
         SELECT ticket_hash FROM stream_tickets WHERE expires_at <= $4
         ORDER BY expires_at LIMIT ${removed} FOR UPDATE SKIP LOCKED)
     )
     INSERT INTO stream_tickets (ticket_hash, token_id, account_id, expires_at) VALUES ($1, $2, $3, $5)`,
    [hashToken(ticket), tokenId, tx.account.id, tx.now, expiresAt],
  );
  return expiresAt;
}

/** Uses up a ticket: the SHA-256 of the access token that it stands for; null for one that is used, expired or unknown. */
export async function redeemStreamTicket(
  sql: Sql,
  { ticketHash, accountId }: { ticketHash: Buffer; accountId: number | null },
  now: Date,
): Promise<Buffer | null> {
  const [row] = await sql<{ token_hash: Buffer }>(
    `DELETE FROM stream_tickets t USING access_tokens k
     WHERE t.ticket_hash = $1 AND t.account_id = $2 AND t.expires_at > $3 AND k.id = t.token_id RETURNING k.token_hash`,
    [ticketHash, accountId, now],
  );
  return row?.token_hash ?? null;
}

import type { Transaction } from '../../events/transaction.ts';

/** Hours for which a request waits for its plugin, which may be repaired. */
const patienceHours = 72;

/** Whether a request has waited for so long that it is not handled any more. */
export async function hasWaitedTooLong(tx: Transaction, requestId: number): Promise<boolean> {
  const [request] = await tx.sql<{ is_late: boolean }>(
    `SELECT received_at < $3::timestamptz - interval '${patienceHours} hours' AS is_late FROM hook_requests WHERE account_id = $1 AND id = $2`,
    [tx.account.id, requestId, tx.now],
  );
  return request?.is_late ?? true;
}

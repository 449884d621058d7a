import { prepared } from '../../postgres/prepared.ts';
import type { Claimed } from '../lanes/claim.ts';
import type { Committing } from '../lanes/finish.ts';

const statement = prepared(`
  WITH forwarded AS (
    UPDATE deliveries SET forwarded = true, failures = 0, claims = 1
    WHERE id = $1 AND account_id = $2 AND lease_token = $3 AND state = 'pending' RETURNING true AS is_ours
  )
  SELECT coalesce((SELECT is_ours FROM forwarded), refuse_stale_delivery())`);

/** SQL condition: the delivery is for the plugin of a bot or an automation to handle in a run, or was; not for the
 * bot's server. */
export const isRun = (delivery: string): string => `(${delivery}.endpoint_kind IN ('automation', 'channel')
  OR ${delivery}.endpoint_kind = 'bot' AND NOT ${delivery}.forwarded AND EXISTS (
    SELECT FROM agent_bots b WHERE b.id = ${delivery}.endpoint_id AND b.kind = 'plugin'))`;

/**
 * Notes with the commit of a run that it forwards its claimed delivery: from then on it is for the bot's server, also after
 * the process has died. It stays claimed. When the delivery is no longer this process's, that commit fails, for
 * `unlessStale`.
 */
export function forwardDelivery(
  tx: Committing,
  { deliveryId, account, token }: Pick<Claimed, 'deliveryId' | 'account' | 'token'>,
): void {
  tx.atCommit({ text: statement, parameters: [deliveryId, account.id, token] });
}

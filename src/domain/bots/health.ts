import type { Transaction } from '../../events/transaction.ts';
import { prepared } from '../../postgres/prepared.ts';
import { storableTextOrNull } from '../../lib/text/storable.ts';

const maxErrorChars = 500;

const statement = prepared(`UPDATE agent_bots SET health_error = $2::text,
    health_since = CASE WHEN health_since IS NULL OR (health_error IS NULL) <> ($2::text IS NULL) THEN $3 ELSE health_since END
  WHERE id = $1 AND account_id IS NOT NULL AND health_error IS DISTINCT FROM $2::text`);

/**
 * Stores with the commit why a bot cannot answer as it is meant to; null when it can. It is compared in the database: other runs may
 * have ended meanwhile. Of a system bot nothing is stored: each account has a model and articles of its own.
 */
export function keepHealth(tx: Transaction, botId: number, error: string | null): void {
  tx.atCommit({ text: statement, parameters: [botId, storableTextOrNull(error, maxErrorChars), tx.now] });
}

import type { OuterTransaction } from '../../events/transaction.ts';
import { noOrigin, recordAct } from '../audit/acts.ts';
import { adoptHome, type SendingSettings } from './home.ts';

/** How many endpoints were paused. */
export interface Neutralized {
  webhooks: number;
  bots: number;
}

/** Makes a new signing secret, sealed. */
type MakeSecret = () => string;

interface Kind {
  table: 'webhooks' | 'agent_bots';
  which: string;
  /** SQL of further assignments, each after a comma. */
  also: string;
}

// Tokens and passwords by which a receiver knows the service cannot be replaced from here: they are removed.
const webhooks: Kind = { table: 'webhooks', which: 'true', also: `, headers = '[]', auth = NULL` };
const servers: Kind = { table: 'agent_bots', which: 'outgoing_url IS NOT NULL', also: '' };

const pageSize = 500;

/**
 * Makes the database of another installation harmless, and its place the home of an installation of its own: pauses all webhooks
 * and all servers of bots, of all accounts, and replaces their signing secrets. Webhooks lose their headers and their
 * authentication. Nobody is told of the pauses: administrators may be those of the other installation.
 */
export async function neutralize(
  tx: OuterTransaction,
  settings: Pick<SendingSettings, 'publicUrl'>,
  makeSecret: MakeSecret,
): Promise<Neutralized> {
  const counts = { webhooks: await pauseAll(tx, webhooks, makeSecret), bots: await pauseAll(tx, servers, makeSecret) };
  await adoptHome(tx.sql, settings);
  const changes = { paused_webhooks: [null, counts.webhooks], paused_bots: [null, counts.bots] } as const;
  const actor = { type: 'operator', id: null, name: null } as const;
  const act = { actor, action: 'installation.neutralized', target: null, changes, origin: noOrigin };
  await recordAct(tx.sql, null, act, tx.now);
  return counts;
}

async function pauseAll({ sql, now }: OuterTransaction, { table, which, also }: Kind, makeSecret: MakeSecret) {
  let count = 0;
  for (let after = 0; ;) {
    const page = await sql<{ id: number }>(
      `SELECT id FROM ${table} WHERE ${which} AND id > $1 ORDER BY id LIMIT ${pageSize} FOR UPDATE`,
      [after],
    );
    const ids = page.map(({ id }) => id);
    await sql(
      `UPDATE ${table} e SET paused_at = coalesce(e.paused_at, $3), pause_told_at = $3, updated_at = $3,
         secret = given.secret, secret_id = nextval('signing_secret_ids'), secret_created_at = $3, older_secrets = '[]' ${also}
       FROM unnest($1::bigint[], $2::text[]) AS given (id, secret) WHERE e.id = given.id`,
      [ids, ids.map(makeSecret), now],
    );
    count += ids.length;
    after = ids.at(-1) ?? after;
    if (ids.length < pageSize) return count;
  }
}

import { Client } from 'pg';
import { invalid } from '../../errors.ts';
import type { Invariant } from './invariant.ts';
import { invariants } from './invariants.ts';

/** The result of checking an invariant; without violations it is proven for the moment of the check. */
interface Judgement {
  id: string;
  name: string;
  violations: number;
  /** Some of the violations: the account, and the subject. */
  sample: Record<string, unknown>[];
}

/** The ledger, or one step of it. */
export interface Ledger {
  /** Whether all checked invariants hold. */
  ok: boolean;
  /** How many invariants there are. */
  steps: number;
  invariants: Judgement[];
}

const sampled = 5;

export interface LedgerOptions {
  databaseUrl: string;
  /** HOLD_ATTEMPTS of the service. */
  holdAttempts: number;
  /** Longest time for one invariant, in milliseconds; 0 = any. */
  timeoutMs: number;
  /** The number of the only invariant to check, from 1; undefined for all. */
  step?: number | undefined;
}

/**
 * Holds everything in the database against the invariants, in one snapshot, so that what is written meanwhile does not
 * matter. On a connection of its own, since large tables take their time. Errors: 422 for a step that there is not.
 */
export async function readLedger({ databaseUrl, holdAttempts, timeoutMs, step }: LedgerOptions): Promise<Ledger> {
  const chosen = step === undefined ? invariants : invariants.slice(step - 1, step);
  if (chosen.length === 0) throw invalid('/step', 'maximum', `The ledger has ${invariants.length} steps`);
  const client = new Client({
    connectionString: databaseUrl,
    application_name: 'switchboard-ledger',
    statement_timeout: timeoutMs,
    connectionTimeoutMillis: 5_000,
  });
  // A connection that breaks fails the statement as well.
  client.on('error', () => undefined);
  await client.connect();
  try {
    await client.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const judgements: Judgement[] = [];
    for (const invariant of chosen) judgements.push(await judge(client, invariant, holdAttempts));
    const ok = judgements.every(({ violations }) => violations === 0);
    return { ok, steps: invariants.length, invariants: judgements };
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function judge(client: Client, { id, name, text }: Invariant, holdAttempts: number): Promise<Judgement> {
  // Each statement has the parameter, whether it needs it or not.
  const { rows } = await client.query<Pick<Judgement, 'violations' | 'sample'>>(
    `WITH broken AS MATERIALIZED (SELECT b.* FROM (${text}) b WHERE $1::int IS NOT NULL)
     SELECT (SELECT count(*) FROM broken)::int AS violations,
       (SELECT coalesce(json_agg(s), '[]') FROM (SELECT * FROM broken LIMIT ${sampled}) s) AS sample`,
    [holdAttempts],
  );
  return { id, name, violations: rows[0]?.violations ?? 0, sample: rows[0]?.sample ?? [] };
}

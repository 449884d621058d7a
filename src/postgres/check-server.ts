import { Client } from 'pg';
import { OperatorError } from '../lib/operator-error.ts';
import { databasePlace, reasonOf, refusalOf } from './await-database.ts';
import { isOutage, readOnlyCode } from './errors.ts';

/** The limits of time that connections ask for as startup parameters. */
export interface TimeLimits {
  statementTimeoutMs: number;
  /** `lock_timeout`: the longest wait for a row that another transaction has locked. */
  lockTimeoutMs: number;
  /** After this time without a statement, the database ends an open transaction. */
  idleInTransactionTimeoutMs: number;
}

/** The limits of time as PostgreSQL calls them. */
export function limitParameters(limits: TimeLimits) {
  return {
    statement_timeout: limits.statementTimeoutMs,
    lock_timeout: limits.lockTimeoutMs,
    idle_in_transaction_session_timeout: limits.idleInTransactionTimeoutMs,
  };
}

/** A server as a connection finds it. */
export interface ServerFacts {
  /** `server_version_num` */
  version: number;
  isReadOnly: boolean;
  /** In milliseconds, by name; 0 is none. */
  limits: Record<string, number>;
}

// NULLS NOT DISTINCT is of this version.
const oldestVersion = 15;

/**
 * Connects as the service does, and throws OperatorError if the server cannot be used: it refuses the connection, is too old,
 * or does not apply the limits of time. Throws an outage, which may pass, if it does not answer or is
 * read-only; a command that only reads takes a standby too.
 */
export async function checkServer(url: string, limits: TimeLimits, { onlyReads = false } = {}): Promise<void> {
  const place = databasePlace(url);
  const facts = await readFacts(url, limits).catch((error: unknown) => {
    if (isOutage(error) && refusalOf(error, place) === null) throw error;
    throw new OperatorError(
      refusalOf(error, place) ?? `The database at ${place} cannot be used: ${reasonOf(error)}. Check DATABASE_URL.`,
    );
  });
  const problem = serverProblem(facts, limits);
  if (problem !== null) throw new OperatorError(`The database at ${place} ${problem}`);
  if (facts.isReadOnly && !onlyReads) throw Object.assign(new Error('it is read-only'), { code: readOnlyCode });
}

/** Returns why a server cannot be used, as the end of a sentence after its name; null if it can. */
export function serverProblem({ version, limits: found }: ServerFacts, limits: TimeLimits): string | null {
  const major = Math.floor(version / 10_000);
  if (major < oldestVersion) return `is PostgreSQL ${major}: the service needs ${oldestVersion} or newer.`;
  const wanted = Object.entries(limitParameters(limits));
  const lost = wanted.filter(([name, ms]) => !isWithin(found[name] ?? 0, ms));
  if (lost.length === 0) return null;
  const set = lost.map(([name, ms]) => `ALTER ROLE … SET ${name} = ${ms}`).join('; ');
  return (
    `does not apply ${lost.map(([name]) => name).join(', ')}, so nothing would end a statement or a lock that hangs: a pooler ` +
    `drops what connections ask for. Connect to PostgreSQL directly, or set them for the role (${set}).`
  );
}

// 0 is no limit; a role may have a stricter one.
function isWithin(ms: number, wanted: number): boolean {
  return ms > 0 && ms <= wanted;
}

async function readFacts(url: string, limits: TimeLimits): Promise<ServerFacts> {
  const parameters = limitParameters(limits);
  const connectionTimeoutMillis = limits.statementTimeoutMs;
  const client = new Client({ connectionString: url, ...parameters, connectionTimeoutMillis });
  // A connection that breaks fails its statement, too.
  client.on('error', () => undefined);
  try {
    await client.connect();
    const { rows } = await client.query<ServerFacts>(
      `SELECT current_setting('server_version_num')::int AS version, current_setting('transaction_read_only')::bool AS "isReadOnly",
         (SELECT json_object_agg(name, setting::bigint) FROM pg_settings WHERE name = ANY ($1)) AS limits`,
      [Object.keys(parameters)],
    );
    return rows[0] as ServerFacts;
  } finally {
    await client.end().catch(() => undefined);
  }
}

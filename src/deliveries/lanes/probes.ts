import { prepared } from '../../postgres/prepared.ts';
import type { Sql } from '../../postgres/sql.ts';
import type { Endpoint, EndpointKind } from '../core/endpoint.ts';

// A probe belongs to its process for the length of a lease.
const takeStatements = ofTables(take);
const giveBackStatements = ofTables(giveBack);
const hurryStatements = ofTables(hurry);
/** Seconds until a probe that somebody waits for: at most one is made in that time, however many ask. */
const hurriedSeconds = 5;

/** Takes the due probe of each endpoint, unless another process has taken it or the row is locked; returns the taken ids. */
export async function takeProbes(
  sql: Sql,
  { kind, endpointIds, seconds }: { kind: EndpointKind; endpointIds: readonly number[]; seconds: number },
): Promise<Set<number>> {
  const rows = await sql<{ id: number }>(takeStatements[kind], [endpointIds, seconds]);
  return new Set(rows.map(({ id }) => id));
}

/** Gives back probes for which no delivery was found, so that they are due at once. */
export async function giveBackProbes(sql: Sql, kind: EndpointKind, ids: readonly number[]): Promise<void> {
  await sql(giveBackStatements[kind], [ids]);
}

/** Has the endpoint's next probe made soon. */
export async function hurryProbe(sql: Sql, { kind, id }: Endpoint): Promise<void> {
  await sql(hurryStatements[kind], [[id], hurriedSeconds]);
}

function ofTables(statement: (table: string) => string): Record<EndpointKind, string> {
  const ofBots = statement('agent_bots');
  return { webhook: statement('webhooks'), bot: ofBots, automation: ofBots, channel: ofBots };
}

// SKIP LOCKED: a request that changes an endpoint may lock its row for long, and other endpoints must not wait. NO KEY: a
// full row lock would block inserts that refer to the endpoint.
function unlocked(table: string, condition: string): string {
  return `SELECT id FROM ${table} WHERE id = ANY ($1) AND ${condition} ORDER BY id FOR NO KEY UPDATE SKIP LOCKED`;
}

function giveBack(table: string): string {
  return prepared(`UPDATE ${table} SET circuit_probe_at = now()
    WHERE id = ANY (ARRAY(${unlocked(table, 'circuit_probe_at > now()')}))`);
}

function hurry(table: string): string {
  const soon = 'now() + make_interval(secs => $2)';
  return prepared(`UPDATE ${table} SET circuit_probe_at = ${soon}
    WHERE id = ANY (ARRAY(${unlocked(table, `circuit_probe_at > ${soon}`)}))`);
}

function take(table: string): string {
  return prepared(`UPDATE ${table} SET circuit_probe_at = now() + make_interval(secs => $2)
    WHERE id = ANY (ARRAY(${unlocked(table, 'circuit_probe_at <= now()')})) RETURNING id`);
}

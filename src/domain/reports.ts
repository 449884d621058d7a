import { longestOf, measures } from '../lib/report-hours.ts';
import { moment, type Sql } from '../postgres/sql.ts';

/** An hour or a day (UTC) of an account. */
export interface Activity {
  at: Date;
  customers: number;
  bots: number;
  people: number;
  /** Handoffs by their reason. */
  handoffs: Readonly<Record<string, number>>;
  /** Conversations that were rated, by the score from 1 to 5. */
  ratings: Readonly<Record<string, number>>;
  attempts: number;
  delivered: number;
  /** Null if no attempt was answered. */
  p95Ms: number | null;
  /** Longest observed wait of a delivery; null if none was pending. */
  oldestPendingSeconds: number | null;
}

interface Span {
  since: Date;
  until: Date;
  by: 'hour' | 'day';
}

interface Row {
  at: string;
  measure: string;
  count: number;
}

const statement = `
  SELECT date_trunc($4, hour, 'UTC') AS at, measure,
    (CASE WHEN measure = '${measures.oldest}' THEN max(count) ELSE sum(count) END)::bigint AS count
  FROM report_hours WHERE account_id = $1 AND hour >= $2 AND hour < $3 GROUP BY 1, 2 ORDER BY 1, 2`;

/** Returns the activity of the account per hour or day, from one moment on and before another, without idle ones. */
export async function readActivity(sql: Sql, accountId: number, span: Span): Promise<Activity[]> {
  const rows = await sql<Row>(statement, [accountId, span.since, span.until, span.by]);
  return Array.from(
    Map.groupBy(rows, ({ at }) => at),
    ([at, counts]) => activityOf(moment(at), counts),
  );
}

function activityOf(at: Date, rows: readonly Row[]): Activity {
  const counts = new Map(rows.map(({ measure, count }) => [measure, count]));
  const count = (measure: string): number => counts.get(measure) ?? 0;
  return {
    at,
    customers: count(measures.customers),
    bots: count(measures.bots),
    people: count(measures.people),
    handoffs: Object.fromEntries(countsBehind(rows, measures.handoff)),
    ratings: Object.fromEntries(countsBehind(rows, measures.rating)),
    attempts: count(measures.attempts),
    delivered: count(measures.delivered),
    p95Ms: percentile95(countsBehind(rows, measures.step)),
    oldestPendingSeconds: counts.get(measures.oldest) ?? null,
  };
}

function countsBehind(rows: readonly Row[], prefix: string): [string, number][] {
  return rows.flatMap(({ measure, count }) =>
    measure.startsWith(prefix) ? [[measure.slice(prefix.length), count] satisfies [string, number]] : [],
  );
}

const wantedPart = 0.95;

function percentile95(steps: readonly (readonly [step: string, count: number])[]): number | null {
  const sorted = steps.map(([step, count]) => ({ step: Number(step), count })).toSorted((a, b) => a.step - b.step);
  const wanted = wantedPart * sorted.reduce((sum, { count }) => sum + count, 0);
  let sum = 0;
  const reached = sorted.find(({ count }) => (sum += count) >= wanted);
  return reached ? longestOf(reached.step) : null;
}

import type { Sql } from '../../postgres/sql.ts';
import type { Endpoint } from '../core/endpoint.ts';
import { findOldestPending, lookingThrough, parametersOf, withEvent, type LogFilter } from './log-filter.ts';

/** A delivery that was selected. */
export interface Selected {
  id: number;
  eventId: number;
}

/** Deliveries that are looked through for a selection, … */
const maxSelected = 100_000;
/** … and where a text is looked for in their answers. */
const maxAnswersSearched = 10_000;

interface Row {
  id: number;
  event_id: number;
}

type FoundRow = { [Column in keyof Row]: Row[Column] | null } & { looked: number };

/**
 * The deliveries of the filter, all there are at this moment, in the order of their events. Null where more than 100,000 would have
 * to be looked through, or 10,000 for a text in their answers.
 */
export async function selectDeliveries(sql: Sql, accountId: number, filter: LogFilter): Promise<Selected[] | null> {
  const oldest = await findOldestPending(sql, accountId, filter);
  if (oldest === null) return [];
  const most = filter.answer === null ? maxSelected : maxAnswersSearched;
  const rows = await sql<FoundRow>(selectionOf(filter, most), [accountId, oldest, ...parametersOf(filter)]);
  if ((rows[0]?.looked ?? 0) > most) return null;
  return rows.filter((row): row is FoundRow & Row => row.id !== null).map(toSelected);
}

function toSelected({ id, event_id: eventId }: Row): Selected {
  return { id, eventId };
}

function selectionOf(filter: LogFilter, most: number): string {
  const { looked, wanted } = lookingThrough(filter, () => most + 1);
  return `
  WITH RECURSIVE ${looked}
  SELECT total.looked, found.* FROM (SELECT count(*)::int AS looked FROM looked) total LEFT JOIN (
    SELECT d.id, d.event_id FROM looked d ${withEvent}
    WHERE (SELECT count(*) FROM looked) <= ${most} AND ${wanted}) found ON true
  ORDER BY found.event_id, found.id`;
}

const knownStatement = `
  SELECT id, event_id FROM deliveries
  WHERE account_id = $1 AND endpoint_kind || '' = $2 AND endpoint_id + 0 = $3 AND id = ANY ($4) ORDER BY event_id, id`;

/** Returns those of the deliveries that are the endpoint's, in the order of their events. */
export async function selectKnown(
  sql: Sql,
  accountId: number,
  { endpoint: { kind, id }, ids }: { endpoint: Endpoint; ids: readonly number[] },
): Promise<Selected[]> {
  return (await sql<Row>(knownStatement, [accountId, kind, id, ids])).map(toSelected);
}

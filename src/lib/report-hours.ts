// How the hours of reports are written, by whoever counts, and read.

/** What an hour's rows are called; reasons of handoffs and numbers of steps follow the colon. */
export const measures = {
  customers: 'messages:customers',
  bots: 'messages:bots',
  people: 'messages:people',
  handoff: 'handoffs:',
  attempts: 'attempts:all',
  delivered: 'attempts:delivered',
  step: 'ms:',
  oldest: 'oldest_pending',
} as const;

/**
 * Of the durations of answers the steps are counted, so many for each doubling, each 19 % longer than the one before: any
 * number of hours then has its percentiles.
 */
export const stepsPerDoubling = 4;

/** The longest duration of a step, in milliseconds. */
export function longestOf(step: number): number {
  return Math.round(2 ** (step / stepsPerDoubling));
}

/** SQL: the hour (UTC) of a moment. */
export const hourOf = (moment: string): string => `date_trunc('hour', ${moment}, 'UTC')`;

/** SQL: adds the rows (account_id, hour, measure) of `measured`; a row without a measure counts for nothing. */
export const addingMeasured = `
  INSERT INTO report_hours AS r (account_id, hour, measure, count)
  SELECT account_id, hour, measure, count(*) FROM measured WHERE measure IS NOT NULL
  GROUP BY account_id, hour, measure ORDER BY account_id, hour, measure
  ON CONFLICT (account_id, hour, measure) DO UPDATE SET count = r.count + excluded.count`;

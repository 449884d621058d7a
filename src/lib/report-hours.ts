// Names and SQL by which the hours of reports are written and read.

/** Names of an hour's measures; reasons of handoffs, scores and numbers of steps follow the colon. */
export const measures = {
  customers: 'messages:customers',
  bots: 'messages:bots',
  people: 'messages:people',
  handoff: 'handoffs:',
  rating: 'ratings:',
  attempts: 'attempts:all',
  delivered: 'attempts:delivered',
  step: 'ms:',
  oldest: 'oldest_pending',
} as const;

/**
 * The number of steps for each doubling of a response time, each 19 % longer than the one before. Counting by steps gives
 * percentiles over any number of hours.
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

// A bucket holds as many tokens as the webhook may get deliveries in a second, and is filled within a second; `full_at` is when it
// is full. What a rounded moment lacks of a whole token is forgiven.
const forgiven = 0.001;

/** SQL: the tokens in the bucket `r` now, of a webhook with this rate. */
export function tokensIn(r: string, perSecond: string): string {
  return `greatest(0, floor(${perSecond} * (1 - greatest(0, extract(epoch FROM ${r}.full_at - now())::float8)) + ${forgiven}))::int`;
}

/** SQL: when the bucket `r` has a token. */
export function nextTokenAt(r: string, perSecond: string): string {
  return `${r}.full_at - make_interval(secs => 1 - 1.0::float8 / ${perSecond})`;
}

/** SQL: since when, or from when on, the rate allows the webhook `w` the next delivery; null where it has none. */
export function allowedByRateAt(w: string): string {
  return `(SELECT ${nextTokenAt('r', `${w}.max_per_second`)} FROM webhook_rates r
    WHERE ${w}.max_per_second IS NOT NULL AND r.account_id = ${w}.account_id AND r.webhook_id = ${w}.id)`;
}

/**
 * SQL expressions of a claim: `bucket` locks the buckets of the webhooks $1, before their lanes, so that processes take tokens
 * one after the other.
 */
export const lockingBuckets = `
  bucket AS MATERIALIZED (
    SELECT r.account_id, r.webhook_id, w.max_per_second, ${tokensIn('r', 'w.max_per_second')} AS tokens
    FROM webhook_rates r JOIN webhooks w ON w.account_id = r.account_id AND w.id = r.webhook_id
    WHERE w.id = ANY ($1) AND w.max_per_second IS NOT NULL
    ORDER BY r.webhook_id FOR NO KEY UPDATE OF r
  ),`;

const shares = `(SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::int[], $4::text[], $5::int[])
      AS share (endpoint_id, account_id, wanted, circuit, due_for))`;

/** SQL: the shares of a claim; with `bucket`, no more lanes `wanted` of each than there are tokens. */
export function sharesWithin(isRated: boolean): string {
  if (!isRated) return shares;
  return `(SELECT given.endpoint_id, given.account_id, least(given.wanted, bucket.tokens) AS wanted, given.circuit,
      given.due_for, bucket.tokens
    FROM ${shares} AS given LEFT JOIN bucket ON bucket.webhook_id = given.endpoint_id)`;
}

/** SQL: or the webhook `e` of the share has a rate that the claim does not know. */
export function orRate(isRated: boolean): string {
  return `OR e.max_per_second IS NOT NULL ${isRated ? 'AND share.tokens IS NULL' : ''}`;
}

/** SQL expressions of a claim: takes a token for each delivery in `taken`. */
export const spendingTokens = `
  spent AS (
    UPDATE webhook_rates r
    SET full_at = greatest(r.full_at, now()) + make_interval(secs => used.tokens / bucket.max_per_second::float8)
    FROM bucket JOIN (SELECT endpoint_id, count(*) AS tokens FROM taken GROUP BY endpoint_id) used
      ON used.endpoint_id = bucket.webhook_id
    WHERE r.account_id = bucket.account_id AND r.webhook_id = bucket.webhook_id
  )`;

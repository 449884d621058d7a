import { ApiError } from '../../../errors.ts';
import { moment, type Sql } from '../../../postgres/sql.ts';

const minuteMs = 60_000;
/** Tries count for this long, and the last one that is too many locks for this long. */
const windowMs = 15 * minuteMs;
/** Wrong tries that lock. */
const mostWrong = 10;
// Each new key removes more old ones than it adds, so that nobody need sweep.
const removed = 10;

/** The key of what is tried, and the number of tries that lock it. */
interface Counted {
  key: Buffer;
  most?: number;
}

interface Tries {
  tries: number;
  /** As text. */
  expires_at: string;
}

/** Refuses a key that is locked. Errors: 429. */
export async function checkTries(sql: Sql, { key, most = mostWrong }: Counted, now: Date): Promise<void> {
  const [row] = await sql<Tries>('SELECT cardinality(wrong_at) AS tries, expires_at FROM wrong_tries WHERE key = $1', [
    key,
  ]);
  if (row) refuseLocked(row, now, most);
}

/** Like checkTries; tries of the key wait until the transaction ends, so that many at once are counted one by one. */
export async function holdTries(sql: Sql, { key, most = mostWrong }: Counted, now: Date): Promise<void> {
  const [row] = await sql<Tries>(
    `WITH expired AS (
       DELETE FROM wrong_tries WHERE key IN (
         SELECT key FROM wrong_tries WHERE expires_at <= $2 AND key <> $1
         ORDER BY expires_at LIMIT ${removed} FOR UPDATE SKIP LOCKED)
     )
     INSERT INTO wrong_tries (key, wrong_at, expires_at) VALUES ($1, '{}', $2)
     ON CONFLICT (key) DO UPDATE SET key = EXCLUDED.key RETURNING cardinality(wrong_at) AS tries, expires_at`,
    [key, now],
  );
  if (row) refuseLocked(row, now, most);
}

/** Counts a try for a key that the transaction holds. */
export async function countTry(sql: Sql, key: Buffer, now: Date): Promise<void> {
  await sql(
    `UPDATE wrong_tries SET expires_at = $3,
       wrong_at = ARRAY (SELECT at FROM unnest(wrong_at) AS at WHERE at > $4 ORDER BY at) || $2::timestamptz
     WHERE key = $1`,
    [key, now, new Date(now.getTime() + windowMs), new Date(now.getTime() - windowMs)],
  );
}

/** Forgets the tries of a key. */
export async function forgetTries(sql: Sql, key: Buffer): Promise<void> {
  await sql('DELETE FROM wrong_tries WHERE key = $1', [key]);
}

function refuseLocked({ tries, expires_at: text }: Tries, now: Date, most: number): void {
  const until = moment(text);
  if (tries < most || until <= now) return;
  const seconds = Math.max(1, Math.ceil((until.getTime() - now.getTime()) / 1000));
  throw new ApiError(429, 'too_many_tries', 'Too many attempts. Try again in 15 minutes, or use a sign-in link', {
    headers: { 'retry-after': String(seconds) },
  });
}

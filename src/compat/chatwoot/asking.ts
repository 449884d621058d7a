import { ApiError, type ErrorDetail } from '../../errors.ts';
import { listOf, objectOf } from './json.ts';
import type { Asked, Json, Told } from './operation.ts';

/** Pages of a list that is asked for as a whole, at most. */
const mostPages = 40;

/** The record that was asked for. Errors: those of the answer. */
export function needed({ status, body }: Told): Json {
  if (status < 400) return objectOf(body);
  const { error, code, details } = objectOf(body);
  throw new ApiError(status, String(code), String(error), { details: listOf(details) as unknown as ErrorDetail[] });
}

/** All records of a list in pages, of which the first is there: theirs have none. */
export async function restOf(first: Json, { path, query, ask }: Asked): Promise<Json[]> {
  const { total_pages: total } = objectOf(first['meta']);
  const records = listOf(first['payload']);
  if (query.has('page') || typeof total !== 'number') return records;
  for (let page = 2; page <= Math.min(total, mostPages); page += 1) {
    records.push(...listOf(needed(await ask('GET', `${path}?page=${page}`))['payload']));
  }
  return records;
}

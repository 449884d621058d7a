import { ApiError, type ErrorDetail } from '../../errors.ts';
import { STATUS_CODES } from '../../lib/node-http.ts';
import { listOf, objectOf } from './json.ts';
import type { Asked, Json, Told } from './operation.ts';

/** Pages of a list that is asked for as a whole, at most. */
const mostPages = 40;

/** The record that was asked for. Errors: those of the answer. */
export function needed({ status, body, headers }: Told): Json {
  if (status < 400) return objectOf(body);
  const { error = STATUS_CODES[status], code = codes[status] ?? 'refused', details } = objectOf(body);
  throw new ApiError(status, String(code), String(error), {
    details: listOf(details).map(detailOf),
    headers: waitingIn(headers),
  });
}

function detailOf({ path, rule, message }: Json): ErrorDetail {
  return { path: String(path), rule: String(rule), message: String(message) };
}

// What a refusal without a body of its own is called.
const codes: Readonly<Record<number, string>> = {
  404: 'not_found',
  413: 'too_large',
  429: 'rate_limited',
  500: 'internal',
  503: 'unavailable',
};

// When to come again: it is the same for the request that asked.
function waitingIn(headers: Told['headers']): Record<string, string> {
  const told = Object.entries(headers).filter(([name]) => /^(?:retry-after|(?:x-)?ratelimit\b.*)$/.test(name));
  return Object.fromEntries(told.map(([name, value]) => [name, String(value)]));
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

import { ApiError, type ErrorDetail } from '../../errors.ts';
import { STATUS_CODES } from '../../lib/node-http.ts';
import { listOf, objectOf } from './json.ts';
import type { Asked, Json, Told } from './operation.ts';

/** Most pages that are read of a list that Chatwoot returns as a whole. */
const mostPages = 40;

/** Returns the record of an answer. Throws the answer's error. */
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

// Error codes of refusals without a body of their own.
const codes: Readonly<Record<number, string>> = {
  404: 'not_found',
  413: 'too_large',
  429: 'rate_limited',
  500: 'internal',
  503: 'unavailable',
};

// Headers about retries hold for the client's request too.
function waitingIn(headers: Told['headers']): Record<string, string> {
  const told = Object.entries(headers).filter(([name]) => /^(?:retry-after|(?:x-)?ratelimit\b.*)$/.test(name));
  return Object.fromEntries(told.map(([name, value]) => [name, String(value)]));
}

/** Returns all records of a list, whose first page is `first`: Chatwoot's list has no pages. */
export async function restOf(first: Json, { path, query, ask }: Asked): Promise<Json[]> {
  const { total_pages: total } = objectOf(first['meta']);
  const records = listOf(first['payload']);
  if (query.has('page') || typeof total !== 'number') return records;
  for (let page = 2; page <= Math.min(total, mostPages); page += 1) {
    const wanted = new URLSearchParams(query);
    wanted.set('page', String(page));
    records.push(...listOf(needed(await ask('GET', `${path}?${wanted.toString()}`))['payload']));
  }
  return records;
}

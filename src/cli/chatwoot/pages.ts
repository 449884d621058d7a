import { OperatorError } from '../../lib/operator-error.ts';
import { NoAnswer, type ChatwootClient } from './client.ts';
import { countOf, idOf, listOf, recordOf, type Foreign } from './values.ts';

/** A page of a list: its records, and their number on all pages; null if Chatwoot does not return it. */
export interface ForeignPage {
  records: Foreign[];
  count: number | null;
}

const mostPages = 1_000_000;
// A record that makes Chatwoot fail (500) fails its page for good. More failures in a row than this are no broken records.
const [stumbled, mostStumbles] = [500, 3];

/**
 * Yields the pages of a list, until one is empty. A page equal to the one before ends the walk too: Chatwoot has no pages
 * there. A page on which Chatwoot fails is left out and reported. Throws the errors of the client.
 */
export async function* pagesOf(
  client: ChatwootClient,
  path: string,
  { query, leaveOut }: { query: Readonly<Record<string, string>>; leaveOut: (what: string, why: string) => void },
): AsyncGenerator<ForeignPage> {
  let [before, stumbles] = ['', 0];
  for (let page = 1; page <= mostPages; page += 1) {
    const answer = await client.get(path, { ...query, page: String(page) }).catch((error: unknown) => {
      stumbles += 1;
      if (!(error instanceof NoAnswer) || error.status !== stumbled || stumbles > mostStumbles) throw error;
      leaveOut(`page ${page} of ${path}`, error.message);
      return undefined;
    });
    if (answer === undefined) continue;
    stumbles = 0;
    const { records, count } = pageIn(answer, path);
    const ids = records.map(({ id }) => idOf(id) ?? 0).join(' ');
    if (records.length === 0 || ids === before) return;
    before = ids;
    yield { records, count };
  }
}

/** Reads a page; lists of conversations are in `data`. */
function pageIn(answer: unknown, path: string): ForeignPage {
  const body = recordOf(recordOf(answer)['data'] ?? answer);
  const records = listOf(body);
  if (records === null) throw new OperatorError(`What answers at ${path} is no list: is this a Chatwoot server?`);
  const meta = recordOf(body['meta']);
  const counts = [meta['all_count'], meta['count']].filter((count) => typeof count === 'number');
  return { records, count: counts.length === 0 ? null : countOf(counts[0], Number.MAX_SAFE_INTEGER) };
}

/** Returns a list without pages, which may have a name in `payload`; empty if Chatwoot does not know it. */
export async function listAt(client: ChatwootClient, path: string, name?: string): Promise<Foreign[]> {
  const answer = await client.get(path);
  return listOf(name === undefined ? answer : recordOf(recordOf(answer)['payload'])[name]) ?? [];
}

/** Like listAt; null if Chatwoot does not show it: some editions lack a resource and refuse it. */
export async function listIfShown(client: ChatwootClient, path: string): Promise<Foreign[] | null> {
  try {
    return await listAt(client, path);
  } catch (error) {
    if (!(error instanceof OperatorError) || error instanceof NoAnswer || client.isStopped) throw error;
    return null;
  }
}

const [pageSize, mostBetween, mostMessagePages] = [100, 1000, 20_000];

// Limits of one statement: the number of parameters, and the time that the search index takes for texts.
const [mostTogether, mostTextTogether] = [100, 1_000_000];

/** Some messages in the order of their ids; `isLast` if there are no more. */
export interface MessagePage {
  records: Foreign[];
  isLast: boolean;
}

/**
 * Yields the messages of a conversation with higher ids than `after`. Chatwoot's cursor is the id, but its order is the time,
 * so that a full page may lack ids below its highest: they are requested by their range, which may hold any number of
 * messages. Each part fits into one statement.
 */
export async function* messagesAfter(client: ChatwootClient, path: string, after: number): AsyncGenerator<MessagePage> {
  let cursor = after;
  for (let pages = 1; ; pages += 1) {
    const answered = await recordsAt(client, path, { after: String(cursor) });
    const page = byId(answered, cursor);
    const last = idOf(page.at(-1)?.['id']);
    if (last === null || answered.length < pageSize || pages === mostMessagePages) return yield* inParts(page, true);
    const between = await allBetween(client, path, { from: cursor + 1, to: last });
    yield* inParts(byId([...between, ...page], cursor), false);
    cursor = last;
  }
}

function* inParts(records: readonly Foreign[], isLast: boolean): Generator<MessagePage> {
  let [part, length]: [Foreign[], number] = [[], 0];
  for (const record of records) {
    const own = JSON.stringify(record).length;
    if (part.length === mostTogether || (part.length > 0 && length + own > mostTextTogether)) {
      yield { records: part, isLast: false };
      [part, length] = [[], 0];
    }
    part.push(record);
    length += own;
  }
  yield { records: part, isLast };
}

async function recordsAt(client: ChatwootClient, path: string, query: Record<string, string>): Promise<Foreign[]> {
  return listOf(await client.get(path, query)) ?? [];
}

// Answers are in the order of times: a full one may lack any message of the range, which is halved then.
async function allBetween(
  client: ChatwootClient,
  path: string,
  { from, to }: { from: number; to: number },
): Promise<Foreign[]> {
  if (to <= from) return [];
  const answered = await recordsAt(client, path, { after: String(from), before: String(to) });
  const found = answered.filter(({ id }) => (idOf(id) ?? 0) >= from && (idOf(id) ?? 0) < to);
  if (found.length < mostBetween || to - from <= mostBetween) return found;
  const middle = Math.floor((from + to) / 2);
  const earlier = await allBetween(client, path, { from, to: middle });
  return [...earlier, ...(await allBetween(client, path, { from: middle, to }))];
}

/** Returns the records behind the cursor, each once, in the order of their ids. */
function byId(records: readonly Foreign[], cursor: number): Foreign[] {
  const found = new Map<number, Foreign>();
  for (const record of records) {
    const id = idOf(record['id']);
    if (id !== null && id > cursor) found.set(id, record);
  }
  return [...found].sort(([one], [other]) => one - other).map(([, record]) => record);
}

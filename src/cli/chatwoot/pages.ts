import { OperatorError } from '../../lib/operator-error.ts';
import { NoAnswer, type ChatwootClient } from './client.ts';
import { countOf, idOf, listOf, recordOf, type Foreign } from './values.ts';

/** A page of a list: its records, and how many there are on all pages, where their server tells. */
export interface ForeignPage {
  records: Foreign[];
  count: number | null;
}

const mostPages = 1_000_000;
// A record that their server stumbles over makes its page fail for good; so many in a row are no single records any more.
const [stumbled, mostStumbles] = [500, 3];

/**
 * The pages of a list, until one is empty. One that is the page before ends the walk too: their server does not know pages
 * there. A page over which their server stumbles is left out, and told. Errors: those of the client.
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

/** Conversations are a list in `data`. */
function pageIn(answer: unknown, path: string): ForeignPage {
  const body = recordOf(recordOf(answer)['data'] ?? answer);
  const records = listOf(body);
  if (records === null) throw new OperatorError(`What answers at ${path} is no list: is this a Chatwoot server?`);
  const meta = recordOf(body['meta']);
  const counts = [meta['all_count'], meta['count']].filter((count) => typeof count === 'number');
  return { records, count: counts.length === 0 ? null : countOf(counts[0], Number.MAX_SAFE_INTEGER) };
}

/** A list without pages, which may have a name in `payload`; empty where their server does not know it. */
export async function listAt(client: ChatwootClient, path: string, name?: string): Promise<Foreign[]> {
  const answer = await client.get(path);
  return listOf(name === undefined ? answer : recordOf(recordOf(answer)['payload'])[name]) ?? [];
}

const [pageSize, mostBetween, mostMessagePages] = [100, 1000, 20_000];

// What one statement writes: parameters have an end, and so has the time that the search's index takes for texts.
const [mostTogether, mostTextTogether] = [100, 1_000_000];

/** Some messages in the order of their ids, and whether there are no more of them. */
export interface MessagePage {
  records: Foreign[];
  isLast: boolean;
}

/**
 * The messages of a conversation after one of them. Their server takes the ids for the cursor and the times for the order, so
 * that a full page may leave out ids below its highest: those are asked for once more, by the range, of which there may be any
 * number. They come in parts that can be written at once.
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

// Both in the order of times: a full answer may lack any of the range, so that it is halved.
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

/** Those behind the cursor, each once, by their ids. */
function byId(records: readonly Foreign[], cursor: number): Foreign[] {
  const found = new Map<number, Foreign>();
  for (const record of records) {
    const id = idOf(record['id']);
    if (id !== null && id > cursor) found.set(id, record);
  }
  return [...found].sort(([one], [other]) => one - other).map(([, record]) => record);
}

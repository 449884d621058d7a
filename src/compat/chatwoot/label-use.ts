import { findProblems } from '../../schemas.ts';
import { needed } from './asking.ts';
import { listOf, objectOf } from './json.ts';
import type { Asked, Json, Told } from './operation.ts';

/** Labels that one request makes at most; our route refuses more than that of one record. */
const mostMade = 100;

/**
 * The labels that a conversation or a contact is to have. Theirs are any words: those that the account does not have yet are
 * made first, as far as the caller may; our route then says which are not there. Nothing is made for a record that the caller
 * cannot see.
 */
export async function readLabels(body: Json, { account, path, ask }: Asked): Promise<Json> {
  const { labels } = body;
  if (!Array.isArray(labels)) return body;
  const titles = labels.map((title: unknown) => (typeof title === 'string' ? title.toLowerCase() : title));
  const missing = await findMissing(titles, { account, path, ask });
  for (const title of missing) {
    const told = await ask('POST', `${account}/labels`, { title });
    if (isPassing(told)) needed(told);
    if (told.status >= 400 && told.status !== 422) break;
  }
  return { ...body, labels: titles };
}

async function findMissing(titles: unknown[], { account, path, ask }: Pick<Asked, 'account' | 'path' | 'ask'>) {
  if (titles.length === 0 || titles.length > mostMade || !titles.every(isTitle)) return [];
  const known = await ask('GET', `${account}/labels`);
  if (isPassing(known)) needed(known);
  if (known.status !== 200) return [];
  const present = new Set(listOf(objectOf(known.body)['payload']).map(({ title }) => title));
  const missing = [...new Set(titles)].filter((title) => !present.has(title));
  if (missing.length === 0) return [];
  const record = await ask('GET', path);
  if (isPassing(record)) needed(record);
  return record.status === 200 ? missing : [];
}

// One title that is none refuses them all: our route says which.
function isTitle(title: unknown): title is string {
  return findProblems('requests/label.create', { title }).length === 0;
}

// What says nothing of the labels, and goes better the next time.
function isPassing({ status }: Told): boolean {
  return status === 429 || status >= 500;
}

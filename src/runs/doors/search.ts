import { findProblems, type Shape } from '../../schemas.ts';
import { DoorError, UnavailableError } from './errors.ts';

/** A passage of the knowledge base, as bots get it. */
export interface Passage {
  /** Of the article. */
  id: number;
  title: string;
  url: string | null;
  heading: string | null;
  language: string;
  /** Plain text. */
  text: string;
  score: number;
  /** Whether it fits well enough to answer with. */
  answers: boolean;
}

/** What is looked for, and where. */
interface Search {
  query: string;
  limit: number;
  tags: readonly string[];
  languages: readonly string[];
}

/** Finds passages in the published articles of an account, at most one of an article, the best first. */
export type FindPassages = (accountId: number, search: Search) => Promise<Passage[]>;

const defaultLimit = 5;
// A question; the rest of a long message tells more of other things.
const maxQueryChars = 2000;

/** `ctx.kb.search`. Rejects with a DoorError. */
export async function searchDoor(
  input: unknown,
  accountId: number,
  find: FindPassages | undefined,
): Promise<Passage[]> {
  if (!find) throw new UnavailableError('kb');
  const [problem] = findProblems('runtime/search', input, 'The search');
  if (problem) throw new DoorError('bad_request', problem.message);
  const { query, limit = defaultLimit, tags = [], languages = [] } = input as Shape<'runtime/search'>;
  const cut = query.slice(0, maxQueryChars).toWellFormed().replaceAll('\0', ' ');
  return find(accountId, { query: cut, limit, tags, languages });
}

import { findProblems, type Shape } from '../../schemas.ts';
import { DoorError, UnavailableError } from './errors.ts';

/** A passage of the knowledge base, as bots get it. */
export interface Passage {
  /** The article's id. */
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
  /** The words of the text that the question asks for, as they stand there. */
  words: readonly string[];
  /** The sentence of the query that it fits best. */
  question: string;
  /** How many of the question's telling words it has, and how many there are; null where it was found by its meaning alone. */
  matches: { words: number; of: number } | null;
}

/** A search, and the articles that it covers. */
interface Search {
  query: string;
  limit: number;
  tags: readonly string[];
  languages: readonly string[];
}

/** Finds passages in the published articles of an account, at most one of an article, the best first. */
export type FindPassages = (accountId: number, search: Search) => Promise<Passage[]>;

const defaultLimit = 5;
// Length of a question; the rest of a long message is mostly about other things.
const maxQueryChars = 2000;

/** Ports of `ctx.kb`. */
export interface KnowledgePorts {
  find: FindPassages;
  /** The languages of the published articles, those with the most passages first. */
  languages?: (accountId: number) => Promise<string[]>;
  /** Whether there is any published article with these tags and languages. */
  hasArticles?: (accountId: number, filter: Pick<Search, 'tags' | 'languages'>) => Promise<boolean>;
}

/** The health of a bot that searches an empty knowledge base. */
export const nothingThere = 'The knowledge base has no published article that the bot may use';

/** `ctx.kb.search`; calls `noted` with whether there is anything to find. Rejects with a DoorError. */
export async function searchDoor(
  input: unknown,
  { accountId, noted }: { accountId: number; noted: (health: string | null) => void },
  ports: KnowledgePorts | undefined,
): Promise<Passage[]> {
  if (!ports) throw new UnavailableError('kb');
  const [problem] = findProblems('runtime/search', input, 'The search');
  if (problem) throw new DoorError('bad_request', problem.message);
  const { query, limit = defaultLimit, tags = [], languages = [] } = input as Shape<'runtime/search'>;
  const cut = query.slice(0, maxQueryChars).toWellFormed().replaceAll('\0', ' ');
  const found = await ports.find(accountId, { query: cut, limit, tags, languages });
  const isEmpty = found.length === 0 && (await ports.hasArticles?.(accountId, { tags, languages })) === false;
  noted(isEmpty ? nothingThere : null);
  return found;
}

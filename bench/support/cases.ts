import { readdirSync, readFileSync } from 'node:fs';
import { readArticles, site } from './retrieval.ts';

/** A message as customers write it, and how a bot does right by it. */
export interface Case {
  kind: string;
  /** Language of the articles that it is about. */
  language: string;
  /** Whether it is kept apart from those that answers are tuned with. */
  isHeldOut: boolean;
  question: string;
  /** Messages of the customer before it, oldest first. */
  before: readonly string[];
  /** URLs of the articles with the answer, any of which is right; empty where there is none. */
  urls: readonly string[];
  titles: readonly string[];
  isSmallTalk: boolean;
  /** Words that a model would search with; null where the question itself will do. */
  search: string | null;
}

interface Line {
  question: string;
  history?: { role: string; content: string }[];
  expect: { article?: string | string[]; answered?: false; small_talk?: true };
}

const folder = new URL('../retrieval/cases/', import.meta.url);

/** All cases of `bench/retrieval/cases`, by file. */
export function readCases(): Case[] {
  const [searches, urls] = [readSearches(), urlsByTitle()];
  const files = readdirSync(folder).filter((name) => name.endsWith('.jsonl'));
  return files.toSorted().flatMap((name) => {
    const [kind = '', language = ''] = name.split('.');
    const lines = readFileSync(new URL(name, folder), 'utf8').trim().split('\n');
    return lines.map((text, index) => {
      const { question, history = [], expect } = JSON.parse(text) as Line;
      const titles = [expect.article ?? []].flat();
      return {
        kind,
        language,
        isHeldOut: index % 2 === 1,
        question,
        before: history.filter(({ role }) => role === 'user').map(({ content }) => content),
        titles,
        urls: titles.map((title) => urlOf(urls, `${language} ${title}`)),
        isSmallTalk: expect.small_talk === true,
        search: searches.get(`${kind}.${language} | ${question}`) ?? null,
      };
    });
  });
}

function urlsByTitle(): Map<string, string> {
  return new Map(readArticles().map(({ key, title, language }) => [`${language} ${title}`, site + key]));
}

function urlOf(urls: ReadonlyMap<string, string>, title: string): string {
  const url = urls.get(title);
  if (url === undefined) throw new Error(`No article is called ${title}`);
  return url;
}

function readSearches(): Map<string, string> {
  const lines = readFileSync(new URL('../searches.txt', folder), 'utf8').trim().split('\n');
  return new Map(
    lines.map((line) => {
      const end = line.lastIndexOf(' | ');
      return [line.slice(0, end), line.slice(end + 3)];
    }),
  );
}

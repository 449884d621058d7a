import type { Bench, Figure } from '../bench.ts';
import { anyWord, commonWord, generateArticles, randomNumbers } from '../support/articles.ts';
import { withClient } from '../support/database.ts';
import { median, percentile } from '../support/figures.ts';
import { oneByOne, type Ask } from '../support/load.ts';
import { serviceEnv, withService } from '../support/service.ts';
import { onWire } from '../support/wire.ts';

const articles = 100_000;
const times = 100;
const warmUps = 20;
const wordsAsked = 6;
const statement = `SELECT id FROM article_passages WHERE account_id = 1 AND search @@ plainto_tsquery('english', $1)`;
const random = randomNumbers(2);
const words = (next: () => string) => Array.from({ length: wordsAsked }, next);

interface Kind {
  /** A word that is meant, … */
  meant: () => string;
  /** … and how it is written. */
  written?: (word: string) => string;
}

/** Questions of any words of the articles, misspelt ones, and words that a third of all passages have. */
const kinds: Readonly<Record<string, Kind>> = {
  'a question': { meant: () => anyWord(random) },
  'a misspelt question': { meant: () => anyWord(random), written: misspell },
  'common words': { meant: () => commonWord(random) },
};

/** Searches 100,000 articles, beside the index scan that finds the passages with one of the words. */
export const articleSearch: Bench = {
  name: 'article-search',
  needs: 'database',
  boundMs: 900_000,
  async run({ databaseUrl }) {
    const env = (url: string) => serviceEnv(url, { ROLE: 'web' });
    // The first start makes the account.
    await withService(env(databaseUrl), () => Promise.resolve());
    await generateArticles(databaseUrl, articles);
    const figures: Figure[] = [];
    for (const [kind, { meant, written = (word: string) => word }] of Object.entries(kinds)) {
      const question = () => words(() => written(meant())).join('+');
      const asking = (): Ask => ({ method: 'GET', path: `articles/search?q=${question()}` });
      // A misspelt word is in no passage: the limit is what it takes to find those with the word that is meant.
      const name = 'the scan for one of the words, as it is meant';
      const limit = await scanAlone(databaseUrl, meant);
      const ours = await withService(env(databaseUrl), async ({ url }) =>
        (await oneByOne(url, warmUps + times, asking)).slice(warmUps),
      );
      const cost = await onWire(databaseUrl, (wire) =>
        withService(env(wire.url), ({ url }) => wire.costOf(() => oneByOne(url, 1, asking), 10)),
      );
      const path = `${kind} to 100,000 articles`;
      figures.push(
        { path: `${path}, p50`, unit: 'ms', ours: median(ours), limit: { name, value: median(limit) }, cost },
        {
          path: `${path}, p99`,
          unit: 'ms',
          ours: percentile(ours, 0.99),
          limit: { name, value: percentile(limit, 0.99) },
        },
      );
    }
    return figures;
  },
};

function misspell(word: string): string {
  const at = 1 + Math.floor(random() * (word.length - 2));
  return `${word.slice(0, at)}${word[at + 1]}${word[at]}${word.slice(at + 2)}`;
}

function scanAlone(databaseUrl: string, next: () => string): Promise<number[]> {
  return withClient(databaseUrl, async (client) => {
    const took: number[] = [];
    for (let time = 0; time < warmUps + times; time++) {
      const word = next();
      const begun = performance.now();
      await client.query(statement, [word]);
      took.push(performance.now() - begun);
    }
    return took.slice(warmUps);
  });
}

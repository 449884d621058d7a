import type { Bench, Figure } from '../bench.ts';
import { frequentWord, rareWord } from '../support/account.ts';
import { withClient } from '../support/database.ts';
import { median, percentile } from '../support/figures.ts';
import { oneByOne, type Ask } from '../support/load.ts';
import { serviceEnv, withService } from '../support/service.ts';
import { onWire } from '../support/wire.ts';

// So many that one pause of the machine is not the p99.
const times = 400;
const warmUps = 50;
const perPage = 15;
// Newest first, as far as a page goes: PostgreSQL chooses whether it reads the words or the newest.
const statement = `SELECT id FROM messages WHERE account_id = 1 AND NOT private AND content ILIKE $1
  ORDER BY id DESC LIMIT ${perPage}`;

/** A word in a sixth of the messages, and one in a thousandth, beside the index scan for a page of ids alone. */
export const search: Bench = {
  name: 'search',
  needs: 'account',
  boundMs: 150_000,
  async run({ databaseUrl, rows }) {
    const name = 'the index scan alone';
    const figures: Figure[] = [];
    for (const [kind, word] of Object.entries({ frequent: frequentWord, rare: rareWord })) {
      const limit = await scanAlone(databaseUrl, word);
      const ours = await withService(serviceEnv(databaseUrl, { ROLE: 'web' }), async ({ url }) =>
        (await oneByOne(url, warmUps + times, asking(word))).slice(warmUps),
      );
      const cost = await onWire(databaseUrl, (wire) =>
        withService(serviceEnv(wire.url, { ROLE: 'web' }), ({ url }) =>
          wire.costOf(() => oneByOne(url, 1, asking(word)), 10),
        ),
      );
      const [p50, p99] = [median(ours), percentile(ours, 0.99)];
      const path = `search of a ${kind} word`;
      figures.push(
        { path: `${path}, p50`, rows, unit: 'ms', ours: p50, limit: { name, value: median(limit) }, cost },
        { path: `${path}, p99`, rows, unit: 'ms', ours: p99, limit: { name, value: percentile(limit, 0.99) } },
      );
    }
    return figures;
  },
};

function asking(word: string): () => Ask {
  return () => ({ method: 'GET', path: `conversations/search?q=${word}` });
}

/** How long the statement took each time, in milliseconds. */
function scanAlone(databaseUrl: string, word: string): Promise<number[]> {
  return withClient(databaseUrl, async (client) => {
    const took: number[] = [];
    for (let time = 0; time < warmUps + times; time++) {
      const begun = performance.now();
      await client.query(statement, [`%${word}%`]);
      took.push(performance.now() - begun);
    }
    return took.slice(warmUps);
  });
}

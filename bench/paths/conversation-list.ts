import type { Bench, Figure } from '../bench.ts';
import { createLeanTables, indexLeanList } from '../limits/lean.ts';
import { withClient } from '../support/database.ts';
import { median, percentile } from '../support/figures.ts';
import { oneByOne, type Ask } from '../support/load.ts';
import { serviceEnv, withService } from '../support/service.ts';
import { onWire } from '../support/wire.ts';

// So many that one pause of the machine is not the p99.
const times = 600;
const warmUps = 100;
const perPage = 25;
const deepPage = 400;
const statement = `SELECT id FROM lean.conversations WHERE account_id = $1
  ORDER BY last_activity_at DESC, id DESC LIMIT ${perPage} OFFSET $2`;

/** The list of an account, with its counts: the first page and a deep one, beside the statement of that page alone. */
export const conversationList: Bench = {
  name: 'conversation-list',
  needs: 'account',
  boundMs: 120_000,
  async run({ databaseUrl, rows }) {
    await createLeanTables(databaseUrl, rows);
    await withClient(databaseUrl, indexLeanList);
    const [first, deep] = [1, Math.min(deepPage, Math.ceil(rows / perPage))];
    const name = 'the page statement alone';
    const figures: Figure[] = [];
    for (const page of [first, deep]) {
      const limit = await statementAlone(databaseUrl, page);
      const ours = await withService(serviceEnv(databaseUrl, { ROLE: 'web' }), async ({ url }) =>
        (await oneByOne(url, warmUps + times, pageAt(page))).slice(warmUps),
      );
      const cost = await onWire(databaseUrl, (wire) =>
        withService(serviceEnv(wire.url, { ROLE: 'web' }), ({ url }) =>
          wire.costOf(() => oneByOne(url, 1, pageAt(page))),
        ),
      );
      const path = `list page ${page} with counts`;
      figures.push(
        { path: `${path}, p50`, rows, unit: 'ms', ours: median(ours), limit: { name, value: median(limit) }, cost },
        {
          path: `${path}, p99`,
          rows,
          unit: 'ms',
          ours: percentile(ours, 0.99),
          limit: { name, value: percentile(limit, 0.99) },
        },
      );
    }
    return figures;
  },
};

function pageAt(page: number): () => Ask {
  return () => ({ method: 'GET', path: `conversations?page=${page}` });
}

/** How long the prepared statement took each time, in milliseconds. */
function statementAlone(databaseUrl: string, page: number): Promise<number[]> {
  return withClient(databaseUrl, async (client) => {
    const took: number[] = [];
    for (let time = 0; time < warmUps + times; time++) {
      const begun = performance.now();
      await client.query({ name: 'page', text: statement, values: [1, (page - 1) * perPage] });
      took.push(performance.now() - begun);
    }
    return took.slice(warmUps);
  });
}

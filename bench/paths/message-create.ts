import type { Bench, Figure } from '../bench.ts';
import { createLeanTables } from '../limits/lean.ts';
import { oneByOne } from '../support/load.ts';
import { createConversations, messages } from '../support/records.ts';
import { serviceEnv, startProcess, withProcess, withService } from '../support/service.ts';
import { inTurns } from '../support/turns.ts';
import { onWire } from '../support/wire.ts';

// More than connections, so that what is measured is not one conversation's lock.
const conversations = 64;

/** A customer's message over HTTP. */
export const messageCreate: Bench = {
  name: 'message-create',
  needs: 'database',
  boundMs: 120_000,
  async run({ databaseUrl }) {
    const create = (url: string) => createConversations(url, conversations);
    const ids = await withService(serviceEnv(databaseUrl, { ROLE: 'web' }), ({ url }) => create(url));
    return compare(databaseUrl, { ids, leanIds: ids.map((_, index) => index + 1) });
  },
};

/** The same in an account that has grown. */
export const messageCreateGrown: Bench = {
  name: 'message-create-grown',
  needs: 'account',
  boundMs: 120_000,
  async run({ databaseUrl, rows }) {
    // Spread over the whole table, as customers are.
    const step = Math.max(1, Math.floor(rows / 5_000));
    const ids = Array.from({ length: Math.floor(rows / step) }, (_, index) => 1 + index * step);
    return (await compare(databaseUrl, { ids, leanIds: ids })).map((figure) => ({ ...figure, rows }));
  },
};

/** Which conversations to write to: the service's, and those of the lean tables. */
interface Ids {
  ids: number[];
  leanIds: number[];
}

async function compare(databaseUrl: string, { ids, leanIds }: Ids): Promise<Figure[]> {
  await createLeanTables(databaseUrl, Math.max(...leanIds));
  const { ours, other } = await withService(serviceEnv(databaseUrl, { ROLE: 'web' }), (service) =>
    withProcess(startProcess('bench/limits/bare-koa.ts', [], { DATABASE_URL: databaseUrl }), (bare) =>
      inTurns({ url: service.url, next: messages(ids) }, { url: bare.url, next: messages(leanIds) }),
    ),
  );
  const cost = await onWire(databaseUrl, async (wire) =>
    withService(serviceEnv(wire.url, { ROLE: 'web' }), ({ url }) => {
      const next = messages(ids);
      return wire.costOf(() => oneByOne(url, 1, next));
    }),
  );
  const name = 'bare Koa, one statement, lean tables';
  const path = 'message create, 16 connections';
  return [
    { path, unit: '/s', ours: ours.perSecond, limit: { name, value: other.perSecond }, cost },
    { path: `${path}, p99`, unit: 'ms', ours: ours.p99, limit: { name, value: other.p99 } },
  ];
}

// Every figure has a baseline in the same run: on a shared machine only the ratio is meaningful.
import { startEmbeddedPostgres } from '../src/postgres/embedded/start.ts';
import { benchBotReply } from './bot-reply.ts';
import { benchDeliveries } from './deliveries.ts';
import { benchMessageCreate } from './message-create.ts';
import { benchStart } from './start-time.ts';

const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };
const benches: Record<string, (databaseUrl: string) => Promise<void>> = {
  'message-create': benchMessageCreate,
  deliveries: benchDeliveries,
  'bot-reply': benchBotReply,
  start: benchStart,
};

const wanted = process.argv.slice(2);
const unknown = wanted.filter((name) => !(name in benches));
if (unknown.length > 0) throw new Error(`There is no bench ${unknown.join(', ')}: ${Object.keys(benches).join(', ')}`);
for (const [name, bench] of Object.entries(benches)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue;
  const postgres = await startEmbeddedPostgres({ ephemeral: true, log: silent });
  try {
    await bench(postgres.url);
  } finally {
    await postgres.stop();
  }
}

// npm run -s bench [-- NAME… --rows=10000,100000,1000000 --due=5000 --all --json --before=FILE --failures=FILE]
// Prints tables, and with --json the figures; --before adds what they were in a run whose JSON the file holds. A million
// rows take minutes to generate. --all is what docs/performance.md is made of: every path, every size, 100,000 snoozes, and
// the figures of 0.1.0 before. --failures writes the cases of `retrieval` that went wrong to a file, but for those held out.
import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { Bench, Figure, Setting } from './bench.ts';
import { articleSearch } from './paths/article-search.ts';
import { automations } from './paths/automations.ts';
import { botReply } from './paths/bot-reply.ts';
import { channelSends } from './paths/channel-sends.ts';
import { conversationCreate } from './paths/conversation-create.ts';
import { conversationList } from './paths/conversation-list.ts';
import { deliveries } from './paths/deliveries.ts';
import { eventStreams } from './paths/event-streams.ts';
import { hooks } from './paths/hooks.ts';
import { hostilePlugins } from './paths/hostile-plugins.ts';
import { idle } from './paths/idle.ts';
import { installedPlugins } from './paths/installed-plugins.ts';
import { messageCreate, messageCreateGrown } from './paths/message-create.ts';
import { pluginRun } from './paths/plugin-run.ts';
import { recovery } from './paths/recovery.ts';
import { retrieval } from './paths/retrieval.ts';
import { search } from './paths/search.ts';
import { snoozes } from './paths/snoozes.ts';
import { startTime } from './paths/start-time.ts';
import { waitingBots } from './paths/waiting-bots.ts';
import { generateAccount } from './support/account.ts';
import { withDatabase } from './support/database.ts';
import { tablesOf, unknownNames } from './support/figures.ts';
import { killAll } from './support/service.ts';

const benches: Bench[] = [
  messageCreate,
  conversationCreate,
  deliveries,
  channelSends,
  recovery,
  botReply,
  hooks,
  pluginRun,
  waitingBots,
  automations,
  hostilePlugins,
  installedPlugins,
  snoozes,
  startTime,
  idle,
  eventStreams,
  retrieval,
  articleSearch,
  conversationList,
  search,
  messageCreateGrown,
];
const names = benches.map(({ name }) => name).join(', ');
const { values: options, positionals: wanted } = readCommand();
if (options.help) {
  console.log('npm run -s bench [-- NAME… --rows=10000,100000 --due=5000 --all --json --before=FILE --failures=FILE]');
  console.log(`Measures each path beside its limit, or those named: ${names}.`);
  process.exit(0);
}
const unknown = unknownNames(wanted, benches);
if (unknown.length > 0) refuse(`There is no ${unknown.join(', ')}.`);
const chosen = wanted.length === 0 ? benches : benches.filter(({ name }) => wanted.includes(name));
const release = new URL('release-0.1.0.json', import.meta.url);
const beforeFile = options.before ?? (options.all ? release : null);
const before = beforeFile ? (JSON.parse(readFileSync(beforeFile, 'utf8')) as Figure[]) : null;
const figures: Figure[] = [];

const failuresFile = options.failures;
const due = Number(options.due ?? (options.all ? 100_000 : 5_000));
const sizes = (options.rows ?? (options.all ? '10000,100000,1000000' : '10000')).split(',').map(Number);
for (const bench of chosen) {
  if (bench.needs === 'nothing') await measure(bench, { databaseUrl: '', rows: 0, due, failuresFile });
  if (bench.needs === 'database')
    await withDatabase((databaseUrl) => measure(bench, { databaseUrl, rows: 0, due, failuresFile }));
}
const grown = chosen.filter(({ needs }) => needs === 'account');
for (const rows of grown.length === 0 ? [] : sizes) {
  await withDatabase(async (databaseUrl) => {
    await generateAccount(databaseUrl, rows);
    for (const bench of grown) await measure(bench, { databaseUrl, rows, due, failuresFile });
  });
}
console.log(options.json ? JSON.stringify(figures, null, 2) : tablesOf(figures, before));
// Ends work that a bench left behind when it exceeded its time.
process.exit();

function readCommand() {
  try {
    return parseArgs({
      allowPositionals: true,
      options: {
        rows: { type: 'string' },
        due: { type: 'string' },
        all: { type: 'boolean', default: false },
        json: { type: 'boolean', default: false },
        help: { type: 'boolean', default: false },
        before: { type: 'string' },
        failures: { type: 'string' },
      },
    });
  } catch (error) {
    return refuse((error as Error).message);
  }
}

function refuse(reason: string): never {
  console.error(`${reason.replace(/\.?$/, '.')} There are ${names}.`);
  process.exit(1);
}

/** Adds the bench's figures. If it fails or takes too long, prints why and goes on with the others. */
async function measure(bench: Bench, setting: Setting): Promise<void> {
  console.error(`${bench.name}${setting.rows ? `, ${setting.rows} rows` : ''} …`);
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(() => late.reject(new Error(`not done after ${bench.boundMs} ms`)), bench.boundMs);
  try {
    figures.push(...(await Promise.race([bench.run(setting), late.promise])));
  } catch (error) {
    console.error(`${bench.name} failed:`, error);
    process.exitCode = 1;
    killAll();
  } finally {
    clearTimeout(timer);
  }
}

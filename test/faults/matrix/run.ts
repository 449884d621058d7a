import { migrate } from '../../../src/postgres/migrate.ts';
import { startEmbeddedPostgres, type EmbeddedPostgres } from '../../../src/postgres/embedded/start.ts';
import { createDatabase, dropDatabase } from '../../support/postgres.ts';
import { killServices } from '../../support/service.ts';
import { rowsOf, seededRandom } from '../helpers.ts';
import type { DatabaseFault, Fault } from './fault.ts';
import { findingsOf } from './findings.ts';
import { Trial, type Row, type Scale } from './trial.ts';

/** What became of a fault. */
export interface Outcome {
  id: string;
  what: string;
  row: Row;
}

export interface RunOptions {
  isFull: boolean;
  seed: number;
  /** How many faults at a time. */
  atOnce: number;
  /** Told of each beginning and end. */
  tell: (line: string) => void;
}

const tellMs = 15_000;
const silent = { debug: () => undefined, info: () => undefined, warn: () => undefined, error: () => undefined };

/** Does every fault to services of its own; the outcomes are in the order of the faults. One that cannot be done is not clean. */
export async function runFaults(faults: readonly (Fault | DatabaseFault)[], options: RunOptions): Promise<Outcome[]> {
  const outcomes = new Map<string, Outcome>();
  const waiting = [...faults];
  const work = async (): Promise<void> => {
    for (let fault = waiting.shift(); fault; fault = waiting.shift()) {
      options.tell(`${fault.id} …`);
      const row = await runOne(fault, options);
      outcomes.set(fault.id, { id: fault.id, what: fault.what, row });
      options.tell(`${fault.id} ${row.isClean ? 'is clean' : 'FAILS'} after ${row.seconds} s, ${row.events} events`);
      for (const finding of findingsOf({ id: fault.id, row })) options.tell(finding);
    }
  };
  try {
    await Promise.all(Array.from({ length: options.atOnce }, work));
  } finally {
    await killServices();
  }
  return faults.flatMap(({ id }) => outcomes.get(id) ?? []);
}

async function runOne(fault: Fault | DatabaseFault, options: RunOptions): Promise<Row> {
  const { isFull, seed } = options;
  const random = seededRandom(seed + Number.parseInt(fault.id.slice(1), 10) || seed);
  const pick = (short: number, full: number): number => (isFull ? full : short);
  const kills = (short: number): number => Number(process.env['FAULT_KILLS'] ?? pick(short, 50));
  const scale: Scale = { isFull, random, pick, kills };
  if ('run' in fault) {
    const databaseUrl = await createDatabase(migrate);
    const row = await inTrial(fault, { databaseUrl, scale, tell: options.tell }, fault.run);
    await dropDatabase(databaseUrl);
    return row;
  }
  const server = await startEmbeddedPostgres({ ephemeral: true, log: silent });
  try {
    // One that need not survive a crash confirms commits before it has written them; a service's own does not.
    await rowsOf(server.url, `ALTER DATABASE "${new URL(server.url).pathname.slice(1)}" SET synchronous_commit = on`);
    return await inTrial(fault, { databaseUrl: server.url, scale, tell: options.tell }, (trial) =>
      onServer(fault, trial, server),
    );
  } finally {
    await server.stop();
  }
}

function onServer(fault: DatabaseFault, trial: Trial, server: EmbeddedPostgres): Promise<void> {
  return fault.runOn(trial, server);
}

interface Setting extends Pick<RunOptions, 'tell'> {
  databaseUrl: string;
  scale: Scale;
}

async function inTrial(
  { id, env = {}, engines = 1 }: Pick<Fault, 'id' | 'env' | 'engines'>,
  { tell, ...setting }: Setting,
  run: (trial: Trial) => Promise<void>,
): Promise<Row> {
  const trial = new Trial({ ...setting, env: { ...shortLeases, ...env }, engines });
  const telling = setInterval(() => tell(`${id}: ${trial.progress}`), tellMs);
  try {
    await run(trial).catch((error: Error) =>
      trial.check(false, `it could not be done: ${error.stack ?? error.message}`),
    );
    return await trial.conclude();
  } finally {
    clearInterval(telling);
    await trial.close();
  }
}

/** A lease is to end soon, and longer than the timeout as it ships. */
const shortLeases = { LEASE_SECONDS: '12' };

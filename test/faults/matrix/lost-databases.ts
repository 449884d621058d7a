import type { EmbeddedPostgres } from '../../../src/postgres/embedded/start.ts';
import { rowsOf } from '../helpers.ts';
import type { DatabaseFault, Fault } from './fault.ts';
import { ok } from './manners.ts';
import { until } from './patience.ts';
import type { Producer } from './producer.ts';
import { residentMb } from './services.ts';
import type { Trial } from './trial.ts';

const writers = 6;
/** What an outage may cost: requests that wait, and what they allocate until the collector runs. */
const outageMb = 150;

/** Waits until a message that was begun after this moment is acknowledged. */
async function answersAgain(producer: Producer): Promise<void> {
  const before = producer.writes.length;
  await until('a message is taken again', () =>
    producer.writes.slice(before).some(({ outcome }) => outcome === 'acknowledged'),
  );
}

const restarts = {
  'a fast restart': (server: EmbeddedPostgres) => server.restart('fast', 300),
  'an immediate restart': (server: EmbeddedPostgres) => server.restart('immediate', 300),
  'kill -9 of the postmaster': async (server: EmbeddedPostgres) => {
    const pid = server.pid();
    process.kill(pid, 'SIGKILL');
    await until('PostgreSQL is started again', () => server.pid() !== pid);
  },
} as const;

async function begin(trial: Trial): Promise<Producer> {
  await trial.services.startWeb();
  await trial.services.startEngine();
  await trial.receiver('receiver', () => ok);
  return trial.producer(writers);
}

const restarted: DatabaseFault = {
  id: 'F4',
  what: 'PostgreSQL: fast restart, immediate restart and kill -9 of the postmaster under load',
  runOn: async (trial, server) => {
    const producer = await begin(trial);
    const endWriting = producer.keepWriting();
    for (let round = 0; round < trial.scale.pick(1, 4); round += 1) {
      for (const [what, restart] of Object.entries(restarts)) {
        await trial.services.disturb(what, async () => {
          await restart(server);
          await answersAgain(producer);
        });
        const wanted = producer.writes.length + trial.scale.pick(20, 500);
        await until('so many messages', () => producer.writes.length >= wanted);
      }
    }
    await endWriting();
  },
};

const stopped: DatabaseFault = {
  id: 'F5',
  what: 'PostgreSQL stopped for a while (2 s; 60 s in the full profile) under load',
  runOn: async (trial, server) => {
    const producer = await begin(trial);
    await producer.write(trial.scale.pick(60, 1_000));
    const processes = [...trial.services.engines, ...(trial.services.web ? [trial.services.web] : [])];
    const before = await Promise.all(processes.map(residentMb));
    const endWriting = producer.keepWriting();
    await trial.services.disturb('PostgreSQL stopped', async () => {
      await server.restart('fast', trial.scale.pick(2_000, 60_000));
      await answersAgain(producer);
    });
    const after = await Promise.all(processes.map(residentMb));
    await endWriting();
    await producer.write(trial.scale.pick(60, 1_000));
    for (const [index, mb] of after.entries()) {
      const grown = (mb ?? 0) - (before[index] ?? 0);
      trial.check(grown < outageMb, `a process grew by ${Math.round(grown)} MB during the outage`);
    }
  },
};

/** What is said to the database when nothing can be written, and when it can again. */
const refusals: Readonly<Record<string, { begin: string; end: string; cut?: boolean }>> = {
  'read-only': {
    begin: 'ALTER DATABASE "$name" SET default_transaction_read_only = on',
    end: 'ALTER DATABASE "$name" RESET default_transaction_read_only',
    cut: true,
  },
  'disk full': {
    begin: `CREATE OR REPLACE FUNCTION refuse_for_lack_of_space() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; END $$;
      CREATE TRIGGER no_space BEFORE INSERT ON messages FOR EACH ROW EXECUTE FUNCTION refuse_for_lack_of_space()`,
    end: 'DROP TRIGGER no_space ON messages',
  },
};

const unwritable: Fault = {
  id: 'F18',
  what: 'PostgreSQL writes nothing: read-only, and without space (53100)',
  run: async (trial) => {
    const producer = await begin(trial);
    await producer.write(trial.scale.pick(30, 500));
    const name = new URL(trial.databaseUrl).pathname.slice(1);
    // Whoever says so must be able to write.
    const writable = Object.assign(new URL(trial.databaseUrl), {
      search: '?options=-c%20default_transaction_read_only%3Doff',
    });
    const say = (statement: string) => rowsOf(writable.href, statement.replace('$name', name));
    // What is read-only takes effect for new connections.
    const cut = () =>
      rowsOf(
        trial.databaseUrl,
        'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1 AND pid <> pg_backend_pid()',
        [name],
      );
    for (const [what, refusal] of Object.entries(refusals)) {
      await trial.services.disturb(what, async () => {
        await say(refusal.begin);
        if (refusal.cut) await cut();
        const before = producer.writes.length;
        await producer.write(writers * 2);
        const taken = producer.writes.slice(before).filter(({ outcome }) => outcome === 'acknowledged');
        trial.check(refusal.cut || taken.length === 0, `${what}: ${taken.length} messages were acknowledged`);
        await say(refusal.end);
        if (refusal.cut) await cut();
        const again = producer.write(writers * 2);
        await answersAgain(producer);
        await again;
      });
    }
    await producer.write(trial.scale.pick(30, 500));
  },
};

export const lostDatabases: readonly (Fault | DatabaseFault)[] = [restarted, stopped, unwritable];

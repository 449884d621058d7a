import { setTimeout as wait } from 'node:timers/promises';
import { PostgresBackend } from '@agendajs/postgres-backend';
import { Agenda, type Job } from 'agenda';
import { Pool } from 'pg';
import type { Clock } from '../lib/ports.ts';

/** A function that the clock calls. It looks for due rows in the database, so that an additional call does no harm. */
export interface Alarm {
  name: string;
  /** Null for an alarm that rings at set moments only. */
  everyMs: number | null;
  ring: () => Promise<unknown>;
}

export interface AlarmClockOptions {
  databaseUrl: string;
  clock: Clock;
  alarms: readonly Alarm[];
  /** Called with the clock's own errors, for example while the database restarts. */
  failed: (error: unknown) => void;
}

// Agenda sets timers for what is due until its next look, so that looks may be rare: only alarms that are set for a moment
// before the next one ring late.
const lookMs = 2_000;
const connectRetryMs = 500;
// After this time, the alarm of a killed process rings again; an alarm that takes longer may ring twice at once.
const lockMs = 10_000;
const poolMax = 4;
// The number of single alarms that this process remembers; times beyond it are left to the recurring alarm.
const maxMoments = 10_000;

/**
 * Calls alarms at set times, with Agenda. Alarms find due work in the service's tables, not in Agenda's rows, so that
 * losing these loses nothing: recurring alarms are restored, and do the work of lost single ones.
 */
export class AlarmClock {
  readonly #options: AlarmClockOptions;
  readonly #pool: Pool;
  readonly #agenda: Agenda;
  readonly #moments = new Set<string>();
  readonly #stopping = new AbortController();
  #isStarted = false;
  #restoring: Promise<void> | null = null;

  constructor(options: AlarmClockOptions) {
    this.#options = options;
    this.#pool = new Pool({
      connectionString: options.databaseUrl,
      max: poolMax,
      application_name: 'switchboard-alarms',
    });
    // Without listeners for `error`, a restart of the database would end the process.
    this.#pool.on('error', options.failed);
    this.#agenda = new Agenda({
      backend: new PatientBackend(this.#pool, this.#stopping.signal, (present) => this.#restore(present)),
      processEvery: lookMs,
      defaultConcurrency: 1,
      defaultLockLimit: 1,
      defaultLockLifetime: lockMs,
    });
    this.#agenda.on('error', options.failed);
    this.#agenda.on('fail', options.failed);
    for (const { name, ring } of options.alarms) {
      const look = (_job: Job, done: (error?: Error) => void): void => void call(ring, done);
      this.#agenda.define(name, look);
      this.#agenda.define(onceName(name), look, { removeOnComplete: true });
    }
  }

  /** Starts ringing; the database must be reachable and migrated. */
  async start(): Promise<void> {
    await this.#agenda.start();
    const names = this.#options.alarms.flatMap(({ name, everyMs }) => (everyMs === null ? [] : name));
    await this.#pool.query(`DELETE FROM agenda_jobs WHERE type = 'single' AND name <> ALL ($1)`, [names]);
    const { rows } = await this.#pool.query<{ name: string }>(`SELECT name FROM agenda_jobs WHERE type = 'single'`);
    await this.#setRecurring(new Set(rows.map(({ name }) => name)));
    this.#isStarted = true;
  }

  /** Rings the named alarm an additional time at `moment`, in this process or another. */
  async ringAt(name: string, moment: Date): Promise<void> {
    const key = `${name} ${moment.getTime()}`;
    if (this.#moments.has(key) || this.#moments.size >= maxMoments) return;
    this.#moments.add(key);
    try {
      await this.#agenda.schedule(moment, onceName(name), undefined);
    } finally {
      const left = Math.min(Math.max(0, moment.getTime() - this.#options.clock.now().getTime()), 2 ** 31 - 1);
      setTimeout(() => this.#moments.delete(key), left).unref();
    }
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#restoring;
    // If unlocking fails, the locks of Agenda expire after lockMs.
    await this.#agenda.stop(false).catch(this.#options.failed);
    await this.#pool.end();
  }

  // Sets recurring alarms whose rows are lost.
  #restore(present: ReadonlySet<string>): void {
    if (!this.#isStarted || this.#stopping.signal.aborted) return;
    this.#restoring ??= this.#setRecurring(present)
      .catch(this.#options.failed)
      .finally(() => {
        this.#restoring = null;
      });
  }

  async #setRecurring(present: ReadonlySet<string>): Promise<void> {
    for (const { name, everyMs } of this.#options.alarms) {
      if (everyMs !== null && !present.has(name)) await this.#agenda.every(everyMs, name);
    }
  }
}

// Agenda connects in its constructor without handling errors; an unhandled rejection would end the process. It tries to lock
// a row of each name at each look; here one statement for all names says whether that is worth it, and which recurring alarms
// there are.
class PatientBackend extends PostgresBackend {
  readonly #pool: Pool;
  readonly #given: AbortSignal;
  readonly #recurring: (present: ReadonlySet<string>) => void;
  #look: Promise<Set<string>> | null = null;

  constructor(pool: Pool, given: AbortSignal, recurring: (present: ReadonlySet<string>) => void) {
    super({ pool, ensureSchema: false, disableNotifications: true });
    this.#pool = pool;
    this.#given = given;
    this.#recurring = recurring;
    const { repository } = this;
    const lockNext = repository.getNextJobToRun.bind(repository);
    repository.getNextJobToRun = async (...wanted) => {
      const [name, nextScanAt, lockDeadline] = wanted;
      this.#look ??= this.#findDue(nextScanAt, lockDeadline);
      return (await this.#look).has(name) ? lockNext(...wanted) : undefined;
    };
  }

  // Serves the names that are asked for until it is answered.
  async #findDue(nextScanAt: Date, lockDeadline: Date): Promise<Set<string>> {
    try {
      const { rows } = await this.#pool.query<{ name: string; is_recurring: boolean; is_due: boolean }>(
        `SELECT DISTINCT name, type = 'single' AS is_recurring, due.yes AS is_due
         FROM agenda_jobs CROSS JOIN LATERAL (
           SELECT NOT disabled AND (locked_at IS NULL AND next_run_at <= $1 OR locked_at <= $2)) due (yes)
         WHERE type = 'single' OR due.yes`,
        [nextScanAt, lockDeadline],
      );
      this.#recurring(new Set(rows.filter((row) => row.is_recurring).map(({ name }) => name)));
      return new Set(rows.filter((row) => row.is_due).map(({ name }) => name));
    } finally {
      this.#look = null;
    }
  }

  override async connect(): Promise<void> {
    while (!this.#given.aborted) {
      try {
        return await super.connect();
      } catch {
        await wait(connectRetryMs);
      }
    }
  }
}

async function call(ring: Alarm['ring'], done: (error?: Error) => void): Promise<void> {
  try {
    await ring();
    done();
  } catch (error) {
    done(error instanceof Error ? error : new Error(String(error)));
  }
}

function onceName(name: string): string {
  return `${name}-once`;
}

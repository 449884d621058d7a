import { Pool } from 'pg';
import type { AgendaClock } from './agenda.ts';
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

const poolMax = 2;
// The number of single alarms that this process remembers; times beyond it are left to the recurring alarm.
const maxMoments = 10_000;

/**
 * Calls alarms at set times, with Agenda. Alarms find due work in the service's tables, not in Agenda's rows, so that
 * losing these loses nothing: recurring alarms are restored, and do the work of lost single ones.
 */
export class AlarmClock {
  readonly #options: AlarmClockOptions;
  readonly #pool: Pool;
  readonly #moments = new Set<string>();
  readonly #stopping = new AbortController();
  #agenda: Promise<AgendaClock> | null = null;
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
  }

  /** Starts ringing; the database must be reachable and migrated. */
  async start(): Promise<void> {
    const agenda = await this.#loaded();
    await agenda.start();
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
      const agenda = await this.#loaded();
      await agenda.once(moment, name);
    } finally {
      const left = Math.min(Math.max(0, moment.getTime() - this.#options.clock.now().getTime()), 2 ** 31 - 1);
      setTimeout(() => this.#moments.delete(key), left).unref();
    }
  }

  async stop(): Promise<void> {
    this.#stopping.abort();
    await this.#restoring;
    // If unlocking fails, the locks of Agenda expire after lockMs.
    await (await this.#agenda)?.stop().catch(this.#options.failed);
    await this.#pool.end();
  }

  // The library is loaded when it is needed: a start does not wait for it.
  #loaded(): Promise<AgendaClock> {
    return (this.#agenda ??= import('./agenda.ts').then(({ createAgenda }) =>
      createAgenda(this.#options, {
        pool: this.#pool,
        given: this.#stopping.signal,
        recurring: (present) => this.#restore(present),
      }),
    ));
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
    const agenda = await this.#loaded();
    for (const { name, everyMs } of this.#options.alarms) {
      if (everyMs !== null && !present.has(name)) await agenda.every(everyMs, name);
    }
  }
}

import { setTimeout as wait } from 'node:timers/promises';
import { PostgresBackend } from '@agendajs/postgres-backend';
import { Agenda, type Job } from 'agenda';
import type { Pool } from 'pg';
import type { Alarm, AlarmClockOptions } from './alarm-clock.ts';

// Agenda sets timers for what is due until its next look, so that looks may be rare: only alarms that are set for a moment
// before the next one ring late.
const lookMs = 2_000;
const connectRetryMs = 500;
// After this time, the alarm of a killed process rings again; an alarm that takes longer may ring twice at once.
const lockMs = 10_000;

/** Rings alarms, repeatedly or once. */
export interface AgendaClock {
  start(): Promise<void>;
  stop(): Promise<void>;
  every(everyMs: number, name: string): Promise<unknown>;
  once(moment: Date, name: string): Promise<unknown>;
}

/**
 * Agenda with the alarms defined; it connects by itself, until `given` aborts. `recurring` is called with the names of recurring
 * alarms whenever they were read.
 */
export function createAgenda(
  { alarms, failed }: Pick<AlarmClockOptions, 'alarms' | 'failed'>,
  { pool, given, recurring }: { pool: Pool; given: AbortSignal; recurring: (present: ReadonlySet<string>) => void },
): AgendaClock {
  const agenda = new Agenda({
    backend: new PatientBackend(pool, given, recurring),
    processEvery: lookMs,
    defaultConcurrency: 1,
    defaultLockLimit: 1,
    defaultLockLifetime: lockMs,
  });
  // Agenda looks at a job that has just ended as long as it is being saved, and reports that its lock is gone.
  agenda.on('error', (error: Error) => error.message.includes('no lockedAt date found') || failed(error));
  agenda.on('fail', failed);
  for (const { name, ring } of alarms) {
    const look = (_job: Job, done: (error?: Error) => void): void => void call(ring, done);
    agenda.define(name, look);
    agenda.define(onceName(name), look, { removeOnComplete: true });
  }
  return {
    start: () => agenda.start(),
    stop: () => agenda.stop(false),
    every: (everyMs, name) => agenda.every(everyMs, name),
    once: (moment, name) => agenda.schedule(moment, onceName(name), undefined),
  };
}

function onceName(name: string): string {
  return `${name}-once`;
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

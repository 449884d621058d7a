import { setTimeout as sleep } from 'node:timers/promises';
import type { Fault } from './fault.ts';
import { ok, status } from './manners.ts';
import { until } from './patience.ts';

/** How far a timestamp may be off for the libraries that verify signatures. */
const toleranceSeconds = 300;
const day = 86_400;
const jumps = [600, -600, day, -day, 0];
/** Longer than a process takes to look at its clock file. */
const lookMs = 100;

const jumpingClocks: Fault = {
  id: 'F14',
  what: 'clocks of engine and web jump by 10 min and a day, forwards and backwards, under load',
  run: async (trial) => {
    const { services, scale } = trial;
    await services.startWeb({ env: services.steered({ clock: 'web' }) });
    await services.startEngine({ env: services.steered({ clock: 'engine' }) });
    let refused = 0;
    // A receiver that takes the timestamp as seriously as the libraries do.
    await trial.receiver('strict', ({ headers }) => {
      const isFresh = Math.abs(Number(headers['webhook-timestamp']) - Date.now() / 1000) <= toleranceSeconds;
      if (!isFresh) refused += 1;
      return isFresh ? ok : status(400);
    });
    const producer = await trial.producer(6);
    for (const seconds of scale.pick(jumps.length, 3 * jumps.length) > jumps.length
      ? [...jumps, ...jumps, ...jumps]
      : jumps) {
      services.moveClock('engine', seconds);
      services.moveClock('web', -seconds);
      await sleep(lookMs);
      await producer.write(scale.pick(12, 100));
      await until('everything has arrived', async () => (await trial.pending()) === 0);
    }
    trial.check(refused === 0, `${refused} deliveries were refused for their timestamp`);
  },
};

interface Woken {
  conversation_id: number;
  times: number;
}

const lostAlarms: Fault = {
  id: 'F15',
  what: "Agenda's table emptied, and every row of it doubled, while snoozes and retries wait",
  run: async (trial) => {
    const { services, scale, client } = trial;
    await services.startWeb();
    await services.startEngine();
    const failing = await trial.receiver('fails-once', (_, count) => (count === 1 ? status(500) : ok), {
      subscriptions: ['message_created', 'conversation_status_changed'],
    });
    const producer = await trial.producer(scale.pick(12, 60));
    await producer.write(scale.pick(24, 240));
    for (const id of producer.conversations) {
      const body = { status: 'snoozed', snoozed_until: Math.ceil(Date.now() / 1000) + 2 };
      await client.need('POST', `conversations/${id}/toggle_status`, body);
    }
    await trial.rows(`INSERT INTO agenda_jobs (name, type, next_run_at, data)
      SELECT name, 'normal', next_run_at, data FROM agenda_jobs`);
    await trial.rows('TRUNCATE agenda_jobs');
    const woken = () =>
      trial.rows<Woken>(
        `SELECT e.conversation_id, count(*)::int AS times FROM events e
         WHERE e.name = 'conversation_status_changed' AND e.account_payload ->> 'status' = 'open' GROUP BY 1`,
      );
    await until('every snooze ends', async () => (await woken()).length === producer.conversations.length);
    await trial.settle();
    const twice = (await woken()).filter(({ times }) => times !== 1);
    trial.check(twice.length === 0, `${twice.length} conversations were woken more than once`);
    trial.check(failing.receiver.arrivals.length > producer.writes.length, 'nothing was tried again');
  },
};

export const clocks: readonly Fault[] = [jumpingClocks, lostAlarms];

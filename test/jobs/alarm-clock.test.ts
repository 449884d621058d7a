import { mock } from 'node:test';
import { Agenda } from 'agenda';
import { expect } from 'chai';
import { Client } from 'pg';
import { AlarmClock } from '../../src/jobs/alarm-clock.ts';
import { systemClock } from '../../src/lib/ports.ts';
import { TestApp } from '../support/app.ts';

const lateMs = 60_000;

async function recurring(app: TestApp): Promise<string[]> {
  const rows = await app.query<{ name: string }>(`SELECT name FROM agenda_jobs WHERE type = 'single' ORDER BY name`);
  return rows.map(({ name }) => name);
}

/** Opens conversations and snoozes each until a second of its own from `inSeconds` on; answers their ids by that moment. */
async function snoozeSome(app: TestApp, inSeconds: readonly number[]): Promise<Map<number, number>> {
  const [inbox] = (await app.get('inboxes')).body.payload;
  const contact = await app.post('contacts', { name: 'Customer' });
  const now = Math.ceil(Date.now() / 1000);
  const ids = new Map<number, number>();
  for (const seconds of inSeconds) {
    const { body } = await app.post('conversations', { inbox_id: inbox.id, contact_id: contact.body.id });
    const snooze = { status: 'snoozed', snoozed_until: now + seconds };
    expect((await app.post(`conversations/${body.id}/toggle_status`, snooze)).status).to.equal(200);
    ids.set(body.id, now + seconds);
  }
  return ids;
}

/** Waits until all are open and asserts that each woke in time, once. */
async function expectWoken(app: TestApp, snoozes: ReadonlyMap<number, number>): Promise<void> {
  for (const [id, until] of snoozes) {
    const patience = Math.max(0, until * 1000 + lateMs - Date.now());
    await app.eventually(async () => (await app.get(`conversations/${id}`)).body.status === 'open', patience);
    const woken = await app.query<{ at: number }>(
      `SELECT extract(epoch FROM created_at)::float AS at FROM events
       WHERE conversation_id = $1 AND name = 'conversation_status_changed' AND account_payload->>'status' = 'open'`,
      [id],
    );
    expect(woken).to.have.lengthOf(1);
    expect(woken[0]!.at).to.be.within(until, until + lateMs / 1000);
  }
}

describe('the alarm clock', function () {
  this.timeout(60_000);
  let app: TestApp;
  let crashed: TestApp;
  let lateSnoozes: Map<number, number>;

  before(async () => {
    [app, crashed] = await Promise.all([TestApp.start(), TestApp.start()]);
    lateSnoozes = await snoozeSome(crashed, [2]);
    // An alarm of its own would wake it; only the recurring look is left, as a process leaves it that is killed while
    // it rings.
    await crashed.query(`DELETE FROM agenda_jobs WHERE type <> 'single'`);
    await crashed.query('UPDATE agenda_jobs SET locked_at = now(), last_run_at = now(), next_run_at = now()');
  });

  after(() => Promise.all([app.stop(), crashed.stop()]));

  it('carries no truth: with all its rows gone, snoozes end in time and the recurring alarms are back', async () => {
    const names = await recurring(app);
    expect(names).to.include.members(['delete-old-rows', 'do-what-is-due']);
    const snoozes = await snoozeSome(app, [2, 3]);
    await app.query('TRUNCATE agenda_jobs');
    const truncatedAt = Date.now();
    await expectWoken(app, snoozes);
    await app.eventually(async () => (await recurring(app)).length === names.length, lateMs);
    expect(await recurring(app)).to.deep.equal(names);
    expect(Date.now() - truncatedAt).to.be.below(lateMs);
  });

  it('is not held up by what a killed process had locked', () => expectWoken(crashed, lateSnoozes));

  it('is neither put off nor brought forward by another process or a restart', async () => {
    const due = `UPDATE agenda_jobs SET next_run_at = now() + interval '20 minutes' WHERE name = 'delete-old-rows'`;
    await app.query(due);
    const other = await TestApp.start({ databaseUrl: app.databaseUrl });
    const [alarm] = await app.query(
      `SELECT next_run_at BETWEEN now() + interval '19 minutes' AND now() + interval '21 minutes' AS kept
       FROM agenda_jobs WHERE name = 'delete-old-rows'`,
    );
    await other.app.stop();
    expect(alarm).to.deep.equal({ kept: true });
  });

  it('reports no error when the library looks at an alarm that has just ended, and rings it again', async () => {
    const reported: unknown[] = [];
    const { promise: held, resolve: end } = Promise.withResolvers<void>();
    let rings = 0;
    const clock = new AlarmClock({
      databaseUrl: app.databaseUrl,
      clock: systemClock,
      alarms: [{ name: 'ended', everyMs: 1_000, ring: () => ((rings += 1), held) }],
      failed: (error) => reported.push(error),
    });
    const emit = mock.method(Agenda.prototype, 'emit');
    const beside = new Client({ connectionString: app.databaseUrl });
    await beside.connect();
    try {
      await clock.start();
      await app.eventually(async () => rings > 0);
      // The alarm ends, but its row cannot be written until the library has looked at it.
      await beside.query('BEGIN');
      await beside.query(`SELECT FROM agenda_jobs WHERE name = 'ended' FOR UPDATE`);
      end();
      await app.eventually(async () =>
        emit.mock.calls.some(({ arguments: [, error] }) => String(error).includes('no lockedAt')),
      );
      await beside.query('COMMIT');
      await app.eventually(async () => rings > 1);
      expect(reported).to.deep.equal([]);
    } finally {
      emit.mock.restore();
      await beside.end();
      await clock.stop();
    }
  });

  it('tells of an alarm that fails', async () => {
    const told: unknown[] = [];
    const clock = new AlarmClock({
      databaseUrl: app.databaseUrl,
      clock: systemClock,
      alarms: [{ name: 'broken', everyMs: 1_000, ring: () => Promise.reject(new Error('The alarm is broken')) }],
      failed: (error) => told.push(error),
    });
    await clock.start();
    await app.eventually(async () => told.some((error) => String(error).includes('The alarm is broken')));
    await clock.stop();
  });
});

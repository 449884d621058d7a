import { expect } from 'chai';
import { pino } from 'pino';
import { openGate } from '../../src/lib/outbound-gate.ts';
import { alarmsOf } from '../../src/app/alarms.ts';
import { deleteOldIdempotencyKeys } from '../../src/domain/upkeep/idempotency-keys.ts';
import { deleteOldEvents, deleteOldRuns } from '../../src/domain/upkeep/retention.ts';
import { checkSla } from '../../src/domain/conversations/deadlines/breaches.ts';
import { wakeDueSnoozes } from '../../src/domain/conversations/deadlines/snoozes.ts';
import { sweep } from '../../src/domain/upkeep/sweep.ts';
import { TestApp } from '../support/app.ts';
import { hold } from '../support/lock.ts';
import { StatementLog } from '../support/statement-log.ts';

const start = Date.parse('2030-01-07T12:00:00Z');
const minute = 60_000;
const hour = 60 * minute;

describe('a sweep', () => {
  let app: TestApp;
  let now = start;
  let inboxId: number;
  let statements: StatementLog;
  const lines: { err?: { message: string }; msg: string }[] = [];

  before(async () => {
    const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
    statements = new StatementLog();
    app = await TestApp.start({ engine: false, log, clock: { now: () => new Date(now) } });
    inboxId = (await app.post('inboxes', { name: 'Swept' })).body.id;
  });

  beforeEach(() => (lines.length = 0));

  after(async () => {
    await app.stop();
    statements.close();
  });

  const told = () => lines.map(({ err }) => err?.message);

  async function conversation(): Promise<number> {
    const { body } = await app.post('contacts', { name: 'Customer' });
    return (await app.post('conversations', { inbox_id: inboxId, contact_id: body.id })).body.id;
  }

  /** Lets the database refuse a change of rows that meet a condition on `OLD`; answers what ends that. */
  async function refuse(change: 'UPDATE' | 'DELETE', table: string, condition: string): Promise<() => Promise<void>> {
    await app.query(`CREATE FUNCTION refuse_${table}() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN RAISE EXCEPTION 'poison'; END $$`);
    await app.query(`CREATE TRIGGER refuse_${table} BEFORE ${change} ON ${table} FOR EACH ROW WHEN (${condition})
      EXECUTE FUNCTION refuse_${table}()`);
    return async () => void (await app.query(`DROP FUNCTION refuse_${table} CASCADE`));
  }

  async function snooze(minutes: number): Promise<number> {
    const id = await conversation();
    const until = Math.floor((now + minutes * minute) / 1000);
    const { status } = await app.post(`conversations/${id}/toggle_status`, { status: 'snoozed', snoozed_until: until });
    expect(status).to.equal(200);
    return id;
  }

  const statusOf = async (id: number) => (await app.get(`conversations/${id}`)).body.status as string;

  it('wakes all other conversations when one cannot be woken, says so once, and tries that one ever more seldom', async () => {
    const ids = [await snooze(1), await snooze(1), await snooze(2)];
    const [poison, other, later] = ids as [number, number, number];
    const allow = await refuse('UPDATE', 'conversations', `OLD.id = ${poison}`);
    now += 3 * minute;
    expect(await wakeDueSnoozes(app.app.database)).to.equal(2);
    expect([await statusOf(poison), await statusOf(other), await statusOf(later)]).to.deep.equal([
      'snoozed',
      'open',
      'open',
    ]);
    const message = (done: number) =>
      `waking snoozed conversations: conversation ${poison} of account 1 could not be done (1 in all); ${done} done: poison`;
    expect(told()).to.deep.equal([message(2)]);

    // At once it is not tried again, and nobody is told again.
    expect(await wakeDueSnoozes(app.app.database)).to.equal(0);
    expect(told()).to.have.lengthOf(1);
    now += 10_000;
    expect(await wakeDueSnoozes(app.app.database)).to.equal(0);
    expect(told()).to.deep.equal([message(2), message(0)]);
    now += 10_000;
    expect(await wakeDueSnoozes(app.app.database)).to.equal(0);
    expect(told()).to.have.lengthOf(2);

    await allow();
    now += 10_000;
    expect(await wakeDueSnoozes(app.app.database)).to.equal(1);
    expect(await statusOf(poison)).to.equal('open');
    expect(told()).to.have.lengthOf(2);
  });

  it('wakes once at a time, whichever alarms ring for it, and once more for those that rang meanwhile', async () => {
    const id = await snooze(1);
    now += 2 * minute;
    const days = { retentionDays: 30, runRetentionDays: 30, reportRetentionDays: 30 };
    const alarms = alarmsOf(app.app.database, {
      ...days,
      gate: openGate,
      retry: () => undefined,
      embed: () => undefined,
      checkChannels: () => undefined,
    });
    const names = ['wake-snoozed', 'do-what-is-due', 'wake-snoozed', 'do-what-is-due'];
    const ring = () => Promise.all(names.map(async (name) => alarms.find((alarm) => alarm.name === name)?.ring()));
    const looks = (await statements.during(ring)).filter((text) => /c\.status = 'snoozed' AND/.test(text));
    expect(looks).to.have.lengthOf(2);
    expect(await statusOf(id)).to.equal('open');
  });

  it('tells of every other promise when one conversation cannot be told of', async () => {
    const { body: policy } = await app.post('sla_policies', { name: 'Sweep', resolution_seconds: 60 });
    const ids = [await conversation(), await conversation(), await conversation()];
    for (const id of ids) await app.patch(`conversations/${id}`, { sla_policy_id: policy.id });
    const allow = await refuse('UPDATE', 'conversations', `OLD.id = ${ids[0]}`);
    now += hour;
    await app.events();
    expect(await checkSla(app.app.database)).to.equal(2);
    const breached = (await app.events()).filter(({ name }) => name === 'sla_breached');
    expect(breached.map(({ conversation_id: id }) => id)).to.deep.equal(ids.slice(1));
    expect(told()).to.have.lengthOf(1);
    expect(told()[0]).to.match(new RegExp(`conversation ${ids[0]} of account 1 could not be done`));
    await allow();
    now += hour;
    expect(await checkSla(app.app.database)).to.equal(1);
  });

  it('deletes all other old answers of idempotency keys when one cannot be deleted', async () => {
    const keys = Array.from({ length: 30 }, (_, at) => `key ${at}`);
    for (const key of keys) await app.post('contacts', { name: 'Customer' }, { 'idempotency-key': key });
    const allow = await refuse('DELETE', 'idempotency_keys', `OLD.key = 'key 7'`);
    now += 25 * hour;
    expect(await deleteOldIdempotencyKeys(app.app.database)).to.equal(29);
    expect(await app.query('SELECT key FROM idempotency_keys')).to.deep.equal([{ key: 'key 7' }]);
    expect(told()).to.have.lengthOf(1);
    expect(told()[0]).not.to.include('key 7');
    await allow();
    now += hour;
    expect(await deleteOldIdempotencyKeys(app.app.database)).to.equal(1);
  });

  it('passes by a page of which nothing is to be tried yet', async () => {
    let pages = 0;
    const plan = {
      name: 'trying numbers',
      nameOf: (item: number) => `number ${item}`,
      page: async (after: number | null) => {
        pages += 1;
        if (pages > 10) throw new Error('It began anew');
        return [1, 2, 3].filter((item) => item > (after ?? 0)).slice(0, 2);
      },
      pageSize: 2,
      atOnce: 1,
      work: async ([item = 0]: readonly number[]) => {
        if (item < 3) throw new Error('no');
        return 1;
      },
    };
    expect(await sweep(app.app.database, plan)).to.equal(1);
    expect(await sweep(app.app.database, plan)).to.equal(1);
    expect(pages).to.equal(4);
  });

  it('ends when the database is away, and blames no row for it', async () => {
    const id = await snooze(1);
    now += 2 * minute;
    const database = app.app.database;
    const [{ sql }, begin] = [database, database.begin.bind(database)];
    const refused = Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' });
    let calls = 0;
    // The page is still read; then the database is gone.
    const refusing: typeof sql = (text, parameters) => {
      calls += 1;
      if (calls > 1) throw refused;
      return sql(text, parameters);
    };
    Object.assign(database, { sql: refusing, begin: () => Promise.reject(refused) });
    try {
      await wakeDueSnoozes(database).then(
        () => expect.fail('the sweep came to its end'),
        (error: unknown) => expect(error).to.equal(refused),
      );
    } finally {
      Object.assign(database, { sql, begin });
    }
    expect(told()).to.deep.equal([]);
    expect(await wakeDueSnoozes(database)).to.equal(1);
    expect(await statusOf(id)).to.equal('open');
  });
});

describe('retention', () => {
  let app: TestApp;
  let contactId: number;

  before(async () => {
    app = await TestApp.start({ engine: false });
    await app.query(`INSERT INTO webhooks (account_id, url, subscriptions, secret)
      SELECT 1, 'http://127.0.0.1:9/' || n, '{}', 'sealed' FROM generate_series(1, 2) n`);
    contactId = (await app.post('contacts', { name: 'Customer' })).body.id;
  });

  beforeEach(async () => {
    await app.query('DELETE FROM events');
    await app.query('DELETE FROM lanes');
  });

  after(() => app.stop());

  /** An event with a delivery for each state, each on a lane of its own; answers its id. */
  async function event(ageDays: number, states: readonly string[] = [], endedDays = ageDays): Promise<number> {
    const [row] = await app.query<{ id: number }>(
      `INSERT INTO events (account_id, name, contact_id, account_payload, created_at)
       VALUES (1, 'contact_updated', $2, '{}', now() - make_interval(days => $1)) RETURNING id`,
      [ageDays, contactId],
    );
    const id = row!.id;
    await app.query(
      `WITH wanted AS (SELECT state, ordinality AS n FROM unnest($2::text[]) WITH ORDINALITY AS s (state)),
       lane AS (INSERT INTO lanes (account_id, endpoint_kind, endpoint_id, subject_kind, subject_id, due_at)
         SELECT 1, 'webhook', n, 'contact', $1, CASE state WHEN 'pending' THEN now() + interval '1 day' END FROM wanted
         RETURNING id, endpoint_id)
       INSERT INTO deliveries (account_id, event_id, lane_id, endpoint_kind, endpoint_id, state, finished_at)
       SELECT 1, $1, lane.id, 'webhook', lane.endpoint_id, wanted.state,
         CASE WHEN state <> 'pending' THEN now() - make_interval(days => $3) END
       FROM lane JOIN wanted ON wanted.n = lane.endpoint_id`,
      [id, states, endedDays],
    );
    await app.query(
      `INSERT INTO attempts (account_id, delivery_id, number, outcome)
       SELECT 1, id, 1, 'failed' FROM deliveries WHERE event_id = $1`,
      [id],
    );
    return id;
  }

  const idsOf = async (table: string, column = 'id') =>
    (await app.query<{ id: number }>(`SELECT DISTINCT ${column} AS id FROM ${table} ORDER BY 1`)).map(({ id }) => id);

  it('never deletes a delivery that was asked for while it waited for another event', async () => {
    const [locked, old] = [await event(40, ['exhausted']), await event(40, ['exhausted'])];
    const [original] = await app.query<{ id: number }>('SELECT id FROM deliveries WHERE event_id = $1', [old]);
    const release = await hold(app.databaseUrl, 'SELECT FROM events WHERE id = $1 FOR UPDATE', [locked]);
    let isOver = false;
    const deleting = deleteOldEvents(app.app.database, 30).finally(() => (isOver = true));
    const waits = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
    await app.eventually(async () => isOver || (await app.query(waits)).length > 0);
    const { status, body } = await app.post(`deliveries/${original!.id}/resend`);
    await release();
    await deleting;
    // It came too late, or it is there.
    if (status !== 404) expect([status, (await app.get(`deliveries/${body.id}`)).status]).to.deep.equal([202, 200]);
    await deleteOldEvents(app.app.database, 30);
    expect(await app.query('SELECT FROM events WHERE id = $1', [locked])).to.deep.equal([]);
  });

  it('deletes old events only when nothing of them is owed any more, with all that hangs on them', async () => {
    const owed = [await event(40, ['pending']), await event(40, ['delivered', 'pending'])];
    const gone = [
      await event(40, ['delivered', 'exhausted']),
      await event(40, ['cancelled']),
      await event(40),
      await event(31, ['delivered']),
    ];
    const young = [await event(29, ['delivered']), await event(0, ['pending']), await event(29)];
    expect(await deleteOldEvents(app.app.database, 30)).to.equal(gone.length);
    expect(await idsOf('events')).to.deep.equal([...owed, ...young]);
    const kept = [owed[0], owed[1], young[0], young[1]];
    expect(await idsOf('deliveries', 'event_id')).to.deep.equal(kept);
    expect(await idsOf('attempts a JOIN deliveries d ON d.id = a.delivery_id', 'd.event_id')).to.deep.equal(kept);
    // A lane stays with its deliveries, due or not.
    expect(await idsOf('lanes', 'subject_id')).to.deep.equal(kept);
    expect(await app.query('SELECT FROM lanes')).to.have.lengthOf(5);
    expect(await deleteOldEvents(app.app.database, 30)).to.equal(0);
  });

  it('counts from the end of the last delivery, with a recovery that has none left', async () => {
    const kept = [await event(40, ['delivered', 'exhausted'], 29), await event(50, ['cancelled'], 1)];
    const gone = await event(60, ['exhausted'], 31);
    await app.query(
      `INSERT INTO recoveries (account_id, endpoint_kind, endpoint_id, since, until, states, count, phase, created_at)
       SELECT 1, 'webhook', g, now(), now(), '{exhausted}', 1, 'send', now() - make_interval(days => 20 + 20 * g)
       FROM generate_series(0, 2) g`,
    );
    const [, old] = await idsOf('recoveries');
    await app.query('UPDATE deliveries SET recovery_id = $1 WHERE event_id = $2', [old, kept[0]]);
    expect(await deleteOldEvents(app.app.database, 30)).to.equal(1);
    expect(await idsOf('events'))
      .to.deep.equal(kept)
      .and.not.include(gone);
    expect(await idsOf('recoveries'))
      .to.have.length(2)
      .and.include(old);
  });

  it('deletes the records of runs with their events, and keeps those of young ones', async () => {
    const conversation = await app.post('conversations', {
      inbox_id: (await app.post('inboxes', { name: 'Runs' })).body.id,
      contact_id: contactId,
    });
    const ids = [await event(40), await event(1)];
    await app.query(
      `WITH bot AS (INSERT INTO agent_bots (account_id, name, kind, plugin_id, events) VALUES (1, 'Bot', 'plugin', 'faq', '{}')
         RETURNING id)
       INSERT INTO bot_runs (account_id, agent_bot_id, conversation_id, event_id, attempt, plugin_id, plugin_version,
         bundle_hash, config, seed, clock, outcome, actions, logs, wall_ms)
       SELECT 1, bot.id, $1, event_id, 1, 'faq', '1.0.0', '', '{}', 1, now(), 'ok', '[]', '[]', 1
       FROM bot, unnest($2::bigint[]) AS event_id`,
      [conversation.body.id, ids],
    );
    await deleteOldEvents(app.app.database, 30);
    expect(await idsOf('bot_runs', 'event_id')).to.deep.equal([ids[1]]);
  });

  it('deletes records of runs before their events, but none of an event that the bot is still to handle', async () => {
    const conversation = await app.post('conversations', {
      inbox_id: (await app.post('inboxes', { name: 'Old runs' })).body.id,
      contact_id: contactId,
    });
    const [bot] = await app.query<{ id: number }>(
      `INSERT INTO agent_bots (account_id, name, kind, plugin_id, events) VALUES (1, 'Old', 'plugin', 'faq', '{}') RETURNING id`,
    );
    const events = [await event(40, ['delivered']), await event(40, ['pending']), await event(40, ['pending'])];
    await app.query(`UPDATE deliveries SET endpoint_kind = 'bot', endpoint_id = $2 WHERE event_id = ANY ($1)`, [
      events.slice(0, 2),
      bot!.id,
    ]);
    const record = (eventId: number, ageDays: number, count = 1) =>
      app.query(
        `INSERT INTO bot_runs (account_id, agent_bot_id, conversation_id, event_id, attempt, plugin_id, plugin_version,
           bundle_hash, config, seed, clock, outcome, actions, logs, wall_ms, created_at)
         SELECT 1, $1, $2, $3, n, 'faq', '1.0.0', '', '{}', 1, now(), 'ok', '[]', '[]', 1, now() - make_interval(days => $4)
         FROM generate_series(1, $5) n`,
        [bot!.id, conversation.body.id, eventId, ageDays, count],
      );
    const [done, toHandle, owedToOthers] = events as [number, number, number];
    await record(done, 8, 450);
    await record(done, 6);
    await record(toHandle, 8);
    await record(owedToOthers, 8);
    expect(await deleteOldRuns(app.app.database, 7)).to.equal(451);
    const left = await app.query<{ event_id: number }>(
      'SELECT event_id FROM bot_runs WHERE agent_bot_id = $1 ORDER BY id',
      [bot!.id],
    );
    expect(left.map(({ event_id: id }) => id)).to.deep.equal([done, toHandle]);
    expect(await idsOf('events')).to.include.members(events);
    expect(await deleteOldRuns(app.app.database, 7)).to.equal(0);
  });

  it('leaves empty lanes alone that are leased or due', async () => {
    await app.query(`INSERT INTO lanes (account_id, endpoint_kind, endpoint_id, subject_kind, subject_id, due_at, lease_token)
      VALUES (1, 'webhook', 1, 'contact', 1, NULL, NULL), (1, 'webhook', 1, 'contact', 2, now(), NULL),
        (1, 'webhook', 1, 'contact', 3, NULL, gen_random_uuid())`);
    await deleteOldEvents(app.app.database, 30);
    expect(await idsOf('lanes', 'subject_id')).to.deep.equal([2, 3]);
  });

  it('goes on to a second batch, past what is owed and past what cannot be deleted', async () => {
    const owed = await event(40, ['pending']);
    const poison = await event(40);
    await app.query(
      `INSERT INTO events (account_id, name, contact_id, account_payload, created_at)
       SELECT 1, 'contact_updated', $1, '{}', now() - interval '40 days' FROM generate_series(1, 2500)`,
      [contactId],
    );
    const kept = await event(1);
    await app.query(`CREATE FUNCTION refuse_event() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN RAISE EXCEPTION 'poison'; END $$`);
    await app.query(
      `CREATE TRIGGER refuse_event BEFORE DELETE ON events FOR EACH ROW WHEN (OLD.id = ${poison}) EXECUTE FUNCTION refuse_event()`,
    );
    expect(await deleteOldEvents(app.app.database, 30)).to.equal(2500);
    expect(await idsOf('events')).to.deep.equal([owed, poison, kept]);
    await app.query('DROP FUNCTION refuse_event CASCADE');
  });
});

import { expect } from 'chai';
import { Client } from 'pg';
import { pino } from 'pino';
import { countActivity, deleteOldCounts } from '../../../src/domain/upkeep/activity-counts.ts';
import { measures } from '../../../src/lib/report-hours.ts';
import { placeEvents } from '../../../src/events/feed.ts';
import { TestApp } from '../../support/app.ts';
import { addAccount, addPerson } from '../../support/people.ts';
import { addConversation, addInbox, addWebhookBot } from '../../support/records.ts';
import { fail, Sending, type Body } from '../../support/sending.ts';

const hour = 3_600;
const now = () => Math.floor(Date.now() / 1000);
const startOf = (moment: number) => moment - (moment % hour);

/** Counts what there is, as the alarm does: attempts are seen by one look, and counted by the next. */
async function count(app: TestApp): Promise<void> {
  await placeEvents(app.app.database, (error) => {
    throw error;
  });
  await countActivity(app.app.database);
  await countActivity(app.app.database);
}

async function report(app: TestApp, query = '', path = 'reports/activity'): Promise<Body> {
  const { status, body } = await app.get(`${path}${query}`);
  expect(status, JSON.stringify(body)).to.equal(200);
  return body;
}

/** The sum of the entries of a report, whichever side of an hour they are on. */
function sumOf({ payload }: Body): Body {
  const sum = { customers: 0, bots: 0, people: 0, attempts: 0, delivered: 0, handoffs: {} as Record<string, number> };
  for (const { messages, attempts, delivered, handoffs } of payload) {
    sum.customers += messages.customers;
    sum.bots += messages.bots;
    sum.people += messages.people;
    sum.attempts += attempts;
    sum.delivered += delivered;
    for (const [reason, part] of Object.entries(handoffs as Record<string, number>))
      sum.handoffs[reason] = (sum.handoffs[reason] ?? 0) + part;
  }
  return sum;
}

const nothing = { customers: 0, bots: 0, people: 0, attempts: 0, delivered: 0, handoffs: {} };

describe('the report of what happened: messages and handoffs', () => {
  let app: TestApp;
  const told: { err?: Error }[] = [];

  before(async function () {
    this.timeout(60_000);
    const log = pino({ level: 'error' }, { write: (line: string) => void told.push(JSON.parse(line)) });
    app = await TestApp.start({ engine: false, log });
  });

  after(() => app.stop());
  afterEach(() => app.query('TRUNCATE report_hours'));

  it('is empty where nothing happened, and names its span', async () => {
    const asked = now();
    const { payload, meta } = await report(app);
    expect(payload).to.deep.equal([]);
    expect(meta).to.deep.include({ by: 'hour', oldest_pending_at: null });
    expect(meta.until - meta.since).to.equal(48 * hour);
    expect(meta.until).to.be.within(asked, now() + hour);
    const days = await report(app, '?by=day');
    expect(days.meta.until - days.meta.since).to.equal(30 * 24 * hour);
  });

  it('counts public messages by who wrote them, and handoffs by their reason, each once', async () => {
    const bot = await addWebhookBot(app, 'Counted');
    const id = await addConversation(app, await addInbox(app, { botId: bot.id }));
    const say = (body: object, headers?: Record<string, string>) =>
      app.post(`conversations/${id}/messages`, { content: 'Hello', ...body }, headers);
    await say({ message_type: 'incoming' });
    await say({ message_type: 'incoming' });
    await say({ message_type: 'outgoing' }, bot.headers);
    await say({ message_type: 'outgoing', private: true }, bot.headers);
    const { status } = await app.post(`conversations/${id}/toggle_status`, { status: 'open' }, bot.headers);
    expect(status).to.equal(200);
    await say({ message_type: 'outgoing' });
    await say({ message_type: 'outgoing', private: true });
    await say({ message_type: 'incoming' });
    const wanted = { ...nothing, customers: 3, bots: 1, people: 1, handoffs: { plugin: 1 } };
    await count(app);
    expect(sumOf(await report(app))).to.deep.equal(wanted);
    // Whoever else counts, at once or later, finds nothing more; what comes is added.
    await Promise.all([count(app), count(app), count(app)]);
    expect(sumOf(await report(app))).to.deep.equal(wanted);
    await say({ message_type: 'incoming' });
    await Promise.all([count(app), count(app)]);
    expect(sumOf(await report(app))).to.deep.equal({ ...wanted, customers: 4 });
    // The figures stay when the conversation is deleted.
    await app.delete(`conversations/${id}`);
    await count(app);
    expect(sumOf(await report(app)).customers).to.equal(4);
  });

  it('counts scores that conversations get, by any way', async () => {
    const id = await addConversation(app, await addInbox(app));
    const other = await addConversation(app, await addInbox(app));
    const rate = (at: number, attributes: object) =>
      app.post(`conversations/${at}/custom_attributes`, { custom_attributes: attributes });
    await rate(id, { csat_score: 4 });
    await rate(id, { csat_score: 4, order: 7 });
    await rate(other, { csat_score: '4' });
    await rate(other, { csat_score: 2 });
    await rate(other, { csat_score: 'bad' });
    await rate(other, { csat_score: 6 });
    await count(app);
    const { payload } = await report(app);
    const ratings = new Map<string, number>();
    for (const entry of payload as Body[])
      for (const [score, part] of Object.entries(entry.ratings as Record<string, number>))
        ratings.set(score, (ratings.get(score) ?? 0) + part);
    expect(Object.fromEntries(ratings)).to.deep.equal({ 4: 2, 2: 1 });
  });

  it('counts each event in its hour, however many there are', async () => {
    const then = startOf(now()) - 5 * hour;
    await app.query(
      `WITH happened AS (
         INSERT INTO events (account_id, name, account_payload, created_at)
         SELECT 1, 'message_created', '{"message_type":"incoming","private":false}', to_timestamp($1 + g) FROM generate_series(0, 2499) g
         RETURNING id)
       INSERT INTO unplaced_events (event_id, account_id) SELECT id, 1 FROM happened`,
      [then + hour - 1500],
    );
    await count(app);
    const { payload } = await report(app);
    expect(payload.map(({ at, messages }: Body) => [at, messages.customers])).to.deep.equal([
      [then, 1500],
      [then + hour, 1000],
    ]);
    const early = await report(app, `?since=${then}&until=${then + hour}`);
    expect(sumOf(early).customers).to.equal(1500);
    expect(early.meta).to.include({ since: then, until: then + hour });
    const day = await report(app, `?by=day&since=${then}&until=${then + 2 * hour}`);
    expect(sumOf(day).customers).to.equal(2500);
    expect(day.payload.every(({ at }: Body) => at % (24 * hour) === 0)).to.equal(true);
  });

  it('goes on behind what was deleted from the feed meanwhile', async () => {
    const id = await addConversation(app, await addInbox(app));
    const say = () => app.post(`conversations/${id}/messages`, { content: 'Hello', message_type: 'incoming' });
    await count(app);
    await say();
    await placeEvents(app.app.database, () => undefined);
    await app.query('DELETE FROM events WHERE conversation_id = $1', [id]);
    await count(app);
    const [place] = await app.query<{ behind: number }>(
      'SELECT h.position - r.position AS behind FROM event_feed_heads h JOIN report_feeds r USING (account_id) WHERE account_id = 1',
    );
    expect(place!.behind).to.equal(0);
    await say();
    await count(app);
    expect(sumOf(await report(app)).customers).to.equal(1);
  });

  it('counts what it can when what waits cannot be looked at, and tells that', async () => {
    const id = await addConversation(app, await addInbox(app));
    await app.post('webhooks', { url: 'http://127.0.0.1:9/', subscriptions: ['message_created'] });
    await app.post(`conversations/${id}/messages`, { content: 'Hello', message_type: 'incoming' });
    await app.query(`UPDATE deliveries SET created_at = now() - interval '1 minute'`);
    await app.query(`CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'poison'; END $$`);
    await app.query(
      `CREATE TRIGGER refuse BEFORE INSERT ON report_hours FOR EACH ROW WHEN (NEW.measure = '${measures.oldest}') EXECUTE FUNCTION refuse()`,
    );
    told.length = 0;
    await count(app);
    await app.query('DROP FUNCTION refuse CASCADE');
    expect(told.map(({ err }) => err?.message)).to.deep.equal(['poison', 'poison']);
    expect(sumOf(await report(app)).customers).to.equal(1);
  });

  it('is that of the own account, for its administrators', async () => {
    const id = await addConversation(app, await addInbox(app));
    await app.post(`conversations/${id}/messages`, { content: 'Hello', message_type: 'incoming' });
    await count(app);
    const other = await addAccount(app, 'Other');
    const theirs = `/api/v1/accounts/${other.id}/reports/activity`;
    const { body } = await app.get(theirs, other.administrator.headers);
    expect(body.payload).to.deep.equal([]);
    expect((await app.get('reports/activity', other.administrator.headers)).status).to.equal(404);
    const { headers } = await addPerson(app, { name: 'Agent' });
    expect((await app.get('reports/activity', headers)).status).to.equal(403);
  });

  it('refuses spans that are too long or make no sense', async () => {
    const refused = async (query: string): Promise<string> => {
      const { status, body } = await app.get(`reports/activity?${query}`);
      expect(status, query).to.equal(400);
      return body.error as string;
    };
    expect(await refused(`since=${now() - 32 * 24 * hour}`)).to.equal('Ask for 744 hours at most');
    expect(await refused(`by=day&since=${now() - 367 * 24 * hour}`)).to.equal('Ask for 366 days at most');
    await refused('by=week');
    await refused('since=yesterday');
    await refused('since=-1');
    expect((await report(app, `?since=${now()}&until=${now() - 5 * hour}`)).payload).to.deep.equal([]);
    expect((await report(app, '?until=0')).meta).to.include({ since: 0, until: 0 });
  });

  it('is kept as long as the operator wants', async () => {
    await app.query(
      `INSERT INTO report_hours (account_id, hour, measure, count)
       SELECT 1, date_trunc('hour', now()) - make_interval(days => d), 'messages:customers', 1 FROM unnest(ARRAY[2, 9, 11]) d`,
    );
    expect(await deleteOldCounts(app.app.database, 10)).to.equal(1);
    expect(sumOf(await report(app, '?by=day')).customers).to.equal(2);
  });
});

describe('the report of what happened: attempts on receivers', () => {
  const sending = Sending.use();
  afterEach(() => sending.app.query('TRUNCATE report_hours'));

  /** Counts until so many attempts are counted: a look waits for whatever transaction is running at its moment. */
  async function untilCounted(attempts: number): Promise<Body> {
    return sending.app.eventually(async () => {
      await count(sending.app);
      const found = await report(sending.app);
      return sumOf(found).attempts >= attempts && found;
    });
  }

  it('counts them, those that arrived, and how long their answers took', async () => {
    const webhook = await sending.webhookFor('message_created');
    const ids = [await sending.conversation(), await sending.conversation()];
    await sending.say(ids[0]!, 'one');
    const [arrived] = await sending.eventuallyIn(webhook, 'delivered');
    sending.receiver.answerWith((received, response) => void setTimeout(() => fail(received, response), 150));
    await sending.say(ids[1]!, 'two');
    const [failed] = await sending.eventuallyIn(webhook, 'failing');
    const found = await untilCounted(2);
    expect(sumOf(found)).to.include({ attempts: 2, delivered: 1, customers: 2 });
    const totals: number[] = [];
    for (const { id } of [arrived, failed]) {
      const [{ times }] = (await sending.app.get(`deliveries/${id}`)).body.attempts;
      totals.push(times.total);
    }
    const longest = Math.max(...totals);
    const p95 = Math.max(...found.payload.map(({ p95_ms: ms }: Body) => ms ?? 0));
    expect(p95).to.be.within(longest - 1, longest * 1.2);
    expect(found.meta.oldest_pending_at).to.equal(failed.created_at);
    // A look finds out how long it has waited.
    await sending.app.query(`UPDATE deliveries SET created_at = now() - interval '90 s' WHERE id = $1`, [failed.id]);
    await countActivity(sending.app.app.database);
    const waited = (await report(sending.app)).payload.at(-1).oldest_pending_seconds;
    expect(waited).to.be.within(90, 300);
    await sending.app.post(`webhooks/${webhook.id}/cancel_pending`);
    await sending.eventuallyIn(webhook, 'cancelled');
    await count(sending.app);
    const last = await report(sending.app);
    expect(last.meta.oldest_pending_at).to.equal(null);
    expect(last.payload.at(-1).oldest_pending_seconds).to.be.at.least(90);
    expect(sumOf(last)).to.include({ attempts: 2, delivered: 1 });
  });

  it('counts each exactly once, also one whose transaction ends later than one with a higher number', async () => {
    const { app } = sending;
    const webhook = await sending.webhookFor('contact_created');
    await sending.made('contacts', { name: 'Ada' });
    const [{ id }] = await sending.eventuallyIn(webhook, 'delivered');
    await untilCounted(1);
    const before = sumOf(await report(app)).attempts;
    const attempt = `INSERT INTO attempts (account_id, delivery_id, number, outcome, status, duration_ms, wire)
      VALUES (1, ${id}, 9, 'failed', 500, 10, '{}')`;
    const slow = new Client({ connectionString: app.databaseUrl });
    await slow.connect();
    try {
      await slow.query('BEGIN');
      await slow.query(attempt);
      await app.query(attempt);
      await count(app);
      await count(app);
      // The slow one may still come: nothing behind it is counted yet.
      expect(sumOf(await report(app)).attempts).to.equal(before);
      await slow.query('COMMIT');
    } finally {
      await slow.end();
    }
    await Promise.all([count(app), count(app)]);
    await untilCounted(before + 2);
    await count(app);
    expect(sumOf(await report(app)).attempts).to.equal(before + 2);
  });

  it('goes on in a database that was restored to a server with younger transactions', async () => {
    const { app } = sending;
    const webhook = await sending.webhookFor('contact_created');
    await sending.made('contacts', { name: 'Ada' });
    await sending.eventuallyIn(webhook, 'delivered');
    await countActivity(app.app.database);
    await app.query(`UPDATE report_progress SET seen_xid = '9000000000000'`);
    expect(sumOf(await untilCounted(1)).attempts).to.equal(1);
  });
});

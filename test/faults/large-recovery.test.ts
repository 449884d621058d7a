import { expect } from 'chai';
import { recoverSome } from '../../src/deliveries/copies/recover.ts';
import { finishBacklogs } from '../../src/domain/upkeep/backlogs.ts';
import { system, transact } from '../../src/events/transaction.ts';
import { Sending, type Body } from '../support/sending.ts';
import { expectLedger } from './ledger.ts';
import { mostAtOnce, rowsOf } from './helpers.ts';

// RECOVERED=1000000 for the long profile; what a batch costs among 120,000 is counted in test/postgres/delivery-plans.test.ts.
const lost = Number(process.env['RECOVERED'] ?? 20_000);
const lanes = 2_000;
/** No transaction changes more deliveries, or lanes, but that of the request, which makes two batches. */
const atOnce = 1_000;
const scope = { account: { id: 1, name: 'Demo account' }, actor: system };

describe(`${lost.toLocaleString('en')} deliveries that were given up`, function () {
  this.timeout(1_800_000);
  const sending = Sending.use({ config: { statementTimeoutMs: 60_000 } });

  // Subjects that nobody talks about, so that they are the recovery's alone. On a connection without a timeout.
  async function lose(webhook: Body): Promise<void> {
    await rowsOf(
      sending.app.databaseUrl,
      `WITH lane AS (
         INSERT INTO lanes (account_id, endpoint_kind, endpoint_id, subject_kind, subject_id)
         SELECT 1, 'webhook', $1, 'contact', 1000000 + g FROM generate_series(1, ${lanes}) g RETURNING id, subject_id
       ), event AS (
         INSERT INTO events (account_id, name, account_payload) SELECT 1, 'message_created', '{"old":true}'
         FROM generate_series(1, ${lost}) RETURNING id
       ), unplaced AS (INSERT INTO unplaced_events (event_id, account_id) SELECT id, 1 FROM event)
       INSERT INTO deliveries (account_id, event_id, lane_id, endpoint_kind, endpoint_id, state, finished_at, created_at)
       SELECT 1, e.id, lane.id, 'webhook', $1, 'exhausted', now(), now() - interval '1 hour'
       FROM event e JOIN lane ON lane.subject_id = 1000001 + e.id % ${lanes}`,
      [webhook.id],
    );
  }

  /** Collects one batch; between two of them the sweep finds nothing to do. True when all is collected. */
  function collect(id: number): Promise<boolean> {
    return transact(sending.app.app.database, scope, async (tx) => {
      await tx.sql(`UPDATE recoveries SET phase = 'gather' WHERE id = $1`, [id]);
      await recoverSome(tx.sql, id, { leftOut: [], formatted: [], isOn: async () => true });
      const [found] = await tx.sql<{ phase: string }>('SELECT phase FROM recoveries WHERE id = $1', [id]);
      await tx.sql(`UPDATE recoveries SET phase = 'stopped' WHERE id = $1`, [id]);
      return found!.phase === 'release';
    });
  }

  it('are collected, and cancelled again, a batch to a transaction, while live messages arrive', async () => {
    const { app, receiver } = sending;
    const webhook = await sending.webhookFor('message_created');
    await lose(webhook);
    const conversation = await sending.conversation();
    const ask = () => sending.made(`webhooks/${webhook.id}/recover`, { since: 1 }, 202);
    const { id, count } = await ask();
    await app.query(`UPDATE recoveries SET phase = 'stopped' WHERE id = $1`, [id]);
    expect(count).to.equal(lost);

    const progress = async () => (await app.get(`webhooks/${webhook.id}/recover/${id}`)).body.pending as number;
    let last = await progress();
    expect(last).to.be.within(1, 2 * atOnce);
    const gathering = { isOver: false };
    let said = 0;
    const talk = async (): Promise<void> => {
      while (!gathering.isOver) {
        said += 1;
        await sending.say(conversation, `live ${said}`);
        await receiver.waitFor(said);
        const now = await progress();
        expect(now).to.be.within(last, lost);
        last = now;
      }
    };
    const talking = talk();
    while (!gathering.isOver) gathering.isOver = await collect(id);
    await talking;
    expect(sending.contents).to.deep.equal(Array.from({ length: said }, (_, index) => `live ${index + 1}`));
    expect(await progress()).to.equal(lost);
    const { databaseUrl } = app;
    expect(await mostAtOnce(databaseUrl, 'deliveries', 'recovery_id IS NOT NULL')).to.equal(2 * atOnce);
    expect(await mostAtOnce(databaseUrl, 'deliveries', 'superseded')).to.equal(2 * atOnce);
    expect(await mostAtOnce(databaseUrl, 'lanes', 'side < 0')).to.be.within(1, 2 * atOnce);

    const cancelled = await app.post(`webhooks/${webhook.id}/cancel_pending`);
    expect(cancelled.body).to.deep.equal({ count: Math.min(lost, 100_000) });
    while ((await app.query('SELECT FROM backlog_tasks')).length > 0) await finishBacklogs(app.app.database);
    const [rest] = await app.query<Body>(
      `SELECT count(*)::int, bool_and(state = 'cancelled') AS all FROM deliveries WHERE recovery_id = $1`,
      [id],
    );
    expect(rest).to.deep.equal({ count: lost, all: true });
    expect(await mostAtOnce(databaseUrl, 'deliveries', `state = 'cancelled'`)).to.equal(atOnce);
    expect(await app.query('SELECT FROM lanes WHERE side < 0 AND due_at IS NOT NULL LIMIT 1')).to.deep.equal([]);

    // What was cancelled may be asked for again; it was counted once, not with what it was made of.
    await app.post(`webhooks/${webhook.id}/pause`);
    expect((await ask()).count).to.equal(lost);
    await sending.app.patch(`webhooks/${webhook.id}`, { active: false });
    // As what is deleted for its age.
    await rowsOf(databaseUrl, 'UPDATE event_feed_heads SET dropped = position');
    await rowsOf(databaseUrl, `DELETE FROM events WHERE account_payload::text = '{"old":true}'`);
    await expectLedger(databaseUrl);
  });
});

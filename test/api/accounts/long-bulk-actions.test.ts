import { expect } from 'chai';
import { finishBulkActions } from '../../../src/domain/endpoints/bulk-actions.ts';
import { deleteOldEvents } from '../../../src/domain/upkeep/retention.ts';
import { batch, bulkOf, insertDeliveries } from '../../support/bulk-actions.ts';
import { Sending, type Body } from '../../support/sending.ts';

describe('a bulk action of more than one batch', function () {
  this.timeout(120_000);
  // Nothing goes on by itself.
  const sending = Sending.use({ engine: false });

  const begin = (webhook: Body, body: object): Promise<Body> => sending.made(bulkOf(webhook), body, 202);
  const read = async (webhook: Body, { id }: Body): Promise<Body> =>
    (await sending.app.get(`${bulkOf(webhook)}/${id}`)).body;
  const finish = () => finishBulkActions(sending.app.app.database);
  const resent = async (webhook: Body): Promise<number> =>
    (
      await sending.app.query<{ count: number }>(
        `SELECT count(*)::int FROM deliveries WHERE endpoint_id = $1 AND trigger = 'resend'`,
        [webhook.id],
      )
    )[0]!.count;
  const count = 2 * batch + 50;

  it('goes on by the sweep, without what was made meanwhile, and lets no second one of its kind begin', async () => {
    const webhook = await sending.webhookFor('message_created');
    await insertDeliveries(sending, webhook, count);
    const body = { action: 'resend', filter: { state: 'exhausted' } };
    const both = await Promise.all([1, 2].map(() => sending.app.post(bulkOf(webhook), body)));
    const [won, lost] = both.toSorted((one, other) => one.status - other.status);
    expect(won!.body).to.include({ count, state: 'running' });
    expect([lost!.status, lost!.body.code]).to.deep.equal([409, 'bulk_running']);
    // The number by which it is found, or stopped, by somebody else.
    expect(lost!.body.error).to.include(`Bulk action ${won!.body.id} of this webhook is running`);
    expect(await read(webhook, won!.body)).to.include({ count, done: batch, failed: 0, state: 'running' });
    expect(await resent(webhook)).to.equal(batch);
    await sending.app.query(
      `UPDATE deliveries SET state = 'exhausted', finished_at = now() WHERE endpoint_id = $1 AND trigger = 'resend'`,
      [webhook.id],
    );
    await finish();
    expect(await read(webhook, won!.body)).to.include({ count, done: count, failed: 0, state: 'done' });
    expect(await resent(webhook)).to.equal(count);
    expect(await sending.app.query('SELECT selected FROM bulk_actions WHERE id = $1', [won!.body.id])).to.deep.equal([
      { selected: [] },
    ]);
  });

  it('keeps the order of the events, and a transaction to a batch', async () => {
    const webhook = await sending.webhookFor('message_created');
    await insertDeliveries(sending, webhook, count);
    await begin(webhook, { action: 'resend', filter: {} });
    await finish();
    const made = await sending.app.query<{ event_id: number; transaction: string }>(
      `SELECT event_id, xmin::text AS transaction FROM deliveries WHERE endpoint_id = $1 AND trigger = 'resend' ORDER BY id`,
      [webhook.id],
    );
    const events = made.map(({ event_id: id }) => id);
    expect(events).to.deep.equal(events.toSorted((one, other) => one - other));
    const sizes = [...Map.groupBy(made, ({ transaction }) => transaction).values()].map(({ length }) => length);
    expect(sizes).to.deep.equal([batch, batch, count - 2 * batch]);
  });

  for (const action of ['resend', 'cancel'] as const) {
    it(`is stopped by DELETE while it is to ${action}, and goes no further`, async () => {
      const webhook = await sending.webhookFor('message_created');
      await insertDeliveries(sending, webhook, count, 'pending');
      const begun = await begin(webhook, { action, filter: {} });
      const stopped = await sending.app.delete(`${bulkOf(webhook)}/${begun.id}`);
      expect(stopped.status).to.equal(200);
      expect(stopped.body).to.include({ id: begun.id, action, state: 'cancelled', count, done: batch, failed: 0 });
      await finish();
      expect(await read(webhook, begun)).to.deep.equal(stopped.body);
      // Another one may begin, and takes what is left.
      const next = await begin(webhook, { action: 'cancel', filter: { state: 'failing' } });
      await finish();
      const left = action === 'cancel' ? count - batch : count;
      expect(await read(webhook, next)).to.include({ count: left, done: left, state: 'done' });
      const over = await sending.app.delete(`${bulkOf(webhook)}/${next.id}`);
      expect(over.body).to.include({ state: 'done', done: left });
    });
  }

  for (const [title, act] of [
    ['the webhook is switched off', (at: string) => sending.app.patch(at, { active: false })],
    ['what waits is cancelled', (at: string) => sending.app.post(`${at}/cancel_pending`)],
    ['the webhook is deleted', (at: string) => sending.app.delete(at)],
  ] as const) {
    it(`stops when ${title}`, async () => {
      const webhook = await sending.webhookFor('message_created');
      await insertDeliveries(sending, webhook, count);
      const begun = await begin(webhook, { action: 'resend', filter: {} });
      expect((await act(`webhooks/${webhook.id}`)).status).to.be.oneOf([200, 204]);
      await finish();
      expect(await read(webhook, begun)).to.include({ state: 'cancelled', count, done: batch });
      expect(await resent(webhook)).to.equal(batch);
    });
  }

  it('stops at its next batch when the webhook is off, whoever switched it off', async () => {
    const webhook = await sending.webhookFor('message_created');
    await insertDeliveries(sending, webhook, count);
    const begun = await begin(webhook, { action: 'resend', filter: {} });
    await sending.app.query('UPDATE webhooks SET active = false WHERE id = $1', [webhook.id]);
    await finish();
    expect(await read(webhook, begun)).to.include({ state: 'cancelled', done: batch });
  });

  it('does not resend what was failing, and has arrived before its turn', async () => {
    const webhook = await sending.webhookFor('message_created');
    const made = await insertDeliveries(sending, webhook, count, 'pending');
    const begun = await begin(webhook, { action: 'resend', filter: { state: 'failing' } });
    const arrived = made.slice(-20).map(({ id }) => id);
    await sending.app.query(`UPDATE deliveries SET state = 'delivered', finished_at = now() WHERE id = ANY ($1)`, [
      arrived,
    ]);
    await finish();
    expect(await read(webhook, begun)).to.include({ state: 'done', done: count - 20, failed: 20 });
  });

  it('counts as failed what is deleted before its turn', async () => {
    const webhook = await sending.webhookFor('message_created');
    const made = await insertDeliveries(sending, webhook, count);
    const begun = await begin(webhook, { action: 'resend', filter: {} });
    const gone = made.slice(-20).map(({ id }) => id);
    await sending.app.query('DELETE FROM deliveries WHERE id = ANY ($1)', [gone]);
    await finish();
    expect(await read(webhook, begun)).to.include({ state: 'done', done: count - 20, failed: 20 });
  });

  it('resends and cancels side by side', async () => {
    const webhook = await sending.webhookFor('message_created');
    await insertDeliveries(sending, webhook, count, 'pending');
    const begun = [];
    for (const action of ['resend', 'cancel'])
      begun.push(await begin(webhook, { action, filter: { state: 'failing' } }));
    await Promise.all([finish(), finish()]);
    await finish();
    const [resending, cancelling] = await Promise.all(begun.map((one) => read(webhook, one)));
    expect(cancelling).to.include({ done: count, failed: 0, state: 'done' });
    expect(resending).to.include({ state: 'done' });
    expect(resending.done + resending.failed).to.equal(count);
    expect(await resent(webhook)).to.equal(resending.done);
  });

  it('is deleted with what is old, once it has ended', async () => {
    const webhook = await sending.webhookFor('message_created');
    await insertDeliveries(sending, webhook, count);
    const running = await begin(webhook, { action: 'resend', filter: {} });
    const over = await begin(webhook, { action: 'cancel', ids: [(await sending.deliveriesOf(webhook)).at(-1)!.id] });
    await sending.app.query(`UPDATE bulk_actions SET created_at = now() - interval '31 days'`);
    await deleteOldEvents(sending.app.app.database, 30);
    expect((await sending.app.get(`${bulkOf(webhook)}/${over.id}`)).status).to.equal(404);
    expect(await read(webhook, running)).to.include({ state: 'running' });
  });

  it('refuses a filter that has to look through too many deliveries, until it is narrowed', async () => {
    const webhook = await sending.webhookFor('message_created');
    await insertDeliveries(sending, webhook, 10_001);
    const { status, body } = await sending.app.post(bulkOf(webhook), { action: 'cancel', filter: { q: 'text' } });
    expect([status, body.details[0].path]).to.deep.equal([422, '/filter']);
    expect((await sending.app.get(`webhooks/${webhook.id}/deliveries/count?q=text`)).status).to.equal(400);
    expect((await sending.app.get(`webhooks/${webhook.id}/deliveries/count?state=failing&q=text`)).body.count).to.equal(
      0,
    );
    expect((await sending.app.get(`webhooks/${webhook.id}/deliveries/count`)).body.count).to.equal(10_001);
  });
});

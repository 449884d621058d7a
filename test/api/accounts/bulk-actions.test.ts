import { expect } from 'chai';
import { finishBulkActions } from '../../../src/domain/endpoints/bulk-actions.ts';
import { expectLedger } from '../../faults/ledger.ts';
import { bulkOf } from '../../support/bulk-actions.ts';
import { addAccount, addPerson, type Person } from '../../support/people.ts';
import { fail, Sending, type Body } from '../../support/sending.ts';

describe('a bulk action', function () {
  this.timeout(120_000);
  const sending = Sending.use();

  const begin = (webhook: Body, body: object): Promise<Body> => sending.made(bulkOf(webhook), body, 202);
  const read = async (webhook: Body, { id }: Body): Promise<Body> => {
    const { status, body } = await sending.app.get(`${bulkOf(webhook)}/${id}`);
    expect(status, JSON.stringify(body)).to.equal(200);
    return body;
  };
  const ended = (webhook: Body, begun: Body): Promise<Body> =>
    sending.app.eventually(async () => {
      await finishBulkActions(sending.app.app.database);
      const found = await read(webhook, begun);
      return found.state !== 'running' && found;
    });
  async function refusal(webhook: Body, body: object): Promise<unknown[]> {
    const { status, body: answer } = await sending.app.post(bulkOf(webhook), body);
    return [status, answer.code, answer.details?.[0]?.path];
  }

  /** A webhook whose receiver failed with messages of so many conversations: one in each. */
  async function failing(count: number): Promise<{ webhook: Body; conversations: number[] }> {
    const webhook = await sending.webhookFor('message_created');
    sending.receiver.answerWith(fail);
    const conversations: number[] = [];
    for (let made = 0; made < count; made++) conversations.push(await sending.conversation());
    for (const id of conversations) await sending.say(id, `from ${id}`);
    await sending.eventuallyIn(webhook, 'failing', count);
    await sending.putOff(webhook);
    return { webhook, conversations };
  }

  it('resends what its filter finds, each like one delivery, and the originals end with it', async () => {
    const { webhook } = await failing(3);
    sending.receiver.answerWith((_, response) => response.end());
    sending.receiver.received.length = 0;
    const originals = await sending.deliveriesOf(webhook);
    const begun = await begin(webhook, { action: 'resend', filter: { state: 'failing' } });
    expect(begun).to.deep.equal({ id: begun.id, count: 3, state: 'done' });
    const found = await read(webhook, begun);
    expect(found).to.deep.equal({
      id: begun.id,
      action: 'resend',
      state: 'done',
      count: 3,
      done: 3,
      failed: 0,
      created_at: found.created_at,
    });
    const received = await sending.receiver.waitFor(3);
    expect(new Set(received.map(({ headers }) => headers['webhook-id']))).to.deep.equal(
      new Set(originals.map(({ webhook_message_id: name }) => name)),
    );
    const all = await sending.eventuallyIn(webhook, 'delivered', 6);
    expect(all.filter(({ trigger }) => trigger === 'resend')).to.have.length(3);
    await expectLedger(sending.app.databaseUrl);
  });

  it('cancels what its filter finds, in the name of the person, and what is behind it goes on', async () => {
    const { webhook, conversations } = await failing(2);
    await sending.say(conversations[0]!, 'next');
    sending.receiver.received.length = 0;
    sending.receiver.answerWith((_, response) => response.end());
    const filter = { conversation_id: conversations[0]!, state: 'failing' };
    const begun = await begin(webhook, { action: 'cancel', filter });
    expect(begun).to.include({ count: 1, state: 'done' });
    const [cancelled] = await sending.deliveriesOf(webhook, '?state=cancelled');
    expect(cancelled).to.include({ conversation_id: conversations[0], last_error: 'cancelled_on_request' });
    expect(cancelled.cancelled_by).to.deep.include({ kind: 'person', name: 'Administrator' });
    expect(cancelled.cancelled_by.id).to.be.a('number');
    await sending.receiver.waitFor(1);
    expect(sending.contents).to.deep.equal(['next']);
    expect(await sending.deliveriesOf(webhook, '?state=failing')).to.have.length(1);
    await expectLedger(sending.app.databaseUrl);
  });

  it('takes what the list has, by each filter, and counts it before', async () => {
    const { webhook, conversations } = await failing(2);
    const since = Math.floor(Date.now() / 1000) - 60;
    await sending.app.query(
      `UPDATE deliveries SET created_at = now() - interval '1 day' WHERE id = (SELECT min(id) FROM deliveries WHERE endpoint_id = $1)`,
      [webhook.id],
    );
    sending.receiver.answerWith((_, response) => response.end('fine, thank you'));
    await sending.say(await sending.conversation(), 'arrives');
    await sending.eventuallyIn(webhook, 'delivered');
    const expected: [object, number][] = [
      [{}, 3],
      [{ state: 'failing' }, 2],
      [{ state: 'delivered' }, 1],
      [{ state: 'pending' }, 0],
      [{ state: 'exhausted' }, 0],
      [{ status_code: 500 }, 2],
      [{ status_code: 200 }, 1],
      [{ error_class: 'bad_status' }, 2],
      [{ error_class: 'timeout' }, 0],
      [{ event: 'message_created' }, 3],
      [{ event: 'contact_created' }, 0],
      [{ conversation_id: conversations[1] }, 1],
      [{ q: 'THANK' }, 1],
      [{ q: 'broken', conversation_id: conversations[0] }, 1],
      [{ since }, 2],
      [{ until: since }, 1],
      [{ since, status_code: 500 }, 1],
    ];
    await sending.app.post(`webhooks/${webhook.id}/pause`);
    for (const [filter, count] of expected) {
      const pairs = Object.entries(filter).map(([name, value]): [string, string] => [name, String(value)]);
      const query = new URLSearchParams(pairs).toString();
      const at = `webhooks/${webhook.id}/deliveries`;
      const counted = await sending.app.get(`${at}/count?${query}`);
      expect(counted.body, query).to.deep.equal({ count });
      expect(await sending.deliveriesOf(webhook, `?${query}`)).to.have.length(count);
      const begun = await begin(webhook, { action: 'resend', filter });
      expect(await ended(webhook, begun), query).to.include({ count, done: count, failed: 0, state: 'done' });
      await sending.app.query(
        `WITH gone AS (DELETE FROM deliveries WHERE endpoint_id = $1 AND trigger = 'resend' RETURNING lane_id)
         UPDATE lanes SET due_at = NULL WHERE id IN (SELECT lane_id FROM gone)`,
        [webhook.id],
      );
    }
  });

  it('takes a list, whose deliveries must be those of the webhook', async () => {
    const { webhook } = await failing(2);
    const other = await sending.webhookFor('contact_created');
    const [first, second] = await sending.deliveriesOf(webhook);
    expect(await refusal(other, { action: 'cancel', ids: [first.id] })).to.deep.equal([404, 'not_found', undefined]);
    expect(await refusal(webhook, { action: 'cancel', ids: [first.id, 999_999_999] })).to.deep.equal([
      404,
      'not_found',
      undefined,
    ]);
    expect(await sending.deliveriesOf(webhook, '?state=failing')).to.have.length(2);
    const begun = await begin(webhook, { action: 'cancel', ids: [first.id, first.id] });
    expect(begun).to.include({ count: 1, state: 'done' });
    expect(await sending.stateOf(first.id)).to.equal('cancelled');
    expect(await sending.stateOf(second.id)).to.equal('failing');
    // It has ended: nothing of it can be cancelled.
    const again = await begin(webhook, { action: 'cancel', ids: [first.id, second.id] });
    expect(await read(webhook, again)).to.include({ count: 2, done: 1, failed: 1, state: 'done' });
  });

  it('refuses what names no deliveries, both ways to name them, and filters that the list has not', async () => {
    const webhook = await sending.webhookFor('message_created');
    const action = 'resend';
    expect(await refusal(webhook, { action })).to.deep.equal([422, 'validation_failed', '']);
    expect(await refusal(webhook, { action, filter: {}, ids: [1] })).to.deep.equal([422, 'validation_failed', '']);
    expect((await refusal(webhook, { filter: {} }))[0]).to.equal(422);
    expect((await refusal(webhook, { action: 'delete', filter: {} }))[0]).to.equal(422);
    expect((await refusal(webhook, { action, ids: [] }))[0]).to.equal(422);
    expect((await refusal(webhook, { action, ids: Array.from({ length: 1_001 }, (_, at) => at + 1) }))[0]).to.equal(
      422,
    );
    expect(await refusal(webhook, { action, filter: { q: 'ab' } })).to.deep.equal([
      422,
      'validation_failed',
      '/filter/q',
    ]);
    expect((await refusal(webhook, { action, filter: { status: 500 } }))[0]).to.equal(422);
    expect(await refusal(webhook, { action, filter: { event: 'no_event' } })).to.deep.equal([
      422,
      'validation_failed',
      '/filter/event',
    ]);
    expect((await refusal(webhook, { action, filter: { conversation_id: 999_999 } }))[0]).to.equal(404);
    const count = (query: string) => sending.app.get(`webhooks/${webhook.id}/deliveries/count?${query}`);
    expect((await count('event=no_event')).status).to.equal(400);
    expect((await count('q=ab')).status).to.equal(400);
    expect((await sending.app.get('webhooks/999999/deliveries/count')).status).to.equal(404);
    expect((await sending.app.get(`${bulkOf(webhook)}/999999`)).status).to.equal(404);
    expect((await sending.app.delete(`${bulkOf(webhook)}/999999`)).status).to.equal(404);
  });

  it('resends an event once, however often it was sent', async () => {
    const { webhook } = await failing(1);
    await begin(webhook, { action: 'resend', filter: {} });
    await sending.eventuallyIn(webhook, 'failing', 2);
    await sending.putOff(webhook);
    const begun = await begin(webhook, { action: 'resend', filter: { state: 'failing' } });
    expect(await read(webhook, begun)).to.include({ count: 2, done: 1, failed: 1 });
  });

  it('resends nothing whose attempt is running, and cancels it when that has ended', async () => {
    const webhook = await sending.webhookFor('message_created');
    const hanging: (() => void)[] = [];
    sending.receiver.answerWith((_, response) => void hanging.push(() => response.writeHead(500).end()));
    await sending.say(await sending.conversation(), 'hangs');
    await sending.receiver.waitFor(1);
    const resent = await begin(webhook, { action: 'resend', filter: {} });
    expect(await read(webhook, resent)).to.include({ count: 1, done: 0, failed: 1, state: 'done' });
    const begun = await begin(webhook, { action: 'cancel', filter: {} });
    expect(begun).to.include({ count: 1, state: 'running' });
    await finishBulkActions(sending.app.app.database);
    expect(await read(webhook, begun)).to.include({ done: 0, failed: 0, state: 'running' });
    for (const answer of hanging) answer();
    expect(await ended(webhook, begun)).to.include({ done: 1, failed: 0, state: 'done' });
    expect(sending.receiver.received).to.have.length(1);
    await expectLedger(sending.app.databaseUrl);
  });

  it('goes only where a resend may: 409 for a webhook that is off, where cancelling is allowed', async () => {
    const { webhook } = await failing(1);
    await sending.app.patch(`webhooks/${webhook.id}`, { active: false });
    expect(await refusal(webhook, { action: 'resend', filter: {} })).to.deep.equal([409, 'endpoint_off', undefined]);
    expect(await begin(webhook, { action: 'cancel', filter: {} })).to.include({ count: 1, state: 'done' });
    await sending.app.delete(`webhooks/${webhook.id}`);
    expect((await refusal(webhook, { action: 'cancel', filter: {} }))[0]).to.equal(404);
  });

  it('is for administrators of the account alone', async () => {
    const { webhook } = await failing(1);
    const begun = await begin(webhook, { action: 'cancel', filter: { state: 'delivered' } });
    const agent = await addPerson(sending.app, { name: 'Agent' });
    const { id: elsewhere, administrator } = await addAccount(sending.app, 'Elsewhere');
    for (const [method, path, body] of [
      ['POST', '', { action: 'cancel', filter: {} }],
      ['GET', `/${begun.id}`, undefined],
      ['DELETE', `/${begun.id}`, undefined],
    ] as const) {
      const ask = (account: number, { headers }: Person) =>
        sending.app.call(method, `/api/v1/accounts/${account}/${bulkOf(webhook)}${path}`, body, headers);
      expect((await ask(1, agent)).status, method).to.equal(403);
      expect((await ask(1, administrator)).status, method).to.equal(404);
      expect((await ask(elsewhere, administrator)).status, method).to.equal(404);
    }
    expect(await sending.deliveriesOf(webhook, '?state=failing')).to.have.length(1);
  });
});

import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { finishRecoveries } from '../../../src/domain/endpoints/recovery.ts';
import { finishBacklogs } from '../../../src/domain/upkeep/backlogs.ts';
import { verify, type Received } from '../../support/receiver.ts';
import { fail, Sending, type Body } from '../../support/sending.ts';
import { Widget } from '../../support/widget.ts';

// An engine begins within a few milliseconds.
const longEnoughMs = 400;
const day = 86_400;
const now = () => Math.floor(Date.now() / 1000);

describe('a recovery', () => {
  const sending = Sending.use();

  const webhookOf = (): Promise<Body> => sending.webhookFor('message_created');
  const recover = (webhook: { id: number }, body: object) => sending.made(`webhooks/${webhook.id}/recover`, body, 202);

  async function progress(webhook: { id: number }, id: number): Promise<Body> {
    const { status, body } = await sending.app.get(`webhooks/${webhook.id}/recover/${id}`);
    expect(status, JSON.stringify(body)).to.equal(200);
    return body;
  }

  function done(webhook: { id: number }, id: number): Promise<Body> {
    return sending.app.eventually(async () => {
      const found = await progress(webhook, id);
      return found.state === 'done' && found;
    });
  }

  /** So many deliveries that were given up, of conversations that take turns. */
  async function lose(webhook: { id: number }, count: number, state = 'exhausted'): Promise<number[]> {
    const ids = [await sending.conversation(), await sending.conversation(), await sending.conversation()];
    await sending.app.query(
      `WITH lane AS (
         INSERT INTO lanes (account_id, endpoint_kind, endpoint_id, subject_kind, subject_id)
         SELECT 1, 'webhook', $1, 'conversation', c FROM unnest($2::bigint[]) c RETURNING id, subject_id
       ), event AS (
         INSERT INTO events (account_id, name, conversation_id, sequence, account_payload)
         SELECT 1, 'message_created', ($2::bigint[])[1 + g % 3], 1000 + g, json_build_object('number', g, 'conversation', g % 3)
         FROM generate_series(1, $3) g RETURNING id, conversation_id)
       INSERT INTO deliveries (account_id, event_id, lane_id, endpoint_kind, endpoint_id, state, attempt, failures, finished_at,
         created_at)
       SELECT 1, e.id, lane.id, 'webhook', $1, $4, 1, 1, now(), now() - interval '1 hour'
       FROM event e JOIN lane ON lane.subject_id = e.conversation_id`,
      [webhook.id, ids, count, state],
    );
    return ids;
  }

  const numbers = (received: readonly Received[]) => received.map(({ body }) => body['number'] as number);
  function expectOrder(received: readonly Received[], count: number): void {
    expect(new Set(numbers(received)).size).to.equal(count);
    expect(received).to.have.length(count);
    for (const [, of] of Map.groupBy(received, ({ body }) => body['conversation']))
      expect(numbers(of)).to.deep.equal(numbers(of).toSorted((one, other) => one - other));
  }

  it('sends what a 410 cost, in the order of each conversation and with the same ids, and nothing twice', async () => {
    const webhook = await webhookOf();
    const since = now();
    const ids = [await sending.conversation(), await sending.conversation()];
    sending.receiver.answerWith((_, response) => response.writeHead(500).end());
    for (const id of ids) await sending.say(id, `${id} 1`);
    await sending.receiver.waitFor(2);
    for (const id of ids) for (const number of [2, 3]) await sending.say(id, `${id} ${number}`);
    sending.receiver.answerWith((_, response) => response.writeHead(410).end());
    await sending.app.eventually(async () => {
      await sending.app.query('UPDATE deliveries SET next_attempt_at = now() WHERE endpoint_id = $1', [webhook.id]);
      await sending.app.query('UPDATE lanes SET due_at = now() WHERE endpoint_id = $1 AND lease_token IS NULL', [
        webhook.id,
      ]);
      sending.app.app.engine.poke();
      return !(await sending.app.get(`webhooks/${webhook.id}`)).body.active;
    });
    const refused = await sending.app.post(`webhooks/${webhook.id}/recover`, { since });
    expect([refused.status, refused.body.code]).to.deep.equal([409, 'endpoint_off']);
    const lost = await sending.app.eventually(async () => {
      const { payload } = (await sending.app.get(`webhooks/${webhook.id}/deliveries`)).body;
      return payload.every(({ state }: Body) => state === 'exhausted' || state === 'cancelled') && payload;
    });
    expect(lost).to.have.length(6);
    sending.receiver.answerWith((_, response) => response.end());
    sending.receiver.received.length = 0;
    await sending.app.patch(`webhooks/${webhook.id}`, { active: true });
    const { id, count } = await recover(webhook, { since });
    expect(count).to.equal(6);
    await sending.receiver.waitFor(6);
    for (const conversationId of ids) {
      const told = sending.receiver.received.filter(({ body }) => (body['conversation'] as Body).id === conversationId);
      expect(told.map(({ body }) => body['content'])).to.deep.equal(
        [1, 2, 3].map((number) => `${conversationId} ${number}`),
      );
    }
    for (const one of sending.receiver.received) verify(webhook.secret, one);
    const known = new Set(lost.map(({ webhook_message_id: name }: Body) => name));
    expect(new Set(sending.receiver.received.map(({ headers }) => headers['webhook-id']))).to.deep.equal(known);
    const end = await done(webhook, id);
    expect(end).to.include({ count: 6, delivered: 6, pending: 0, failing: 0, exhausted: 0, cancelled: 0 });
    const { payload } = (await sending.app.get(`webhooks/${webhook.id}/deliveries?state=delivered`)).body;
    expect(new Set(payload.map(({ trigger }: Body) => trigger))).to.deep.equal(new Set(['recover']));
    expect((await recover(webhook, { since })).count).to.equal(0);
    expect(sending.receiver.received).to.have.length(6);
  });

  it('of more than one batch is collected whole before the first is sent, and progress is counted', async function () {
    this.timeout(120_000);
    const webhook = await webhookOf();
    await lose(webhook, 2_500);
    const { id, count } = await recover(webhook, { since: now() - day });
    expect(count).to.equal(2_500);
    const begun = await progress(webhook, id);
    expect(begun).to.include({ state: 'preparing', count: 2_500, delivered: 0 });
    expect(begun.pending).to.be.within(1, 2_500);
    sending.app.app.engine.poke();
    await sleep(longEnoughMs);
    expect(sending.receiver.received).to.deep.equal([]);
    await finishRecoveries(sending.app.app.database);
    await sending.receiver.waitFor(2_500);
    expectOrder(sending.receiver.received, 2_500);
    expect(await done(webhook, id)).to.include({ delivered: 2_500, pending: 0 });
    expect((await recover(webhook, { since: now() - day })).count).to.equal(0);
  });

  it('sends all, in order, when its lanes are woken and served before all of it is collected', async function () {
    this.timeout(120_000);
    const webhook = await webhookOf();
    await lose(webhook, 2_500);
    const { id } = await recover(webhook, { since: now() - day });
    // The sweep comes later.
    const phase = (name: string) => sending.app.query('UPDATE recoveries SET phase = $2 WHERE id = $1', [id, name]);
    await phase('stopped');
    // Its endpoint has moved; the same happens when its circuit closes.
    await sending.app.patch(`webhooks/${webhook.id}`, { url: `${sending.receiver.url}/moved` });
    sending.app.app.engine.poke();
    await sending.receiver.waitFor(2_000);
    await sending.app.eventually(async () => sending.app.app.engine.inFlight === 0);
    await phase('gather');
    await finishRecoveries(sending.app.app.database);
    await sending.receiver.waitFor(2_500);
    expectOrder(sending.receiver.received, 2_500);
    expect(await done(webhook, id)).to.include({ delivered: 2_500, pending: 0 });
  });

  it('does not hold live deliveries, not even of its own conversations while it hangs', async () => {
    const webhook = await webhookOf();
    const [id] = await lose(webhook, 60);
    const hanging: (() => void)[] = [];
    sending.receiver.answerWith(({ body }, response) => {
      if (body['number'] === undefined) response.end();
      else hanging.push(() => response.end());
    });
    await recover(webhook, { since: now() - day });
    await sending.app.eventually(async () => hanging.length > 0);
    for (const text of ['one', 'two', 'three']) await sending.say(id!, text);
    const live = () => sending.receiver.received.filter(({ body }) => body['number'] === undefined);
    await sending.app.eventually(async () => live().length === 3);
    expect(live().map(({ body }) => body['content'])).to.deep.equal(['one', 'two', 'three']);
    sending.receiver.answerWith((_, response) => response.end());
    for (const answer of hanging) answer();
    await sending.app.eventually(async () => sending.receiver.received.length === 63);
    expectOrder(
      sending.receiver.received.filter(({ body }) => body['number'] !== undefined),
      60,
    );
  });

  it('takes what was asked for: a time, from its first moment up to its last, which is outside, and states', async () => {
    const webhook = await webhookOf();
    await sending.app.post(`webhooks/${webhook.id}/pause`);
    await lose(webhook, 3);
    await lose(webhook, 4, 'cancelled');
    const at = now() - 5 * day;
    const [found] = await sending.app.query<{ id: number }>(
      'SELECT min(id) AS id FROM deliveries WHERE endpoint_id = $1',
      [webhook.id],
    );
    await sending.app.query('UPDATE deliveries SET created_at = to_timestamp($2) WHERE id = $1', [found!.id, at]);
    const count = async (body: object) => {
      const { id, count: counted } = await recover(webhook, body);
      expect((await progress(webhook, id)).pending).to.equal(counted);
      return counted;
    };
    expect(await count({ since: at + 1, until: at + day })).to.equal(0);
    expect(await count({ since: at - day, until: at })).to.equal(0);
    expect(await count({ since: at, until: at + 1, states: ['cancelled'] })).to.equal(0);
    expect(await count({ since: at, until: at + 1 })).to.equal(1);
    expect(await count({ since: at, states: ['exhausted'] })).to.equal(2);
    expect(await count({ since: at, states: ['cancelled'] })).to.equal(4);
    expect(await count({ since: at })).to.equal(0);
  });

  it('sends nothing that was given up after it began', async () => {
    const webhook = await webhookOf();
    await sending.app.post(`webhooks/${webhook.id}/pause`);
    await lose(webhook, 2_100);
    await sending.app.query(
      `UPDATE deliveries SET state = 'pending', finished_at = NULL WHERE id = (SELECT max(id) FROM deliveries WHERE endpoint_id = $1)`,
      [webhook.id],
    );
    const { id, count } = await recover(webhook, { since: now() - day });
    expect(count).to.equal(2_099);
    await sending.app.query(
      `UPDATE deliveries SET state = 'exhausted', finished_at = now() WHERE state = 'pending' AND endpoint_id = $1 AND trigger = 'live'`,
      [webhook.id],
    );
    await finishRecoveries(sending.app.app.database);
    expect(await progress(webhook, id)).to.include({ state: 'sending', pending: 2_099 });
  });

  it('does not send what is pending, or has arrived, by a resend', async () => {
    const webhook = await webhookOf();
    await lose(webhook, 2);
    const [newer, older] = (await sending.app.get(`webhooks/${webhook.id}/deliveries`)).body.payload;
    await sending.made(`deliveries/${older.id}/resend`, {}, 202);
    await sending.receiver.waitFor(1);
    await sending.app.post(`webhooks/${webhook.id}/pause`);
    await sending.made(`deliveries/${newer.id}/resend`, {}, 202);
    expect((await recover(webhook, { since: now() - day })).count).to.equal(0);
  });

  it('sends neither samples nor what is fleeting', async () => {
    const webhook = await sending.webhookFor('message_created', 'conversation_typing_on');
    sending.receiver.answerWith(fail);
    const inbox = await Widget.create(sending.app, { channel_type: 'Channel::Api' });
    const { source_id: source } = (await inbox.call('POST', 'contacts', { name: 'Tina' })).body;
    const at = `contacts/${source}/conversations`;
    const { id: conversation } = (await inbox.call('POST', at, {})).body;
    await inbox.call('POST', `${at}/${conversation}/toggle_typing`, { typing_status: 'on' });
    await sending.eventuallyIn(webhook, 'exhausted');
    await sending.made(`webhooks/${webhook.id}/test`, {}, 202);
    await sending.eventuallyIn(webhook, 'exhausted', 2);
    await sending.say(conversation, 'wanted');
    await sending.eventuallyIn(webhook, 'failing');
    await sending.app.post(`webhooks/${webhook.id}/cancel_pending`);
    await sending.eventuallyIn(webhook, 'cancelled');
    sending.receiver.answerWith((_, response) => response.end());
    sending.receiver.received.length = 0;
    const { id, count } = await recover(webhook, { since: now() - day });
    expect(count).to.equal(1);
    expect(await done(webhook, id)).to.include({ delivered: 1, pending: 0, failing: 0 });
    expect(sending.contents).to.deep.equal(['wanted']);
    // One by one they are sent to whoever asks.
    const [newest] = await sending.deliveriesOf(webhook, '?state=exhausted');
    await sending.made(`deliveries/${newest.id}/resend`, {}, 202);
    await sending.receiver.waitFor(2);
    expect(sending.receiver.received.at(-1)!.headers['webhook-test']).to.equal('true');
  });

  it('stops when the webhook is switched off, and what it made is cancelled', async () => {
    const webhook = await webhookOf();
    await sending.app.post(`webhooks/${webhook.id}/pause`);
    await lose(webhook, 2_100);
    const { id } = await recover(webhook, { since: now() - day });
    await sending.app.patch(`webhooks/${webhook.id}`, { active: false });
    await finishRecoveries(sending.app.app.database);
    const stopped = await sending.app.eventually(async () => {
      const found = await progress(webhook, id);
      return found.pending === 0 && found;
    });
    expect(stopped).to.include({ state: 'stopped', count: 2_100, delivered: 0 });
    expect(stopped.cancelled).to.be.above(0);
    expect(sending.receiver.received).to.deep.equal([]);
  });

  for (const [title, act] of [
    ['what waits is cancelled', (at: string) => sending.app.post(`${at}/cancel_pending`)],
    [
      'the webhook is switched off and on again',
      async (at: string) => {
        await sending.app.patch(at, { active: false });
        return sending.app.patch(at, { active: true });
      },
    ],
  ] as const) {
    it(`sends nothing any more when ${title} while it collects`, async function () {
      this.timeout(120_000);
      const webhook = await webhookOf();
      await sending.app.post(`webhooks/${webhook.id}/pause`);
      await lose(webhook, 2_100);
      const { id } = await recover(webhook, { since: now() - day });
      expect((await act(`webhooks/${webhook.id}`)).status).to.equal(200);
      await finishRecoveries(sending.app.app.database);
      await sending.app.post(`webhooks/${webhook.id}/resume`);
      const stopped = await sending.app.eventually(async () => {
        await finishBacklogs(sending.app.app.database);
        const found = await progress(webhook, id);
        return found.pending === 0 && found;
      });
      expect(stopped).to.include({ count: 2_100, delivered: 0, failing: 0, exhausted: 0 });
      expect(stopped.state).to.be.oneOf(['stopped', 'done']);
      expect(sending.receiver.received).to.deep.equal([]);
      // What was cancelled, and what it had not come to, can be asked for again.
      await recover(webhook, { since: now() - day });
      await finishRecoveries(sending.app.app.database);
      await sending.receiver.waitFor(2_100, 60_000);
      expectOrder(sending.receiver.received, 2_100);
    });
  }

  it('is refused without a beginning, for a time that ends before it begins, and of what is not there', async () => {
    const webhook = await webhookOf();
    const refused = async (body: object) => {
      const { status, body: answer } = await sending.app.post(`webhooks/${webhook.id}/recover`, body);
      return [status, answer.details[0].path];
    };
    expect(await refused({})).to.deep.equal([422, '/since']);
    expect(await refused({ since: now(), until: now() - 10 })).to.deep.equal([422, '/until']);
    expect(await refused({ since: now() + day })).to.deep.equal([422, '/since']);
    expect(await refused({ since: now() - day, states: ['delivered'] })).to.deep.equal([422, '/states/0']);
    expect((await sending.app.get(`webhooks/${webhook.id}/recover/999999`)).status).to.equal(404);
    const other = await webhookOf();
    const { id } = await recover(webhook, { since: now() - day });
    expect((await sending.app.get(`webhooks/${other.id}/recover/${id}`)).status).to.equal(404);
  });
});

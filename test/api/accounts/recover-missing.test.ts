import { expect } from 'chai';
import { readLedger } from '../../../src/deliveries/log/ledger.ts';
import { finishRecoveries } from '../../../src/domain/endpoints/recovery.ts';
import type { Received } from '../../support/receiver.ts';
import { Sending, type Body } from '../../support/sending.ts';
import { Widget } from '../../support/widget.ts';

const day = 86_400;
const now = () => Math.floor(Date.now() / 1000);

describe('a recovery of missing events', () => {
  const sending = Sending.use();
  // Events of earlier tests are older than a test's own.
  let since: number;

  beforeEach(async () => {
    await sending.app.query(`UPDATE events SET created_at = created_at - interval '2 days'`);
    since = now() - day;
  });

  const recover = (webhook: { id: number }, body: object = {}): Promise<Body> =>
    sending.made(`webhooks/${webhook.id}/recover`, { since, missing: true, ...body }, 202);
  const progress = async (webhook: { id: number }, id: number): Promise<Body> =>
    (await sending.app.get(`webhooks/${webhook.id}/recover/${id}`)).body;
  const done = (webhook: { id: number }, id: number): Promise<Body> =>
    sending.app.eventually(async () => {
      const found = await progress(webhook, id);
      return found.state === 'done' && found;
    });
  const placed = () =>
    sending.app.eventually(async () => (await sending.app.query('SELECT FROM unplaced_events')).length === 0);

  /** So many events of conversations that take turns, a second apart up to a minute ago, which nobody was subscribed to. */
  async function happen(count: number): Promise<void> {
    const ids = [await sending.conversation(), await sending.conversation(), await sending.conversation()];
    await sending.app.query(
      `WITH event AS (
         INSERT INTO events (account_id, name, conversation_id, sequence, account_payload, created_at)
         SELECT 1, 'message_created', ($1::bigint[])[1 + g % 3], 1000 + g, json_build_object('number', g, 'conversation', g % 3),
           now() - interval '1 minute' - ($2 - g) * interval '1 second'
         FROM generate_series(1, $2::int) g RETURNING id)
       INSERT INTO unplaced_events (event_id, account_id) SELECT id, 1 FROM event`,
      [ids, count],
    );
    sending.app.app.engine.poke();
    await sending.say(ids[0]!, 'placed with the others');
    await placed();
  }

  function expectOrder(received: readonly Received[], count: number): void {
    const numbers = received.map(({ body }) => body['number'] as number);
    expect(new Set(numbers).size).to.equal(count);
    for (const [, of] of Map.groupBy(received, ({ body }) => body['conversation'])) {
      const own = of.map(({ body }) => body['number'] as number);
      expect(own).to.deep.equal(own.toSorted((one, other) => one - other));
    }
  }

  it('sends what happened before the webhook was created, in the order of each conversation, once, and marked', async () => {
    const ids = [await sending.conversation(), await sending.conversation()];
    for (const number of [1, 2, 3]) for (const id of ids) await sending.say(id, `${id} ${number}`);
    const webhook = await sending.webhookFor('message_created', 'contact_created');
    const { id, count, missing } = await recover(webhook);
    expect([count, missing]).to.deep.equal([8, 8]);
    expect(await done(webhook, id)).to.include({ count: 8, missing: 8, delivered: 8, pending: 0, failing: 0 });
    for (const conversation of ids) {
      const told = sending.receiver.received.filter(({ body }) => (body['conversation'] as Body)?.id === conversation);
      expect(told.map(({ body }) => body['content'])).to.deep.equal([1, 2, 3].map((n) => `${conversation} ${n}`));
    }
    const log = await sending.deliveriesOf(webhook);
    expect(new Set(log.map(({ trigger }) => trigger))).to.deep.equal(new Set(['recover']));
    expect((await recover(webhook)).count).to.equal(0);
    await sending.say(ids[0]!, 'live');
    await sending.receiver.waitFor(9);
    expect(sending.contents.at(-1)).to.equal('live');
    expect((await recover(webhook)).count).to.equal(0);
    expect(await readLedger({ databaseUrl: sending.app.databaseUrl, holdAttempts: 3, timeoutMs: 0 })).to.include({
      ok: true,
    });
  });

  it('sends what happened while it was off beside what was cancelled, and counts both', async () => {
    const webhook = await sending.webhookFor('message_created');
    const conversation = await sending.conversation();
    await sending.say(conversation, 'before');
    await sending.receiver.waitFor(1);
    await sending.made(`webhooks/${webhook.id}/pause`, {}, 200);
    await sending.say(conversation, 'cancelled');
    await sending.app.patch(`webhooks/${webhook.id}`, { active: false });
    await sending.made(`webhooks/${webhook.id}/resume`, {}, 200);
    for (const text of ['off 1', 'off 2']) await sending.say(conversation, text);
    expect((await sending.app.post(`webhooks/${webhook.id}/recover`, { since, missing: true })).status).to.equal(409);
    await sending.app.patch(`webhooks/${webhook.id}`, { active: true });
    await sending.say(conversation, 'after');
    await sending.receiver.waitFor(2);
    expect(await sending.made(`webhooks/${webhook.id}/recover`, { since, until: now() - day + 1 }, 202)).to.include({
      count: 0,
      missing: 0,
    });
    const { id, count, missing } = await recover(webhook);
    expect([count, missing]).to.deep.equal([3, 2]);
    expect(await done(webhook, id)).to.include({ delivered: 3 });
    expect(sending.contents).to.deep.equal(['before', 'after', 'cancelled', 'off 1', 'off 2']);
  });

  it('asks the present subscriptions and the inbox, and leaves out what is fleeting and what is about itself', async () => {
    const inbox = await Widget.create(sending.app, { channel_type: 'Channel::Api' });
    const { source_id: source } = (await inbox.call('POST', 'contacts', { name: 'Tina' })).body;
    const at = `contacts/${source}/conversations`;
    const { id } = (await inbox.call('POST', at, {})).body;
    await inbox.call('POST', `${at}/${id}/toggle_typing`, { typing_status: 'on' });
    await sending.say(id, 'of this inbox');
    await sending.say(await sending.conversation(), 'of another inbox');
    const { inbox_id: inboxId } = (await sending.app.get(`conversations/${id}`)).body;
    const subscriptions = ['message_created', 'conversation_typing_on', 'webhook_disabled'];
    const webhook = await sending.made('webhooks', { url: sending.receiver.url, subscriptions, inbox_id: inboxId });
    expect((await recover(webhook)).count).to.equal(1);
    await sending.receiver.waitFor(1);
    expect(sending.contents).to.deep.equal(['of this inbox']);
    const filter = { all: [{ attribute: 'inbox_id', operator: 'not_equal_to', values: [inboxId] }] };
    const filtered = await sending.made('webhooks', { url: sending.receiver.url, subscriptions, filter });
    expect((await recover(filtered)).missing).to.equal(1);
    await sending.receiver.waitFor(2);
    expect(sending.contents).to.deep.equal(['of this inbox', 'of another inbox']);
    await sending.app.delete(`webhooks/${filtered.id}`);
    // Both hear all inboxes, and are switched off by their receiver, one after the other.
    sending.receiver.answerWith((_, response) => response.writeHead(410).end());
    const off = ({ id: which }: Body) =>
      sending.app.eventually(async () => !(await sending.app.get(`webhooks/${which}`)).body.active);
    await sending.say(id, 'gone');
    await off(webhook);
    const other = await sending.made('webhooks', { url: sending.receiver.url, subscriptions });
    await sending.say(id, 'gone, too');
    await off(other);
    sending.receiver.answerWith((_, response) => response.end());
    sending.receiver.received.length = 0;
    await sending.app.patch(`webhooks/${other.id}`, { active: true });
    const { id: recovery, missing, count } = await recover(other);
    expect([missing, count]).to.deep.equal([4, 5]);
    expect(await done(other, recovery)).to.include({ delivered: 5 });
    const disabled = sending.receiver.received.filter(({ body }) => body['event'] === 'webhook_disabled');
    expect(disabled.map(({ body }) => (body['webhook'] as Body).id)).to.deep.equal([webhook.id]);
  });

  it('sends deletions, of which only the event is left', async () => {
    const { id } = await sending.made('contacts', { name: 'Ada' });
    expect((await sending.app.delete(`contacts/${id}`)).status).to.equal(200);
    const webhook = await sending.webhookFor('contact_deleted', 'contact_created');
    expect((await recover(webhook)).count).to.equal(1);
    await sending.receiver.waitFor(1);
    expect(sending.receiver.received[0]!.body).to.include({ event: 'contact_deleted', id });
    const lanes = await sending.app.query(
      `SELECT subject_kind, subject_id FROM lanes WHERE endpoint_kind = 'webhook' AND endpoint_id = $1`,
      [webhook.id],
    );
    expect(lanes).to.deep.equal([{ subject_kind: 'contact', subject_id: id }]);
  });

  it('takes a time from its first moment up to its last, which is outside, wherever it lies in the feed', async () => {
    await happen(3_000);
    const webhook = await sending.webhookFor('message_created');
    await sending.made(`webhooks/${webhook.id}/pause`, {}, 200);
    const [of] = await sending.app.query<{ at: number }>(
      `SELECT floor(extract(epoch FROM min(created_at)))::int AS at FROM events WHERE sequence > 1000 AND created_at > now() - interval '1 day'`,
    );
    const at = of!.at + 1;
    expect((await recover(webhook, { since: at, until: at + 7 })).missing).to.equal(7);
    expect((await recover(webhook, { since: at - 1, until: at + 8 })).missing).to.equal(2);
    expect((await recover(webhook, { since: at + 2_900, until: at + 3_000 })).missing).to.equal(99);
    expect((await recover(webhook, { since: at - day, until: at - 100 })).missing).to.equal(0);
  });

  it('of more than one batch is collected whole before the first is sent, in order', async function () {
    this.timeout(120_000);
    await happen(1_500);
    const webhook = await sending.webhookFor('message_created');
    const { id, count, missing } = await recover(webhook);
    expect([count, missing]).to.deep.equal([1_501, 1_501]);
    expect(await progress(webhook, id)).to.include({ state: 'preparing', delivered: 0 });
    await finishRecoveries(sending.app.app.database);
    expect(await done(webhook, id)).to.include({ delivered: 1_501, pending: 0, count: 1_501, missing: 1_501 });
    expectOrder(
      sending.receiver.received.filter(({ body }) => body['number'] !== undefined),
      1_500,
    );
  });

  for (const [title, act] of [
    ['it is switched off', (at: string) => sending.app.patch(at, { active: false })],
    ['what waits is cancelled', (at: string) => sending.app.post(`${at}/cancel_pending`)],
  ] as const) {
    it(`stops when ${title}`, async () => {
      await happen(1_500);
      const webhook = await sending.webhookFor('message_created');
      await sending.made(`webhooks/${webhook.id}/pause`, {}, 200);
      const { id } = await recover(webhook);
      expect((await act(`webhooks/${webhook.id}`)).status).to.equal(200);
      await finishRecoveries(sending.app.app.database);
      const stopped = await sending.app.eventually(async () => {
        const found = await progress(webhook, id);
        return found.pending === 0 && found;
      });
      expect(stopped).to.include({ state: 'stopped', delivered: 0 });
      expect(stopped.cancelled).to.be.within(1, 1_000);
      expect(sending.receiver.received).to.deep.equal([]);
    });
  }

  it('asked for twice at once makes one delivery of each event', async () => {
    const conversation = await sending.conversation();
    for (let number = 1; number <= 20; number++) await sending.say(conversation, String(number));
    const webhook = await sending.webhookFor('message_created');
    const both = await Promise.all([recover(webhook), recover(webhook)]);
    for (const { id } of both) await done(webhook, id);
    expect(sending.contents).to.deep.equal(Array.from({ length: 20 }, (_, index) => String(index + 1)));
    const found = await Promise.all(both.map(({ id }) => progress(webhook, id)));
    expect(found.map(({ missing }) => missing)).to.have.members([0, 20]);
  });

  it('sends events of the format chatwoot in it, and in the default format where they have no such body', async () => {
    const conversation = await sending.conversation();
    await sending.say(conversation, 'before any');
    const url = sending.receiver.url;
    const webhook = await sending.made('webhooks', { url, subscriptions: ['message_created'], format: 'chatwoot' });
    await sending.say(conversation, 'live');
    await sending.receiver.waitFor(1);
    const later = await sending.made('webhooks', { url, subscriptions: ['message_created'], format: 'chatwoot' });
    await done(later, (await recover(later)).id);
    const [live, before, again] = sending.receiver.received;
    expect(before!.body).to.include({ content: 'before any' }).and.have.property('contact');
    expect(again!.text).to.equal(live!.text);
    expect((await recover(webhook)).missing).to.equal(1);
  });

  it('is refused for a bot, whose events were somebody else’s', async () => {
    const bot = await sending.made('agent_bots', { name: 'Remote', outgoing_url: 'https://example.com/bot' });
    const { status, body } = await sending.app.post(`agent_bots/${bot.id}/recover`, { since, missing: true });
    expect([status, body.details?.[0]?.path]).to.deep.equal([422, '/missing']);
  });
});

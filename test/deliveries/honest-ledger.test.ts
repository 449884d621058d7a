import { expect } from 'chai';
import type { Ledger } from '../../src/deliveries/log/ledger.ts';
import { finishRecoveries } from '../../src/domain/endpoints/recovery.ts';
import { finishBacklogs } from '../../src/domain/upkeep/backlogs.ts';
import { finishErasures } from '../../src/domain/contacts/erasure.ts';
import { fail, Sending, type Body } from '../support/sending.ts';

const succeed = (_: unknown, response: { end: () => void }): void => response.end();

/** What people may do to deliveries at any moment; the ledger finds nothing, neither meanwhile nor at the end. */
describe('the ledger finds nothing', function () {
  this.timeout(60_000);
  const sending = Sending.use();

  /** What the ledger finds, with samples. */
  async function broken(): Promise<unknown[]> {
    const { status, body } = await sending.app.get('/platform/api/v1/ledger');
    expect(status).to.equal(200);
    return (body as Ledger).invariants.filter(({ violations }) => violations > 0);
  }

  /** Has what waits for its next attempt tried at that moment, which is SQL. */
  async function dueAt({ id }: { id: number }, moment: string): Promise<void> {
    await sending.app.query(
      `UPDATE deliveries SET next_attempt_at = ${moment} WHERE endpoint_id = $1 AND state = 'pending' AND lease_token IS NULL`,
      [id],
    );
    await sending.app.query(
      `UPDATE lanes SET due_at = ${moment} WHERE endpoint_id = $1 AND lease_token IS NULL AND due_at IS NOT NULL`,
      [id],
    );
    sending.app.app.engine.poke();
  }

  // On a slow machine a receiver that was kept waiting is tried again.
  const settled = (webhook: { id: number }) =>
    sending.app.eventually(async () => {
      await finishBacklogs(sending.app.app.database);
      await dueAt(webhook, 'now()');
      return (await sending.app.query(`SELECT FROM deliveries WHERE state = 'pending'`)).length === 0;
    });

  /** The ids of the webhook's deliveries of the state, by the content of their messages. */
  async function waiting(webhook: { id: number }, state: string): Promise<Map<unknown, number>> {
    const found = await sending.deliveriesOf(webhook, `?state=${state}`);
    const bodies = await Promise.all(
      found.map(
        async ({ id }) =>
          (
            await sending.app.query<{ content: string }>(
              `SELECT e.account_payload ->> 'content' AS content FROM deliveries d JOIN events e ON e.id = d.event_id WHERE d.id = $1`,
              [id],
            )
          )[0]!.content,
      ),
    );
    return new Map(found.map(({ id }, index) => [bodies[index], id as number]));
  }

  it('when a resend overtakes what its original waited behind', async () => {
    const webhook = await sending.webhookFor('message_created');
    sending.receiver.answerWith((received, response) =>
      received.body['content'] === 'one' ? fail(received, response) : response.end(),
    );
    const id = await sending.conversation();
    await sending.say(id, 'one');
    await sending.eventuallyIn(webhook, 'failing');
    await dueAt(webhook, `now() + interval '1 hour'`);
    for (const text of ['two', 'three']) await sending.say(id, text);
    const behind = await waiting(webhook, 'pending');
    const copy = await sending.made(`deliveries/${behind.get('two')}/resend`, {}, 202);
    await sending.app.eventually(async () => (await sending.stateOf(copy.id)) === 'delivered');
    expect(await sending.stateOf(behind.get('two')!)).to.equal('delivered');
    expect(await broken()).to.deep.equal([]);
    sending.receiver.answerWith(succeed);
    await dueAt(webhook, 'now()');
    await sending.eventuallyIn(webhook, 'delivered', 4);
    expect(sending.contents).to.deep.equal(['one', 'two', 'one', 'three']);
    expect(await broken()).to.deep.equal([]);
  });

  it('when what waits is cancelled while an attempt is running, and is recovered', async () => {
    const webhook = await sending.webhookFor('message_created');
    const { promise: end, resolve } = Promise.withResolvers<void>();
    sending.receiver.answerWith((received, response) => void end.then(() => fail(received, response)));
    const ids = [await sending.conversation(), await sending.conversation()];
    for (const id of ids) for (const text of ['one', 'two']) await sending.say(id, text);
    await sending.receiver.waitFor(1);
    expect(await broken()).to.deep.equal([]);
    await sending.app.post(`webhooks/${webhook.id}/cancel_pending`);
    expect(await broken()).to.deep.equal([]);
    resolve();
    await sending.app.eventually(async () => {
      await finishBacklogs(sending.app.app.database);
      return (await sending.deliveriesOf(webhook, '?state=cancelled')).length === 4;
    });
    expect(await broken()).to.deep.equal([]);
    sending.receiver.answerWith(succeed);
    await sending.made(`webhooks/${webhook.id}/recover`, { since: 1 }, 202);
    expect(await broken()).to.deep.equal([]);
    await finishRecoveries(sending.app.app.database);
    await sending.eventuallyIn(webhook, 'delivered', 4);
    expect(await broken()).to.deep.equal([]);
  });

  it('when the webhook is deleted while its attempts are running', async () => {
    const webhook = await sending.webhookFor('message_created');
    const { promise: end, resolve } = Promise.withResolvers<void>();
    sending.receiver.answerWith((_, response) => void end.then(() => response.end()));
    const id = await sending.conversation();
    for (const text of ['one', 'two']) await sending.say(id, text);
    await sending.receiver.waitFor(1);
    await sending.app.delete(`webhooks/${webhook.id}`);
    expect(await broken()).to.deep.equal([]);
    resolve();
    await sending.app.eventually(async () => {
      await finishBacklogs(sending.app.app.database);
      const { payload } = (await sending.app.get(`deliveries?conversation_id=${id}`)).body;
      return payload.every(({ state }: Body) => state === 'delivered' || state === 'cancelled');
    });
    expect(await broken()).to.deep.equal([]);
  });

  it('when a contact is erased, merged, or its conversation deleted, while deliveries run, wait and are asked for', async () => {
    const webhook = await sending.webhookFor(
      'message_created',
      'contact_created',
      'contact_deleted',
      'conversation_deleted',
    );
    const { promise: end, resolve } = Promise.withResolvers<void>();
    sending.receiver.answerWith((_, response) => void end.then(() => response.end()));
    const contacts: number[] = [];
    const conversations: number[] = [];
    for (let count = 0; count < 3; count += 1) {
      const id = await sending.conversation();
      conversations.push(id);
      contacts.push((await sending.app.get(`conversations/${id}`)).body.contact.id as number);
      await sending.say(id, 'one');
    }
    await sending.receiver.waitFor(1);
    for (const id of conversations) await sending.say(id, 'two');
    const behind = await sending.deliveriesOf(webhook, '?state=pending&event=message_created');
    for (const { id } of behind) await sending.app.post(`deliveries/${id}/resend`);
    const [erased, merged, kept] = contacts;
    expect((await sending.app.delete(`contacts/${erased}`)).status).to.equal(200);
    expect(await broken()).to.deep.equal([]);
    const merge = { base_contact_id: kept, mergee_contact_id: merged };
    expect((await sending.app.post('actions/contact_merge', merge)).status).to.equal(200);
    expect(await broken()).to.deep.equal([]);
    expect((await sending.app.delete(`conversations/${conversations[2]}`)).status).to.equal(200);
    expect(await broken()).to.deep.equal([]);
    resolve();
    await finishErasures(sending.app.app.database);
    await settled(webhook);
    expect(await broken()).to.deep.equal([]);
  });

  it('when a webhook is paused, moved, switched off and on, and tried, while its deliveries fail', async () => {
    const webhook = await sending.webhookFor('message_created');
    sending.receiver.answerWith(fail);
    const id = await sending.conversation();
    await sending.say(id, 'one');
    await sending.eventuallyIn(webhook, 'failing');
    await sending.made(`webhooks/${webhook.id}/test`, {}, 202);
    await sending.app.post(`webhooks/${webhook.id}/pause`);
    await sending.say(id, 'two');
    expect(await broken()).to.deep.equal([]);
    await sending.app.patch(`webhooks/${webhook.id}`, { url: `${sending.receiver.url}/moved` });
    await sending.app.post(`webhooks/${webhook.id}/resume`);
    await sending.app.patch(`webhooks/${webhook.id}`, { active: false });
    expect(await broken()).to.deep.equal([]);
    await sending.say(id, 'nobody is told');
    sending.receiver.answerWith(succeed);
    await sending.app.patch(`webhooks/${webhook.id}`, { active: true });
    await sending.say(id, 'three');
    await settled(webhook);
    expect(sending.contents).to.include('three');
    expect(await broken()).to.deep.equal([]);
  });

  it('when messages are read, answered, and hidden from the customer', async () => {
    const id = await sending.conversation();
    const write = (content: string, more: object) => sending.made(`conversations/${id}/messages`, { content, ...more });
    const unread = async () => (await sending.app.get(`conversations/${id}`)).body.unread_count as number;
    const steps: [() => Promise<unknown>, number][] = [
      [() => sending.say(id, 'one'), 1],
      [() => sending.say(id, 'two'), 2],
      [() => sending.app.post(`conversations/${id}/update_last_seen`), 0],
      [() => sending.say(id, 'three'), 1],
      [() => write('a note', { message_type: 'outgoing', private: true }), 1],
      [() => write('an answer', { message_type: 'outgoing' }), 0],
      [() => sending.say(id, 'four'), 1],
      [() => sending.app.post(`conversations/${id}/update_last_seen`), 0],
    ];
    for (const [step, count] of steps) {
      await step();
      expect(await unread()).to.equal(count);
      expect(await broken()).to.deep.equal([]);
    }
  });
});

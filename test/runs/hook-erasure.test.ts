import { expect } from 'chai';
import { makeHook, send } from '../support/hook-senders.ts';
import { BotHouse } from './house.ts';

const canary = 'canary@example.com';
const writes = `
  const { email, text, waits } = ctx.hook.json;
  const { id } = await ctx.contacts.findOrCreate({ email, name: 'Canary' });
  if (waits) throw new Error('of ' + email);
  const conversation = await ctx.conversations.open({ contact_id: id, inbox_id: ctx.config.inbox });
  ctx.log.info('for ' + email);
  ctx.reply(text, { conversation_id: conversation.id });`;
const shop = {
  on: { hook_received: writes },
  events: ['message_created'],
  hooks: { orders: { verify: 'none', id: '/id', key: '/email' } },
  config: { type: 'object', properties: { inbox: { type: 'integer' } } },
  permissions: { hooks: true, contacts: 'write', conversations: 'write', conversation: ['reply'] },
};

interface Handled {
  id: number;
  run_id: number;
  state: string;
}

describe('erasure of requests of hooks', function () {
  this.timeout(120_000);
  let house: BotHouse;
  let hook: { id: number; url: string };

  before(async () => {
    house = await BotHouse.open({ shop });
    await house.app.patch(`agent_bots/${house.botOf('shop')}`, { config: { inbox: house.inboxOf('shop') } });
  });
  beforeEach(async () => {
    hook = await makeHook(house.app, house.botOf('shop'), 'orders');
  });
  after(() => house.close());

  async function handled(body: object): Promise<Handled> {
    const { status, body: reply } = await send(hook.url, JSON.stringify(body));
    expect(status).to.equal(202);
    return (await house.app.eventually(async () => {
      const { body: request } = await house.app.get(`hooks/${hook.id}/requests/${reply.id}`);
      return request.state === 'waiting' ? null : request;
    })) as Handled;
  }
  const contactWith = async (email: string): Promise<number> =>
    (await house.app.get(`contacts/search?q=${email}`)).body.payload[0].id;
  const conversationOf = async (contact: number): Promise<number> =>
    (await house.app.get(`contacts/${contact}/conversations`)).body.payload[0].id;
  const rows = (text: string) =>
    house.app.query<{ name: string }>(
      `SELECT 'request' AS name FROM hook_requests WHERE strpos(concat(convert_from(body, 'UTF8'), key, headers), $1) > 0
       UNION ALL SELECT 'run' FROM bot_runs WHERE strpos(concat(calls, actions, logs, error, error_stack), $1) > 0
       UNION ALL SELECT 'event' FROM events WHERE strpos(concat(account_payload, bot_payload, facts), $1) > 0`,
      [text],
    );

  async function expectErased({ id, run_id: run }: Handled): Promise<void> {
    const { body: request } = await house.app.get(`hooks/${hook.id}/requests/${id}`);
    expect(request).to.deep.include({ outcome: 'accepted', reason: 'erased', body: null, headers: [], key: null });
    const { status, body } = await house.app.post(`hooks/${hook.id}/requests/${id}/resend`);
    expect([status, body.code]).to.deep.equal([409, 'not_kept']);
    expect((await house.app.get(`runs/${run}`)).body).to.deep.include({
      calls: [],
      actions: [],
      logs: [],
      error: null,
    });
  }

  it('deletes content and run of a request with the contact, whom a repetition does not bring back', async () => {
    const { app } = house;
    const sent = { id: 'one', email: canary, text: 'Your parcel is on its way' };
    const request = await handled(sent);
    expect(request.state).to.equal('done');
    expect(await rows(canary)).to.not.have.length(0);
    expect((await app.delete(`contacts/${await contactWith(canary)}`)).status).to.be.within(200, 202);
    expect(await rows(canary)).to.deep.equal([]);
    await expectErased(request);
    expect((await send(hook.url, JSON.stringify(sent))).body).to.deep.include({ id: request.id, duplicate: true });
    expect((await app.get(`contacts/search?q=${canary}`)).body.payload).to.have.length(0);
    expect(await app.eventNames()).to.include('contact_deleted');
  });

  it('deletes requests whose run failed after it had made the contact', async () => {
    const request = await handled({ id: 'two', email: 'failed@example.com', waits: true });
    expect(request.state).to.equal('failed');
    await house.app.delete(`contacts/${await contactWith('failed@example.com')}`);
    expect(await rows('failed@example.com')).to.deep.equal([]);
    await expectErased(request);
  });

  it('deletes those of both contacts with the one that they were merged into', async () => {
    const first = await handled({ id: 'a', email: 'a@example.com', text: 'One of two' });
    const second = await handled({ id: 'b', email: 'b@example.com', text: 'Two of two' });
    const [base, other] = [await contactWith('a@example.com'), await contactWith('b@example.com')];
    await house.app.post('actions/contact_merge', { base_contact_id: base, mergee_contact_id: other });
    await house.app.delete(`contacts/${base}`);
    await expectErased(first);
    await expectErased(second);
    expect(await rows('b@example.com')).to.deep.equal([]);
  });

  it('deletes the request that wrote a message with the message, and none beside it', async () => {
    const { app } = house;
    const [gone, kept] = [
      await handled({ id: 'm1', email: 'm@example.com', text: 'The first "text"' }),
      await handled({ id: 'm2', email: 'm@example.com', text: 'ok' }),
    ];
    const conversation = await conversationOf(await contactWith('m@example.com'));
    const { payload } = (await app.get(`conversations/${conversation}/messages`)).body;
    const [first, second] = ['The first "text"', 'ok'].map((text) =>
      payload.find(({ content }: { content: string }) => content === text),
    );
    await app.delete(`conversations/${conversation}/messages/${first.id}`);
    await expectErased(gone);
    expect((await app.get(`hooks/${hook.id}/requests/${kept.id}`)).body.body).to.include('m@example.com');
    await app.delete(`conversations/${conversation}/messages/${second.id}`);
    await expectErased(kept);
  });

  it('deletes requests that wrote into a conversation with it', async () => {
    const request = await handled({ id: 'c', email: 'c@example.com', text: 'In a conversation' });
    const conversation = await conversationOf(await contactWith('c@example.com'));
    expect((await house.app.delete(`conversations/${conversation}`)).status).to.equal(200);
    await expectErased(request);
  });

  it('does not handle a request that waits, and is erased', async () => {
    const { app } = house;
    await handled({ id: 'w1', email: 'w@example.com', text: 'Hello to you' });
    const contact = await contactWith('w@example.com');
    await app.patch('/platform/api/v1/plugins/shop', { enabled: false });
    const { body: reply } = await send(hook.url, JSON.stringify({ id: 'w2', email: 'w@example.com', text: 'Late' }));
    await app.query(
      'INSERT INTO hook_request_subjects (account_id, request_id, contact_id) SELECT account_id, id, $2 FROM hook_requests WHERE id = $1',
      [reply.id, contact],
    );
    await app.delete(`contacts/${contact}`);
    await app.patch('/platform/api/v1/plugins/shop', { enabled: true });
    await app.query(`UPDATE deliveries SET next_attempt_at = now() WHERE state = 'pending'`);
    await app.query('UPDATE lanes SET due_at = now() WHERE due_at IS NOT NULL');
    await app.eventually(async () => (await app.get(`hooks/${hook.id}/requests/${reply.id}`)).body.state === 'failed');
    expect((await app.get('contacts/search?q=w@example.com')).body.payload).to.have.length(0);
  });

  it('leaves a ledger that holds', async () => {
    const { body } = await house.app.get('/platform/api/v1/ledger');
    expect(body.ok, JSON.stringify(body)).to.equal(true);
  });
});

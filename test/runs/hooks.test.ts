import { expect } from 'chai';
import { makeHook, send } from '../support/hook-senders.ts';
import { BotHouse } from './house.ts';

const tells = `
  const { id } = await ctx.contacts.findOrCreate({ email: ctx.hook.json.email, name: 'Jo', custom_attributes: { shop: 1 } });
  const conversation = await ctx.conversations.open({ contact_id: id, inbox_id: ctx.config.inbox });
  ctx.note('Order ' + ctx.hook.json.order + ' by ' + ctx.hook.headers['x-shop'], { conversation_id: conversation.id });
  ctx.reply('Your order ' + ctx.hook.json.order + ' was sent', { conversation_id: conversation.id });`;
const shop = {
  on: { hook_received: tells },
  events: ['message_created'],
  hooks: { orders: { verify: 'none', id: '/id', key: '/order' } },
  config: { type: 'object', properties: { inbox: { type: 'integer' } } },
  permissions: { hooks: true, contacts: 'write', conversations: 'write', conversation: ['reply', 'note'] },
};
const order = {
  on: {
    hook_received:
      'if (ctx.hook.json.fails) throw new Error("poison"); ctx.log.info(ctx.hook.text, { form: ctx.hook.form });',
  },
  events: [],
  hooks: { any: { verify: 'none', id: '/id', key: '/key' } },
  permissions: { hooks: true },
};
const bare = {
  ...shop,
  on: { hook_received: 'await ctx.contacts.findOrCreate({ identifier: "x" });' },
  permissions: { hooks: true },
};

const reader = {
  ...shop,
  on: {
    hook_received: `
    const { creates, ...marks } = ctx.hook.json;
    if (creates) await ctx.contacts.findOrCreate(marks);
    ctx.log.info(JSON.stringify(await ctx.contacts.find(marks)));`,
  },
  permissions: { hooks: true, contacts: 'read', contact: ['name', 'custom_attributes'] },
};

interface Listed {
  id: number;
  state: string;
  run_id: number | null;
  outcome: string;
}

describe('runs of hooks', function () {
  this.timeout(120_000);
  let house: BotHouse;

  before(async () => {
    house = await BotHouse.open({ shop, order, bare, reader });
    const { app } = house;
    await app.patch(`agent_bots/${house.botOf('shop')}`, { config: { inbox: house.inboxOf('shop') } });
  });
  // Replays every run first: each is identical.
  after(() => house.close());

  const listed = async (hook: number): Promise<Listed[]> =>
    (await house.app.get(`hooks/${hook}/requests`)).body.payload;
  const settled = (hook: number, count: number): Promise<Listed[]> =>
    house.app.eventually(async () => {
      const found = (await listed(hook)).filter(({ outcome }) => outcome === 'accepted');
      return found.length === count && found.every(({ state }) => state !== 'waiting') ? found : null;
    }) as Promise<Listed[]>;

  it('writes to the customer whom another system names', async () => {
    const { app } = house;
    const hook = await makeHook(app, house.botOf('shop'), 'orders');
    const body = JSON.stringify({ id: 'e1', order: 'A-17', email: 'jo@example.com' });
    const headers = { 'content-type': 'application/json', 'x-shop': 'mine' };
    const { status, body: reply } = await send(hook.url, body, headers);
    expect(status).to.equal(202);
    const [request] = await settled(hook.id, 1);
    expect(request).to.include({ id: reply.id, state: 'done' });
    const run = (await app.get(`runs/${request!.run_id}`)).body;
    expect(run).to.include({ outcome: 'ok', conversation_id: null, agent_bot_id: house.botOf('shop') });
    const contacts = (await app.get('contacts/search?q=jo@example.com')).body.payload;
    expect(contacts).to.have.length(1);
    expect(contacts[0].custom_attributes).to.deep.equal({ shop: 1 });
    const said = async () => {
      const conversations = (await app.get(`contacts/${contacts[0].id}/conversations`)).body.payload;
      expect(conversations).to.have.length(1);
      const { payload } = (await app.get(`conversations/${conversations[0].id}/messages`)).body;
      return payload.map(({ content, private: isNote }: { content: string; private: boolean }) => [content, isNote]);
    };
    expect(await said()).to.deep.equal([
      ['Order A-17 by mine', true],
      ['Your order A-17 was sent', false],
    ]);
    // Twice is once; another order of the same person goes into the same conversation.
    expect((await send(hook.url, body, headers)).body.duplicate).to.equal(true);
    await send(hook.url, JSON.stringify({ id: 'e2', order: 'A-18', email: 'JO@example.com' }), headers);
    await settled(hook.id, 2);
    expect(await said()).to.have.length(4);
    expect(await app.eventNames()).to.include.members(['hook_received', 'contact_created', 'conversation_created']);
  });

  it('handles requests of a key in order, and goes on after one that fails', async () => {
    const hook = await makeHook(house.app, house.botOf('order'), 'any');
    for (let n = 0; n < 12; n += 1)
      await send(hook.url, JSON.stringify({ id: n, key: n % 2 === 0 ? 'even' : 'odd', n, fails: n === 4 }));
    const requests = await settled(hook.id, 12);
    expect(requests.filter(({ state }) => state === 'failed')).to.have.length(1);
    const runs = await house.app.query<{ body: string; outcome: string }>(
      `SELECT logs->0->>'message' AS body, outcome FROM bot_runs WHERE agent_bot_id = $1 ORDER BY id`,
      [house.botOf('order')],
    );
    const numbers = runs.filter(({ outcome }) => outcome === 'ok').map(({ body }) => JSON.parse(body).n as number);
    for (const rest of [0, 1]) {
      const own = numbers.filter((n) => n % 2 === rest);
      expect(own).to.deep.equal(own.toSorted((one, other) => one - other));
    }
    expect(numbers).to.have.length(11);
  });

  it('handles a request again where somebody wants it, and no refused one', async () => {
    const { app } = house;
    const hook = await makeHook(app, house.botOf('order'), 'any');
    const { body: reply } = await send(hook.url, '{"id":"again"}');
    const [first] = await settled(hook.id, 1);
    expect((await app.post(`hooks/${hook.id}/requests/${reply.id}/resend`)).status).to.equal(200);
    await app.eventually(async () => {
      const [now] = await listed(hook.id);
      return now!.state === 'done' && now!.run_id !== first!.run_id;
    });
    expect((await send(hook.url, '{"id":"again"}')).body.duplicate).to.equal(true);
    const [duplicate] = await listed(hook.id);
    const refused = await app.post(`hooks/${hook.id}/requests/${duplicate!.id}/resend`);
    expect([refused.status, refused.body.code]).to.deep.equal([409, 'not_kept']);
  });

  it('gives forms and texts as they came', async () => {
    const hook = await makeHook(house.app, house.botOf('order'), 'any');
    await send(hook.url, 'a=1&b=%20x%20&a=2', { 'content-type': 'application/x-www-form-urlencoded' });
    await send(hook.url, '{"id":1,"big":"\\u0000\\ud83d","__proto__":{"x":1}}');
    const [text, form] = await settled(hook.id, 2);
    expect([text!.state, form!.state]).to.deep.equal(['done', 'failed']);
  });

  it('lets nobody act without the permission', async () => {
    const hook = await makeHook(house.app, house.botOf('bare'), 'orders');
    await send(hook.url, '{"id":1}');
    const [request] = await settled(hook.id, 1);
    expect(request!.state).to.equal('failed');
    expect((await house.app.get(`runs/${request!.run_id}`)).body.error.message).to.include('permissions.contacts');
  });

  it('finds contacts for who may read them, with the fields that are granted, and creates none', async () => {
    const { app } = house;
    const known = { name: 'Ann', email: 'ann@example.com', phone_number: '+491701', identifier: 'a-1' };
    const { body } = await app.post('contacts', { ...known, custom_attributes: { tier: 'gold' } });
    const hook = await makeHook(app, house.botOf('reader'), 'orders');
    const runOf = async (marks: object): Promise<{ outcome: string; found: unknown; error: string }> => {
      const { body: reply } = await send(hook.url, JSON.stringify(marks));
      const request = await app.eventually(async () => {
        const { body: now } = await app.get(`hooks/${hook.id}/requests/${reply.id}`);
        return now.state === 'waiting' ? null : now;
      });
      const { body: run } = await app.get(`runs/${request.run_id}`);
      const [line] = run.logs as { message: string }[];
      return { outcome: run.outcome, found: line && JSON.parse(line.message), error: run.error?.message };
    };
    const ann = { id: body.id, name: 'Ann', custom_attributes: { tier: 'gold' } };
    for (const marks of [{ email: 'ANN@example.com' }, { identifier: 'a-1' }, { phone_number: '+491701' }])
      expect(await runOf(marks), JSON.stringify(marks)).to.deep.include({ outcome: 'ok', found: ann });
    expect(await runOf({ identifier: 'nobody' })).to.deep.include({ outcome: 'ok', found: null });
    expect((await runOf({})).error).to.include('One of identifier, email and phone_number');
    const refused = await runOf({ creates: true, identifier: 'new' });
    expect(refused.outcome).to.equal('forbidden_action');
    expect(refused.error).to.include('"contacts": "write"');
    expect((await app.get('contacts/search?q=new')).body.payload).to.have.length(0);
    // Recorded with the contact's fields: the requests that found it are erased with it.
    await app.delete(`contacts/${body.id}`);
    const erased = () =>
      app.query(`SELECT FROM bot_runs WHERE agent_bot_id = $1 AND strpos(concat(calls, logs), 'gold') > 0`, [
        house.botOf('reader'),
      ]);
    await app.eventually(async () => (await erased()).length === 0);
  });

  it('keeps requests while the plugin cannot run, and handles them after', async () => {
    const { app } = house;
    const hook = await makeHook(app, house.botOf('order'), 'any');
    await app.patch('/platform/api/v1/plugins/order', { enabled: false });
    expect((await send(hook.url, '{"id":"later"}')).status).to.equal(202);
    await app.eventually(async () => {
      const [waits] = await app.query<{ last_error: string | null }>(
        `SELECT error_code AS last_error FROM attempts ORDER BY id DESC LIMIT 1`,
      );
      return waits?.last_error === 'plugin_disabled';
    });
    expect((await listed(hook.id))[0]!.state).to.equal('waiting');
    await app.patch('/platform/api/v1/plugins/order', { enabled: true });
    await app.query('UPDATE lanes SET due_at = now() WHERE due_at IS NOT NULL');
    expect((await settled(hook.id, 1))[0]!.state).to.equal('done');
  });

  it('leaves a ledger that holds', async () => {
    const { body } = await house.app.get('/platform/api/v1/ledger');
    expect(body.ok, JSON.stringify(body)).to.equal(true);
  });
});

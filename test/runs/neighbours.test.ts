import { expect } from 'chai';
import { messagesOf } from '../faults/plugins.ts';
import { pluginArchive, upload } from '../support/archives.ts';
import { adminToken, type Answer } from '../support/app.ts';
import { Maker } from '../support/maker.ts';
import { addAccount } from '../support/people.ts';
import { Platform } from '../support/platform.ts';
import { BotHouse, type RunRow } from './house.ts';
import { openShop, type Shop } from './shop.ts';

// The bot does what the message says, and leaves behind what it can.
const told = `const result = await (new Function('ctx', 'secret', 'return (async () => {' + ctx.message.content + '})()'))(ctx, secret);
  ctx.note(JSON.stringify(result ?? null));`;
const top = `import { secret } from 'switchboard/bot'; globalThis.seen ??= 0;`;
const keys = { own: 'sk-own-4711', neighbour: 'sk-neighbour-0815' };

/** What a bot can leave behind for later runs, with the account's name. */
const leave = (name: string) => `
  globalThis.seen += 1; globalThis.leak = '${name}'; Object.prototype.leak = '${name}'; Array.prototype.leak = '${name}';
  JSON.leak = '${name}'; ctx.constructor.leak = '${name}';
  ctx.log.info('log of ${name}', { name: '${name}' });
  await ctx.storage.set('key', 'conversation of ${name}');
  await ctx.storage.contact.set('key', 'contact of ${name}');
  await ctx.storage.installation.set('key', 'installation of ${name}');
  ctx.schedule({ inSeconds: 3600 }, 'later', { name: '${name}' });`;

/** What a run finds of earlier ones. */
const look = `
  const kept = [await ctx.storage.get('key'), await ctx.storage.contact.get('key'), await ctx.storage.installation.get('key')];
  return { kept, global: globalThis.leak ?? null, inherited: {}.leak ?? null, seen: globalThis.seen };`;

describe('two accounts with the same plugin', function () {
  this.timeout(60_000);
  let house: BotHouse;
  let shop: Shop;
  let neighbour: Maker;
  let neighbourBot: number;
  let neighbourInbox: number;

  before(async () => {
    shop = await openShop();
    const permissions = {
      conversation: ['reply', 'note'],
      contact: ['email'],
      history: 10,
      storage: { scopes: ['conversation', 'contact', 'installation'] },
      network: { hosts: [shop.host] },
      secrets: [{ name: 'SHOP_KEY', hosts: [shop.host] }],
      schedule: true,
    };
    house = await BotHouse.open(
      { shared: { on: { message_created: told }, top, permissions } },
      { bodies: { shared: { secrets: { SHOP_KEY: keys.own } } }, config: { sandboxRunners: 1 } },
    );
    const { id, administrator } = await addAccount(house.app, 'Neighbour');
    // Who repeats the runs of both in the end.
    const { id: me } = (await house.app.get('/api/v1/profile')).body;
    await new Platform(house.app).join(id, me, 'administrator');
    neighbour = new Maker(house.app, id, { mark: 'Neighbour', administrator });
    neighbourBot = await neighbour.post('agent_bots', {
      name: 'shared',
      kind: 'plugin',
      plugin_id: 'shared',
      secrets: { SHOP_KEY: keys.neighbour },
    });
    neighbourInbox = await neighbour.inbox();
    await neighbour.call('POST', `inboxes/${neighbourInbox}/set_agent_bot`, { agent_bot: neighbourBot });
  });
  after(async () => {
    await house.close();
    shop.close();
  });

  /** Has the bot of this account do what the code says, in a new conversation, or in this one. */
  async function own(code: string, given?: number): Promise<{ id: number; run: RunRow }> {
    const id = given ?? (await house.conversation('shared'));
    const run = await house.ask(id, code);
    expect(run.error, code).to.equal(null);
    return { id, run };
  }

  /** The same in the other account. */
  async function beside(code: string): Promise<{ id: number; run: RunRow }> {
    const id = await neighbour.conversation(neighbourInbox);
    await neighbour.message(id, { content: code });
    const run = await house.runAfter(id, 0);
    expect(run.error, code).to.equal(null);
    return { id, run };
  }
  const resultOf = ({ run }: { run: RunRow }): unknown => JSON.parse(run.actions.at(-1)!.content as string);

  it('nothing that a run leaves is found by a run of the other account', async () => {
    const first = await own(leave('own'));
    expect(resultOf(await beside(look))).to.deep.equal({
      kept: [null, null, null],
      global: null,
      inherited: null,
      seen: 0,
    });
    await beside(leave('neighbour'));
    expect(resultOf(await own(look, first.id))).to.deep.equal({
      kept: ['conversation of own', 'contact of own', 'installation of own'],
      global: null,
      inherited: null,
      seen: 0,
    });
    const rows = await house.app.query<{ account_id: number; agent_bot_id: number; value: string }>(
      'SELECT account_id, agent_bot_id, value FROM bot_storage',
    );
    expect(rows).to.have.length(6);
    for (const { account_id: account, agent_bot_id: bot, value } of rows) {
      expect([account, bot]).to.deep.equal(
        JSON.stringify(value).includes('neighbour') ? [neighbour.accountId, neighbourBot] : [1, house.botOf('shared')],
      );
    }
    const called = await house.app.query(
      `SELECT s.account_id, s.data->>'name' AS name, c.account_id AS of_conversation
       FROM bot_schedules s JOIN conversations c ON c.id = s.conversation_id ORDER BY 1`,
    );
    expect(called).to.deep.equal([
      { account_id: 1, name: 'own', of_conversation: 1 },
      { account_id: neighbour.accountId, name: 'neighbour', of_conversation: neighbour.accountId },
    ]);
  });

  it('even at the same time in the same process, each keeps its own', async () => {
    const count = `await ctx.fetch('https://${shop.host}/slow'); return ctx.storage.installation.incr('visits')`;
    const both = await Promise.all(
      Array.from({ length: 16 }, (_, turn) => (turn % 2 === 0 ? own(count) : beside(count))),
    );
    expect(both.every(({ run }) => run.outcome === 'ok')).to.equal(true);
    const kept = await house.app.query(
      `SELECT account_id, value FROM bot_storage WHERE key = 'visits' ORDER BY account_id`,
    );
    expect(kept).to.deep.equal([
      { account_id: 1, value: 8 },
      { account_id: neighbour.accountId, value: 8 },
    ]);
  });

  it('each sends its own secret, and its records hold neither', async () => {
    shop.asked.length = 0;
    const send = `const r = await ctx.fetch('https://${shop.host}/echo', { headers: { Authorization: secret('SHOP_KEY') } }); ctx.log.info(r.text); return r.text;`;
    const [mine, theirs] = [await own(send), await beside(send)];
    expect(shop.asked.map(({ headers }) => headers.authorization)).to.deep.equal([keys.own, keys.neighbour]);
    const messages = [...(await messagesOf(house.app, mine.id)), ...(await messagesOf(house.app, theirs.id))];
    for (const key of Object.values(keys)) expect(JSON.stringify([mine, theirs, messages])).not.to.contain(key);
  });

  it('neither sees the clock, the seed or the history of the other', async () => {
    const draw = `ctx.log.info('drawn'); return [Math.random(), ctx.history.map(({ content }) => content), ctx.account.id, ctx.contact.id];`;
    const [mine, theirs] = await Promise.all([own(draw), beside(draw)]);
    const [[one, oneHistory, oneAccount], [other, otherHistory, otherAccount]] = [
      resultOf(mine) as [number, string[], number],
      resultOf(theirs) as [number, string[], number],
    ];
    expect(one).not.to.equal(other);
    expect([oneHistory, otherHistory]).to.deep.equal([[draw], [draw]]);
    expect([oneAccount, otherAccount]).to.deep.equal([1, neighbour.accountId]);
  });

  it('no run, decision or replay of one is there for the other, and settings of one change nothing for the other', async () => {
    const mine = await own('return 1');
    const [{ id: run }] = (await house.app.get(`conversations/${mine.id}/runs`)).body.payload;
    const as = (path: string, method = 'GET', body?: object): Promise<Answer> =>
      house.app.call(method, `/api/v1/accounts/${neighbour.accountId}/${path}`, body, neighbour.administrator.headers);
    for (const path of [
      `runs/${run}`,
      `agent_bots/${house.botOf('shared')}`,
      `agent_bots/${house.botOf('shared')}/runs`,
      `conversations/${mine.id}/runs`,
      `conversations/${mine.id}/agent_bot`,
    ]) {
      expect((await as(path)).status, path).to.equal(404);
    }
    expect((await as(`runs/${run}/replay`, 'POST')).status).to.equal(404);
    expect((await as(`agent_bots/${house.botOf('shared')}`, 'PATCH', { name: 'Mine' })).status).to.equal(404);
    const { payload } = (await as(`agent_bots/${neighbourBot}/runs`)).body;
    expect(payload.length).to.be.above(0);
    for (const { agent_bot_id: bot } of payload) expect(bot).to.equal(neighbourBot);
    expect((await as(`agent_bots/${neighbourBot}`, 'PATCH', { secrets: { SHOP_KEY: null } })).status).to.equal(200);
    const ask = `await ctx.fetch('https://${shop.host}/', { headers: { a: secret('SHOP_KEY') } })`;
    expect((await own(ask)).run.outcome).to.equal('ok');
  });

  it('one that fails until its bot is quarantined, leaves the bot of the other alone', async () => {
    for (let failure = 0; failure < 5; failure += 1) {
      const id = await neighbour.conversation(neighbourInbox);
      await neighbour.message(id, { content: `throw new Error('no')` });
      await house.runAfter(id, 0);
    }
    const bot = async (): Promise<Answer['body']> => (await house.app.get(`agent_bots/${house.botOf('shared')}`)).body;
    const quarantined = await neighbour.call('GET', `agent_bots/${neighbourBot}`);
    expect(quarantined.quarantine).not.to.equal(null);
    expect((await bot()).quarantine).to.equal(null);
    expect((await own('return 2')).run.outcome).to.equal('ok');
  });

  it('a plugin of an archive serves both, and an update keeps what each has stored', async () => {
    const code = (version: string) =>
      `export default { on: { async message_created(ctx) { ctx.reply('${version} ' + await ctx.storage.installation.incr('n')); } } };`;
    const manifest = (version: string) => ({
      id: 'rented',
      version,
      permissions: { conversation: ['reply'], storage: { scopes: ['installation'] } },
    });
    expect((await upload(house.app, pluginArchive(manifest('1.0.0'), code('one')))).status).to.equal(201);
    const administrator = { id: 1, headers: { api_access_token: adminToken } };
    const maker = new Maker(house.app, 1, { mark: 'Own', administrator });
    const inboxes = new Map<Maker, number>();
    for (const account of [maker, neighbour]) {
      const bot = await account.post('agent_bots', { name: 'rented', kind: 'plugin', plugin_id: 'rented' });
      const inbox = await account.inbox();
      await account.call('POST', `inboxes/${inbox}/set_agent_bot`, { agent_bot: bot });
      inboxes.set(account, inbox);
    }
    const answerIn = async (account: Maker): Promise<string> => {
      const id = await account.conversation(inboxes.get(account)!);
      await account.message(id);
      await house.runAfter(id, 0);
      return (await messagesOf(house.app, id)).at(-1)!.content;
    };
    expect([await answerIn(maker), await answerIn(maker), await answerIn(neighbour)]).to.deep.equal([
      'one 1',
      'one 2',
      'one 1',
    ]);
    expect((await upload(house.app, pluginArchive(manifest('1.1.0'), code('two')))).status).to.equal(201);
    expect([await answerIn(maker), await answerIn(neighbour)]).to.deep.equal(['two 3', 'two 2']);
  });
});

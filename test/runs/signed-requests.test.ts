import { expect } from 'chai';
import { createHash, createHmac } from 'node:crypto';
import { simulate } from 'switchboard/testing';
import { makeBot, removeBots } from '../testing/helpers.ts';
import { BotHouse, type RunRow } from './house.ts';
import { openShop, type Shop } from './shop.ts';

const top = `import { basicAuth, hmac, secret, sha256 } from 'switchboard/bot';`;
// The bot does what the message says, and notes the result or the error.
const told = `const note = (value) => ctx.note(typeof value === 'string' ? value : JSON.stringify(value));
  const kit = { ctx, basicAuth, hmac, secret, sha256 };
  try { note(await (new Function('kit', 'const { ctx, basicAuth, hmac, secret, sha256 } = kit; return (async () => (' + ctx.message.content + '))()'))(kit)); }
  catch ({ code, message }) { note({ code, message }); }`;
const key = 'key of the shop 4711';
const password = 'p4ssword/+?>~ 12';

describe('signed requests of bots', function () {
  this.timeout(60_000);
  let house: BotHouse;
  let shop: Shop;

  before(async () => {
    shop = await openShop();
    const secrets = [
      { name: 'KEY', hosts: [shop.host] },
      { name: 'USER', hosts: [shop.host] },
      { name: 'PASSWORD', hosts: [shop.host] },
      { name: 'EMPTY', hosts: [shop.host] },
      { name: 'ELSEWHERE', hosts: ['api.elsewhere.example'] },
    ];
    const network = { hosts: [shop.host, 'api.elsewhere.example'], methods: ['GET', 'POST'] };
    const permissions = { conversation: ['note'], network, secrets };
    const values = { KEY: key, USER: 'shop', PASSWORD: password, ELSEWHERE: 'another value' };
    house = await BotHouse.open(
      { told: { on: { message_created: told }, permissions, top } },
      { bodies: { told: { secrets: values } } },
    );
  });
  // Each run is replayed there.
  after(async () => {
    await house.close();
    shop.close();
    removeBots();
  });

  async function asked(code: string): Promise<RunRow> {
    await house.app.post(`agent_bots/${house.botOf('told')}/release`);
    return (await house.askAnew('told', code)).run;
  }
  async function noted(code: string): Promise<string> {
    const run = await asked(code);
    expect([run.outcome, run.error]).to.deep.equal(['ok', null]);
    return String(run.actions[0]?.content);
  }

  it('have codes of texts and bytes, by secrets and by keys of their own', async () => {
    const code = (algorithm: string, by: string | Buffer, data: string | Buffer) =>
      createHmac(algorithm, by).update(data);
    expect(await noted(`await hmac('sha256', secret('KEY'), 'body ü')`)).to.equal(
      code('sha256', key, 'body ü').digest('hex'),
    );
    expect(await noted(`await hmac('sha1', secret('KEY', 'AWS4'), 'x', 'base64')`)).to.equal(
      code('sha1', `AWS4${key}`, 'x').digest('base64'),
    );
    expect(await noted(`await hmac('sha512', new Uint8Array([0, 255]), new Uint8Array([1, 2]), 'base64url')`)).to.equal(
      code('sha512', Buffer.from([0, 255]), Buffer.from([1, 2])).digest('base64url'),
    );
    expect(await noted(`await sha256('body ü', 'base64')`)).to.equal(
      createHash('sha256').update('body ü').digest('base64'),
    );
    expect(await noted(`await sha256('')`)).to.equal(createHash('sha256').digest('hex'));
  });

  it('leave no secret in the bot and in the record of the run', async () => {
    const run = await asked(
      `[await hmac('sha256', secret('KEY'), 'x'), String(secret('KEY')), JSON.stringify(secret('KEY'))]`,
    );
    expect(run.calls.map(({ name, input }) => ({ name, input }))).to.deep.equal([
      {
        name: 'crypto.hmac',
        input: { algorithm: 'sha256', key: { $secret: 'KEY', prefix: '' }, data: 'x', encoding: 'hex' },
      },
    ]);
    expect(JSON.stringify(run)).to.not.contain(key);
  });

  it('are not signed with a secret that plugin.json does not name, even if the bot catches', async () => {
    for (const name of ['NONE', '__proto__', 'constructor']) {
      const run = await asked(`await hmac('sha256', secret('${name}'), 'x').catch(() => 'caught')`);
      expect(run.outcome, name).to.equal('forbidden_action');
      expect(run.error).to.contain(`the secret \`${name}\``);
      const basic = await asked(
        `await ctx.fetch('https://${shop.host}/echo', { headers: { authorization: basicAuth(secret('${name}'), 'x') } }).catch(() => 'caught')`,
      );
      expect(basic.outcome, name).to.equal('forbidden_action');
    }
  });

  for (const [what, code, expected] of [
    ['a secret without a value', `await hmac('sha256', secret('EMPTY'), 'x')`, 'secret_missing'],
    ['an unknown algorithm', `await hmac('md5', secret('KEY'), 'x')`, 'bad_request'],
    ['an unknown encoding', `await sha256('x', 'utf8')`, 'bad_request'],
    ['data that is none', `await sha256({ a: 1 })`, 'bad_request'],
    ['a key that is none', `await hmac('sha256', 5, 'x')`, 'bad_request'],
    ['a prefix that is none', `await hmac('sha256', { $secret: 'KEY', prefix: 5 }, 'x')`, 'bad_request'],
  ] as const) {
    it(`refuse ${what}`, async () => {
      expect(JSON.parse(await noted(code))).to.include({ code: expected });
    });
  }

  it('refuse data of 2 MB, as any call does', async () => {
    expect(await noted(`await sha256('x'.repeat(2 * 1024 * 1024)).catch(({ message }) => message)`)).to.contain(
      '65536',
    );
  });

  it('have user and password in one header, which the bot does not get to see in any answer', async () => {
    shop.asked.length = 0;
    const url = `https://${shop.host}/echo`;
    const seen = await noted(
      `(await ctx.fetch('${url}', { headers: { authorization: basicAuth(secret('USER'), secret('PASSWORD')) } })).text`,
    );
    const sent = `Basic ${Buffer.from(`shop:${password}`).toString('base64')}`;
    expect(shop.asked[0]?.headers.authorization).to.equal(sent);
    expect(seen).to.contain('[secret PASSWORD]').and.not.contain(sent.slice(-12));
    await noted(
      `(await ctx.fetch('${url}', { headers: { authorization: basicAuth('kim', secret('KEY')) } })).status + ''`,
    );
    expect(shop.asked[1]?.headers.authorization).to.equal(`Basic ${Buffer.from(`kim:${key}`).toString('base64')}`);
  });

  it('send user and password to their hosts alone, and no user with a colon', async () => {
    shop.asked.length = 0;
    const fetch = (parts: string) =>
      `await ctx.fetch('https://${shop.host}/', { headers: { authorization: basicAuth(${parts}) } })`;
    expect(JSON.parse(await noted(fetch(`secret('USER'), secret('ELSEWHERE')`)))).to.include({
      code: 'secret_host_mismatch',
    });
    expect(JSON.parse(await noted(fetch(`'a:b', secret('KEY')`)))).to.include({ code: 'bad_request' });
    expect(JSON.parse(await noted(fetch(`5, secret('KEY')`)))).to.include({ code: 'bad_request' });
    expect(JSON.parse(await noted(fetch(`secret('EMPTY'), 'x'`)))).to.include({ code: 'secret_missing' });
    expect(shop.asked).to.deep.equal([]);
  });

  it('play in a simulation, with types', async () => {
    const code = `async message_created(ctx) {
  const signature = await hmac('sha256', secret('KEY'), ctx.message.content);
  const headers = { authorization: basicAuth('kim', secret('KEY')), 'x-signature': signature };
  const { status } = await ctx.fetch('https://api.one.example/orders', { headers });
  ctx.reply(String(status));
},`;
    const secrets = [{ name: 'KEY', hosts: ['api.one.example'] }];
    const permissions = { conversation: ['reply'], network: { hosts: ['api.one.example'] }, secrets };
    const sim = await simulate(
      makeBot(code, { permissions }, `import { basicAuth, hmac, secret } from 'switchboard/bot';`),
      {
        secrets: { KEY: key },
        fetch: [{ url: 'https://api.one.example/orders', reply: { status: 204 } }],
      },
    );
    await sim.customer('Hello');
    sim.expectReply('204');
    expect(sim.requests()[0]?.headers).to.deep.equal({
      authorization: `Basic ${Buffer.from(`kim:${key}`).toString('base64')}`,
      'x-signature': createHmac('sha256', key).update('Hello').digest('hex'),
    });
  });
});

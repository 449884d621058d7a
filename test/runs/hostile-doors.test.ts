import { expect } from 'chai';
import type { AddressInfo } from 'node:net';
import { createServer, type Server } from 'node:net';
import { parseManifest } from '../../src/packages/manifest/manifest.ts';
import { PluginError } from '../../src/packages/plugin-error.ts';
import { messagesOf } from '../faults/plugins.ts';
import { manifestOf } from '../sandbox/helpers.ts';
import { BotHouse, type RunRow } from './house.ts';
import { openShop, type Shop } from './shop.ts';

// The bot does what the message says.
const told = `await (new Function('ctx', 'secret', 'return (async () => {' + ctx.message.content + '})()'))(ctx, secret);`;
const top = `import { secret } from 'switchboard/bot';`;
const caught = (code: string) => `try { await ${code}; ctx.note('done'); } catch (error) { ctx.note(error.code); }`;
const noteOf = ({ actions }: RunRow): unknown => actions.at(-1)?.content;

describe('hostile bots at the doors', function () {
  this.timeout(120_000);
  let house: BotHouse;
  let shop: Shop;
  let canary: Server;
  let port: number;
  let reached = 0;

  before(async () => {
    shop = await openShop();
    canary = createServer((socket) => {
      reached += 1;
      socket.destroy();
    });
    await new Promise<void>((resolve) => void canary.listen(0, '127.0.0.1', resolve));
    ({ port } = canary.address() as AddressInfo);
    const disguises = ['2130706433', '0x7f.1', '127.1', '0177.0.0.1', '169.254.169.254'];
    const hosts = [shop.host, `localhost:${port}`, ...disguises.map((host) => `${host}:${port}`)];
    const permissions = {
      conversation: ['reply', 'note'],
      network: { hosts, methods: ['GET', 'POST'] },
      storage: { scopes: ['conversation'] },
      secrets: [{ name: 'SHOP_KEY', hosts: [shop.host] }],
      schedule: true,
    };
    const bot = { on: { message_created: told }, top, permissions };
    const keeper = { ...bot, permissions: { ...permissions, conversation: ['reply', 'note', 'attributes', 'label'] } };
    house = await BotHouse.open(
      { inside: bot, outside: bot, keeper },
      {
        bodies: { inside: { secrets: { SHOP_KEY: 'sk-4711' } }, keeper: { secrets: { SHOP_KEY: 'pier/7+k9Zq' } } },
        config: { botFetchTimeoutMs: 3_000 },
      },
    );
  });
  after(async () => {
    await house.close();
    shop.close();
    canary.close();
  });
  beforeEach(async () => {
    reached = 0;
    for (const id of ['inside', 'outside']) await house.app.post(`agent_bots/${house.botOf(id)}/release`);
  });

  const ask = async (code: string): Promise<RunRow> => (await house.askAnew('inside', code)).run;

  it('H50 a manifest may list no address that is not one of names, and no disguise of one leads anywhere', async () => {
    for (const host of ['[::1]', '[::ffff:10.0.0.1]', 'user@shop.example', 'shop.example/path', '*', '*.example'])
      expect(() => parseManifest(manifestOf({ permissions: { network: { hosts: [host] } } })), host).to.throw(
        PluginError,
      );
    for (const host of ['2130706433', '0x7f.1', '127.1', '0177.0.0.1', '[::1]', '[::ffff:127.0.0.1]', '0.0.0.0']) {
      const run = await ask(caught(`ctx.fetch('https://${host}:${port}/')`));
      expect(noteOf(run), host).to.be.oneOf(['network_denied', 'bad_url', 'blocked_address']);
    }
    expect(noteOf(await ask(caught(`ctx.fetch('https://169.254.169.254:${port}/')`)))).to.be.oneOf([
      'network_denied',
      'bad_url',
      'blocked_address',
    ]);
    expect(reached).to.equal(0);
  });

  it('H53 a host is compared as the connection would take it', async () => {
    const run = await ask(
      `const seen = [];
       for (const url of ['https://LOCALHOST:${port}.evil.example/', 'https://evil.example\\\\@localhost:${port}/', 'https://loc\\u0430lhost:${port}/',
         'https://xn--loclhost-8fg:${port}/', 'https://localhost%2eevil.example/', 'https:localhost.evil.example', ' https://evil.example/?https://localhost:${port}/'])
         try { await ctx.fetch(url); seen.push('sent'); } catch (error) { seen.push(error.code); }
       ctx.note(seen.join());`,
    );
    expect(String(noteOf(run)).split(',')).to.have.length(7);
    for (const code of String(noteOf(run)).split(',')) expect(code).to.be.oneOf(['network_denied', 'bad_url']);
    expect(reached).to.equal(0);
  });

  it('H55 an answer that drips ends with an error that the bot can catch', async () => {
    const run = await ask(caught(`ctx.fetch('https://${shop.host}/drip')`));
    expect(run.outcome).to.equal('ok');
    expect(noteOf(run)).to.be.oneOf(['incomplete', 'timeout']);
  });

  it('fetch gets no request that no bot could have meant', async () => {
    for (const code of [
      `ctx.fetch()`,
      `ctx.fetch(null)`,
      `ctx.fetch({ toString() { return 'https://${shop.host}/' } })`,
      `ctx.fetch('https://${shop.host}/', { method: 'CONNECT' })`,
      `ctx.fetch('https://${shop.host}/', { method: 'TRACE' })`,
      `ctx.fetch('https://${shop.host}/', { method: 'GET\\r\\nx: y' })`,
      `ctx.fetch('https://${shop.host}/\\r\\nx: y')`,
      `ctx.fetch('https://${shop.host}/', JSON.parse('{"headers":{"__proto__":{"secret":"SHOP_KEY"}}}'))`,
      `ctx.fetch('https://${shop.host}/', { headers: { a: { secret: 'SHOP_KEY', prefix: 5 } } })`,
      `ctx.call('fetch', { url: 'https://${shop.host}/', hosts: ['evil.example'], redirect: 'follow' })`,
      `ctx.call('fetch', 'https://${shop.host}/')`,
      `ctx.call('__proto__', {})`,
      `ctx.call('constructor', {})`,
      `ctx.call('hasOwnProperty', 'fetch')`,
    ]) {
      shop.asked.length = 0;
      await house.app.post(`agent_bots/${house.botOf('inside')}/release`);
      const run = await ask(caught(code));
      expect(run.outcome, code).to.be.oneOf(['ok', 'threw', 'forbidden_action']);
      if (noteOf(run) === 'done') continue;
      expect(shop.asked, code).to.deep.equal([]);
      expect(noteOf(run) ?? run.error, code).to.be.a('string');
    }
  });

  it('a scope of storage that is no text ends the run like every unknown one', async () => {
    for (const input of [
      'null',
      '{ key: 1 }',
      ...['{ toString: 1 }', '[]', '7', `'universe'`].map((scope) => `{ scope: ${scope}, key: 'a' }`),
    ]) {
      await house.app.post(`agent_bots/${house.botOf('inside')}/release`);
      const run = await ask(`await ctx.call('storage.get', ${input}).catch(() => 0)`);
      expect(run.outcome, input).to.equal('forbidden_action');
    }
  });

  it('a secret that the host wrote in another form reaches neither what the bot does nor what it keeps', async () => {
    const fetched = (path: string) =>
      `const answer = await ctx.fetch('https://${shop.host}${path}', { headers: { authorization: secret('SHOP_KEY') } }); const body = typeof answer.text === 'function' ? answer.text() : answer.text;`;
    const php = await house.askAnew(
      'keeper',
      `${fetched('/php')} ctx.attributes({ said: JSON.parse(body).said }); ctx.note(body);`,
    );
    expect(php.run.actions).to.deep.equal([
      { type: 'attributes', attributes: { said: '[secret SHOP_KEY]' } },
      { type: 'note', content: '{"said":"[secret SHOP_KEY]"}' },
    ]);
    const read = `const said = body.match(/../g).map((byte) => String.fromCharCode(Number.parseInt(byte, 16))).join('');`;
    const does = `ctx.reply('It is ' + said); ctx.note(said); ctx.attributes({ said }); await ctx.storage.set('said', said);`;
    const hex = await house.askAnew('keeper', `${fetched('/hex')} ${read} ${does}`);
    expect(hex.run.actions).to.deep.equal([
      { type: 'reply', content: 'It is [secret SHOP_KEY]' },
      { type: 'note', content: '[secret SHOP_KEY]' },
      { type: 'attributes', attributes: { said: '[secret SHOP_KEY]' } },
    ]);
    const [stored] = await house.app.query(`SELECT value::text FROM bot_storage WHERE key = 'said'`);
    expect(stored).to.deep.equal({ value: '"[secret SHOP_KEY]"' });
    const { body: conversation } = await house.app.get(`conversations/${hex.conversation}`);
    expect(JSON.stringify(conversation)).to.not.contain('pier/7');
    const [{ id }] = (await house.app.query<{ id: number }>('SELECT id FROM bot_runs WHERE conversation_id = $1', [
      hex.conversation,
    ])) as [{ id: number }];
    const { body: replay } = await house.app.post(`runs/${id}/replay`);
    expect(replay).to.deep.equal({ identical: true, outcome: 'ok', actions: hex.run.actions });
  });

  it('a call by a name that cannot be stored is recorded and repeated', async () => {
    for (const name of [`'x\\0'`, `'x\\ud800'`]) {
      const run = await ask(`await ctx.call(${name}).catch(() => 0); ctx.reply('said')`);
      expect([run.outcome, run.actions]).to.deep.equal(['ok', [{ type: 'reply', content: 'said' }]]);
    }
  });

  it('a refusal is of the call alone: what was granted goes on', async () => {
    const run = await ask(
      `try { await ctx.fetch('https://evil.example/'); } catch {} const r = await ctx.fetch('https://${shop.host}/'); ctx.reply('' + r.status);`,
    );
    expect(run.actions).to.deep.equal([{ type: 'reply', content: '200' }]);
  });

  it('H08 prototypes that a bot has poisoned change no call of it', async () => {
    shop.asked.length = 0;
    const run = await ask(
      `for (const name of ['url', 'method', 'body', 'headers', 'secret', 'prefix', 'key', 'scope', 'value', 'ttl', 'by', 'name', 'input', 'id'])
         Object.defineProperty(Object.prototype, name, { value: 'poison', writable: true, configurable: true });
       String.prototype.toLowerCase = () => '${shop.host}'; Array.prototype.includes = () => true; JSON.stringify = () => '{}';
       try { await ctx.fetch('https://evil.example/'); } catch (error) { ctx.note(error.code); }`,
    );
    expect(run.outcome).to.be.oneOf(['ok', 'threw', 'invalid_actions']);
    if (run.outcome === 'ok') expect(noteOf(run)).to.be.oneOf(['network_denied', 'bad_request', 'bad_url']);
    expect(shop.asked).to.deep.equal([]);
  });

  it('a question that is nested without end is refused, recorded without it, and can be repeated', async () => {
    const nested = (depth: number) => `let a = 1; for (let i = 0; i < ${depth}; i += 1) a = i % 2 ? [a] : { a };`;
    for (const [depth, call] of [
      [101, `ctx.storage.set('a', a)`],
      [3_000, `ctx.call('no such call', a)`],
      [3_000, `ctx.fetch('https://${shop.host}/', { method: 'POST', body: a })`],
      [10_000, `ctx.kb.search(a)`],
    ] as const) {
      const { conversation, run } = await house.askAnew('inside', `${nested(depth)} ${caught(call)}`);
      expect([run.outcome, noteOf(run)], call).to.deep.equal(['ok', 'bad_request']);
      expect(run.calls.map(({ input, error }) => [input, error?.code])).to.deep.equal([[null, 'bad_request']]);
      const [kept] = (await house.app.get(`conversations/${conversation}/runs`)).body.payload as [{ id: number }];
      const { status, body } = await house.app.post(`runs/${kept.id}/replay`);
      expect([status, body.identical], call).to.deep.equal([200, true]);
    }
    const run = await ask(
      `${nested(90)} await ctx.storage.set('a', a); ctx.note(JSON.stringify(await ctx.storage.get('a')))`,
    );
    expect(noteOf(run)).to.match(/^\[\{"a":\[.*1.*\]\}\]$/);
  });

  it('storage takes names of prototypes as names, and no values that are none', async () => {
    const { run } = await house.askAnew(
      'inside',
      `const { storage } = ctx;
       for (const key of ['__proto__', 'constructor', 'toString', 'hasOwnProperty']) await storage.set(key, { key });
       const value = JSON.parse('{"__proto__":{"polluted":true},"a":1}');
       await storage.set('value', value);
       const read = await storage.get('value');
       const all = []; for (const key of ['__proto__', 'constructor', 'toString', 'valueOf']) all.push(await storage.get(key));
       ctx.note(JSON.stringify([all, read.a, {}.polluted ?? null, read.polluted ?? null]));`,
    );
    expect(run.error).to.equal(null);
    const [all, a, polluted] = JSON.parse(String(noteOf(run)));
    expect([all, a, polluted]).to.deep.equal([
      [{ key: '__proto__' }, { key: 'constructor' }, { key: 'toString' }, null],
      1,
      null,
    ]);
    expect(({} as { polluted?: true }).polluted).to.equal(undefined);
    for (const value of [
      '() => 1',
      'Symbol("a")',
      '10n',
      '(() => { const a = {}; a.a = a; return a; })()',
      'undefined',
    ]) {
      await house.app.post(`agent_bots/${house.botOf('inside')}/release`);
      const { conversation, run: bad } = await house.askAnew(
        'inside',
        `try { await ctx.storage.set('a', ${value}); } catch {}`,
      );
      expect(bad.outcome, value).to.be.oneOf(['ok', 'threw', 'invalid_actions']);
      const kept = await house.app.query<{ value: unknown }>(
        'SELECT value FROM bot_storage WHERE conversation_id = $1',
        [conversation],
      );
      expect(kept, value).to.be.an('array').with.length.below(2);
      for (const { value: one } of kept) expect(one).to.equal(null);
    }
  });

  it('a secret is no text that a bot could read, build or forge', async () => {
    shop.asked.length = 0;
    const { conversation, run } = await house.askAnew(
      'inside',
      `const key = secret('SHOP_KEY', 'Bearer ');
       ctx.log.info(JSON.stringify(key) + String(key) + Object.values(key).join() + Reflect.ownKeys(key).map(String).join(), { key, inside: { key } });
       const r = await ctx.fetch('https://${shop.host}/echo', { headers: { Authorization: key } });
       const parts = [...r.text].join('|');
       ctx.log.info(parts); ctx.log.info(encodeURIComponent(r.text)); ctx.reply(r.text + parts);`,
    );
    expect(shop.asked[0]?.headers.authorization).to.equal('Bearer sk-4711');
    expect(JSON.stringify([run, await messagesOf(house.app, conversation)])).not.to.match(
      /sk-4711|s\|k\|-\|4\|7\|1\|1/,
    );
    const other = await house.askAnew(
      'outside',
      caught(`ctx.fetch('https://${shop.host}/echo', { headers: { a: { secret: 'SHOP_KEY', prefix: '' } } })`),
    );
    expect(other.run.outcome).to.be.oneOf(['ok', 'forbidden_action']);
    expect(shop.asked).to.have.length(1);
  });

  it('a secret that a host kept from another run stays hidden', async () => {
    const run = await ask(
      `const kept = ['sk', '4711'].join('-');
       const r = await ctx.fetch('https://${shop.host}/echo', { headers: { authorization: kept } }); ctx.note(r.text);`,
    );
    expect(noteOf(run)).to.contain('[secret SHOP_KEY]').and.not.contain('sk-4711');
  });

  it('storage does not show what it refused to keep', async () => {
    const run = await ask(
      `const refused = await ctx.storage.set('a', 1, { ttl: -1 }).catch(({ code }) => code);
       ctx.note(JSON.stringify([refused, await ctx.storage.get('a')]));`,
    );
    expect(noteOf(run)).to.equal('["bad_value",null]');
  });
});

describe('hostile bots without ranges of the operator', function () {
  this.timeout(60_000);

  it('H51 a listed name that leads to a private address is not called', async () => {
    let reached = 0;
    const canary = createServer((socket) => {
      reached += 1;
      socket.destroy();
    });
    await new Promise<void>((resolve) => void canary.listen(0, '127.0.0.1', resolve));
    const host = `localhost:${(canary.address() as AddressInfo).port}`;
    const house = await BotHouse.open(
      {
        inner: {
          on: { message_created: caught(`ctx.fetch('https://${host}/')`) },
          permissions: { conversation: ['note'], network: { hosts: [host] } },
        },
      },
      { config: { outboundAllowCidrs: [] } },
    );
    try {
      expect(noteOf((await house.askAnew('inner')).run)).to.equal('blocked_address');
      expect(reached).to.equal(0);
    } finally {
      await house.close();
      canary.close();
    }
  });
});

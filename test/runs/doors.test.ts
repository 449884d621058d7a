import { expect } from 'chai';
import { messagesOf } from '../faults/plugins.ts';
import { BotHouse } from './house.ts';
import { openShop, type Shop } from './shop.ts';

// The bot does what the message says.
const told = `await (new Function('ctx', 'secret', 'return (async () => {' + ctx.message.content + '})()'))(ctx, secret);`;
const top = `import { secret } from 'switchboard/bot';`;
const shopKey = 'sk-live-"4711"';
const conversation = ['reply', 'note', 'handoff'];

describe('doors of bots', function () {
  this.timeout(60_000);
  let house: BotHouse;
  let shop: Shop;
  let host: string;
  let asked: Shop['asked'];

  before(async () => {
    shop = await openShop();
    ({ host, asked } = shop);
    const storage = { scopes: ['conversation', 'contact', 'installation'], maxBytes: 2048 };
    const network = { hosts: [host, 'localhost:1', 'unbound.example'], methods: ['GET', 'POST'] };
    const secrets = [{ name: 'SHOP_KEY', hosts: [host] }];
    const all = { conversation, storage, network, secrets, llm: true, kb: true, forward: true };
    const config = {
      type: 'object',
      properties: {
        greeting: { type: 'string', default: 'Hi' },
        token: { type: 'string', 'x-secret': true, minLength: 8 },
      },
      required: ['token'],
    };
    const bot = (permissions: object) => ({ on: { message_created: told }, top, permissions });
    const without = ({ ...rest }: Record<string, unknown>, name: string) => {
      delete rest[name];
      return bot(rest);
    };
    house = await BotHouse.open(
      {
        all: bot(all),
        twin: bot(all),
        bare: bot({ conversation }),
        'no-secrets': without(all, 'secrets'),
        'contact-only': bot({ conversation, storage: { scopes: ['contact'] } }),
        configured: { ...bot({ ...all, secrets: [{ name: 'token', hosts: [host] }] }), config },
      },
      {
        config: { botFetchTimeoutMs: 2_500 },
        bodies: { all: { secrets: { SHOP_KEY: shopKey } }, configured: { config: { token: 'config-secret-1' } } },
      },
    );
  });
  after(async () => {
    await house.close();
    shop.close();
  });
  beforeEach(() => {
    asked.length = 0;
  });

  /** What the code gives, as JSON; the run must be good. */
  async function result(code: string, { bot = 'all', id }: { bot?: string; id?: number } = {}): Promise<unknown> {
    await house.app.post(`agent_bots/${house.botOf(bot)}/release`);
    const at = id ?? (await house.conversation(bot));
    const run = await house.ask(
      at,
      `const result = await (async () => { ${code} })(); ctx.note(JSON.stringify(result ?? null));`,
    );
    expect(run.error, code).to.equal(null);
    return JSON.parse(run.actions.at(-1)!.content as string);
  }
  const caught = (code: string) => `try { ${code}; return 'no error'; } catch (error) { return error.code; }`;

  describe('without their permission', () => {
    for (const [name, code] of Object.entries({
      'storage.get': `ctx.storage.get('a')`,
      'storage.set': `ctx.storage.set('a', 1)`,
      'storage.delete': `ctx.storage.contact.delete('a')`,
      'storage.incr': `ctx.storage.installation.incr('a')`,
      fetch: `ctx.fetch('https://unbound.example/')`,
      'llm.chat': `ctx.llm.chat({ messages: [] })`,
      'kb.search': `ctx.kb.search('a')`,
      forward: `ctx.forward()`,
    })) {
      it(`${name} refuses the whole batch, even if it is caught`, async () => {
        await house.app.post(`agent_bots/${house.botOf('bare')}/release`);
        const { conversation: id, run } = await house.askAnew(
          'bare',
          `ctx.note('a'); try { await ${code} } catch {} ctx.note('b');`,
        );
        expect(run.outcome).to.equal('forbidden_action');
        expect(run.error).to.contain('permissions.');
        expect(run.actions).to.deep.equal([]);
        const notes = (await messagesOf(house.app, id)).slice(1);
        expect(notes.map(({ content }) => content)).to.deep.equal([
          'The bot bare could not answer (forbidden_action). Please take over.',
        ]);
      });
    }

    it('a scope of storage that was not asked for, and a secret that was not, do so too', async () => {
      const scope = await house.askAnew(
        'contact-only',
        `await ctx.storage.contact.set('a', 1); try { await ctx.storage.get('a') } catch {}`,
      );
      expect(scope.run.outcome).to.equal('forbidden_action');
      expect(
        await house.app.query('SELECT FROM bot_storage WHERE agent_bot_id = $1', [house.botOf('contact-only')]),
      ).to.deep.equal([]);
      const secret = await house.askAnew(
        'no-secrets',
        `try { await ctx.fetch('https://${host}/', { headers: { a: secret('SHOP_KEY') } }) } catch {}`,
      );
      expect(secret.run.outcome).to.equal('forbidden_action');
      expect(asked).to.deep.equal([]);
    });
  });

  it('that have nothing behind them yet reject with `unavailable`', async () => {
    for (const code of [`ctx.llm.chat({ messages: [] })`, `ctx.forward()`]) {
      expect(await result(caught(`await ${code}`)), code).to.equal('unavailable');
    }
  });

  it('search the published articles of the account, those with tags and languages alone', async () => {
    const found = async (options: object) =>
      (await result(`return (await ctx.kb.search('Where do you ship?', ${JSON.stringify(options)}));`)) as object[];
    expect(await found({})).to.deep.equal([]);
    const article = { title: 'Shipping', content: '## Where\n\nWe **ship** to [Norway](https://no.example).' };
    const url = 'https://help.example/ship';
    await house.app.post('articles', { ...article, url, tags: ['shop'], language: 'en' });
    await house.app.post('articles', { ...article, title: 'Draft', published: false });
    const [passage, ...others] = await found({ limit: 3 });
    expect(passage).to.deep.include({ title: 'Shipping', url, heading: 'Where', language: 'en', answers: true });
    expect(passage).to.have.property('text').that.includes('We ship to Norway.');
    expect(passage).to.have.property('words').that.deep.equals(['ship']);
    expect(others).to.deep.equal([]);
    expect(await found({ tags: ['shop', 'other'], languages: ['en'] })).to.have.lengthOf(1);
    expect(await found({ tags: ['other'] })).to.deep.equal([]);
    expect(await found({ languages: ['de'] })).to.deep.equal([]);
    for (const wrong of [`ctx.kb.search(7)`, `ctx.kb.search('a', { limit: 99 })`, `ctx.kb.search('a', { account: 2 })`])
      expect(await result(caught(`await ${wrong}`)), wrong).to.equal('bad_request');
    expect(await result(`return ctx.kb.search('ship '.repeat(5000)).then((all) => all.length);`)).to.equal(1);
  });

  describe('storage', () => {
    it('reads its own writes, and later runs read them too', async () => {
      const id = await house.conversation('all');
      const seen = await result(
        `const { storage } = ctx;
         await storage.set('step', { at: 'name', list: [1, 'zwei'] });
         storage.contact.set('vip', true);
         await storage.installation.set('greeting', 'Hello');
         await storage.set('gone', 1); await storage.delete('gone');
         return [await storage.get('step'), await storage.conversation.get('step'), await storage.contact.get('vip'), await storage.get('vip'),
           await storage.get('gone'), await storage.incr('count'), await storage.incr('count', 2.5), await storage.get('count')];`,
        { id },
      );
      const step = { at: 'name', list: [1, 'zwei'] };
      expect(seen).to.deep.equal([step, step, true, null, null, 1, 3.5, 3.5]);
      const later = `const { storage } = ctx; return [await storage.get('step'), await storage.contact.get('vip'), await storage.installation.get('greeting'), await storage.incr('count')];`;
      expect(await result(later, { id })).to.deep.equal([step, true, 'Hello', 4.5]);
      expect(await result(later)).to.deep.equal([null, null, 'Hello', 1]);
      expect(await result(later, { bot: 'twin' })).to.deep.equal([null, null, null, 1]);
    });

    it('forgets after the ttl, and counts sums of runs that did not see each other', async () => {
      const id = await house.conversation('all');
      await result(`await ctx.storage.set('short', 1, { ttl: 1 }); await ctx.storage.set('long', 2, { ttl: 60 })`, {
        id,
      });
      await new Promise((resolve) => void setTimeout(resolve, 1_100));
      expect(
        await result(`return [await ctx.storage.get('short'), await ctx.storage.get('long')]`, { id }),
      ).to.deep.equal([null, 2]);
      const many = await Promise.all(Array.from({ length: 6 }, () => house.conversation('all')));
      await Promise.all(many.map((one) => house.ask(one, `await ctx.storage.installation.incr('visits')`)));
      expect(await result(`return ctx.storage.installation.get('visits')`)).to.equal(6);
    });

    it('over its quota throws, and nothing of a run that fails is stored', async () => {
      const id = await house.conversation('all');
      const full = await result(
        `await ctx.storage.set('a', 'x'.repeat(1900)); ${caught(`await ctx.storage.set('b', 'x'.repeat(200))`)}`,
        { id },
      );
      expect(full).to.equal('storage_full');
      expect(
        await result(`return [(await ctx.storage.get('a')).length, await ctx.storage.get('b')]`, { id }),
      ).to.deep.equal([1900, null]);
      await house.ask(id, `await ctx.storage.set('a', 'other'); throw new Error('no')`);
      await house.app.post(`conversations/${id}/toggle_status`, { status: 'pending' });
      expect(await result(`return (await ctx.storage.get('a')).length`, { id })).to.equal(1900);
      const unawaited = await house.askAnew('all', `ctx.storage.set('a', 'x'.repeat(5000))`);
      expect(unawaited.run.outcome).to.equal('threw');
      expect(unawaited.run.error).to.contain('2048');
    });

    it('takes keys and values within bounds only', async () => {
      for (const [code, error] of [
        [`ctx.storage.set('', 1)`, 'bad_key'],
        [`ctx.storage.set('k'.repeat(129), 1)`, 'bad_key'],
        [`ctx.storage.set('a\\0', 1)`, 'bad_key'],
        [`ctx.storage.get(5)`, 'bad_key'],
        [`ctx.storage.set('a', 'x'.repeat(9000))`, 'value_too_large'],
        [`ctx.storage.set('a', 'x\\0')`, 'bad_value'],
        [`ctx.storage.set('a', 1, { ttl: -1 })`, 'bad_value'],
        [`ctx.storage.set('a', 1, { ttl: '5' })`, 'bad_value'],
        [`ctx.storage.set('a', 'text').then(() => ctx.storage.incr('a'))`, 'bad_value'],
        [`ctx.storage.incr('a', 'b')`, 'bad_value'],
      ] as const) {
        expect(await result(caught(`await ${code}`)), code).to.equal(error);
      }
    });

    it('is gone with its conversation and its contact', async () => {
      const id = await house.conversation('all');
      await result(`await ctx.storage.set('a', 1); await ctx.storage.contact.set('b', 1);`, { id });
      const { body } = await house.app.get(`conversations/${id}`);
      const kept = () =>
        house.app.query('SELECT key FROM bot_storage WHERE conversation_id = $1 OR contact_id = $2', [
          id,
          body.meta.sender.id,
        ]);
      expect(await kept()).to.have.length(2);
      await house.app.call('DELETE', `contacts/${body.meta.sender.id}`);
      expect(await kept()).to.deep.equal([]);
    });
  });

  describe('fetch', () => {
    it('answers status, headers, text and json()', async () => {
      const seen = await result(
        `const r = await ctx.fetch('https://${host}/orders/1?a=b', { method: 'post', headers: { 'X-One': 'two' }, body: { id: 1 } });
         return [r.status, r.headers['x-total'], r.text, r.json().state];`,
      );
      expect(seen).to.deep.equal([200, '5', '{"state":"on its way"}', 'on its way']);
      expect(asked[0]).to.deep.include({ url: '/orders/1?a=b', body: '{"id":1}', method: 'POST' });
      expect(asked[0]!.headers).to.include({ 'x-one': 'two', 'content-type': 'application/json' });
    });

    it('reaches listed hosts by listed methods over https only; the bot can catch the refusal', async () => {
      for (const [url, error] of [
        [`https://other.example/`, 'network_denied'],
        [`https://${host.replace('localhost', 'LOCALHOST')}/`, 'no error'],
        [`https://localhost/`, 'network_denied'],
        [`https://${host.replace(':', '.:')}/`, 'network_denied'],
        [`https://${host}@evil.example/`, 'bad_url'],
        [`https://evil.example/${host}/`, 'network_denied'],
        [`https://evil.example#@${host}/`, 'network_denied'],
        [`https://127.0.0.1:${host.split(':')[1]}/`, 'network_denied'],
        [`http://${host}/`, 'bad_url'],
        [`//${host}/`, 'bad_url'],
        [`file:///etc/passwd`, 'bad_url'],
        [`https://localhost:1/`, 'connect'],
        [`https://unbound.example/`, 'dns'],
      ] as const) {
        const seen = await result(caught(`await ctx.fetch('${url}')`));
        if (error === 'dns') expect(seen).to.be.oneOf(['dns', 'timeout', 'connect']);
        else expect(seen, url).to.equal(error);
      }
      expect(await result(caught(`await ctx.fetch('https://${host}/', { method: 'DELETE' })`))).to.equal(
        'network_denied',
      );
      expect(asked).to.have.length(1);
    });

    it('follows no redirect, and explains what is no answer', async () => {
      expect(
        await result(
          `const r = await ctx.fetch('https://${host}/redirect'); return [r.status, r.headers.location, r.text];`,
        ),
      ).to.deep.equal([302, 'https://127.0.0.1/secret', 'moved']);
      expect(asked).to.have.length(1);
      expect(await result(`return (await ctx.fetch('https://${host}/large')).text.length`)).to.equal(1_000_000);
      expect(await result(`return (await ctx.fetch('https://${host}/binary')).text`)).to.equal('\uFFFD\uFFFD\uFFFD(A');
      for (const [path, error] of [
        ['huge', 'too_large'],
        ['hang', 'timeout'],
        ['packed', 'bad_response'],
      ] as const) {
        expect(await result(caught(`await ctx.fetch('https://${host}/${path}')`)), path).to.equal(error);
      }
      expect(await result(caught(`await ctx.fetch('https://${host}/garbage')`))).to.be.oneOf([
        'bad_response',
        'reset',
        'connect',
      ]);
    });

    it('may be called ten times in a run', async () => {
      const code = `let n = 0; try { for (; n < 15; n++) await ctx.fetch('https://${host}/'); } catch (error) { return [n, error.code]; }`;
      expect(await result(code)).to.deep.equal([10, 'too_many_requests']);
      expect(asked).to.have.length(10);
    });

    it("refuses headers that are not the bot's to set", async () => {
      for (const headers of [
        `{ Host: 'evil.example' }`,
        `{ 'Content-Length': '5' }`,
        `{ 'x-a': 'b\\r\\nx-c: d' }`,
        `{ 'x a': 'b' }`,
        `{ A: '1', a: '2' }`,
        `{ 'Proxy-Authorization': 'x' }`,
        `{ a: { nested: 1 } }`,
        `[['a', 'b']]`,
      ]) {
        expect(await result(caught(`await ctx.fetch('https://${host}/', { headers: ${headers} })`)), headers).to.equal(
          'bad_request',
        );
      }
      expect(asked).to.deep.equal([]);
    });
  });

  describe('secrets', () => {
    it('go to bound hosts in headers, and come back to nobody', async () => {
      const id = await house.conversation('all');
      const run = await house.ask(
        id,
        `const key = secret('SHOP_KEY', 'Bearer ');
         ctx.log.info('key ' + key, { key });
         const r = await ctx.fetch('https://${host}/echo', { headers: { Authorization: key } });
         ctx.log.info(r.text); ctx.reply(r.headers['x-echo'] + r.text);`,
      );
      expect(asked[0]!.headers.authorization).to.equal(`Bearer ${shopKey}`);
      expect(run.outcome).to.equal('ok');
      const messages = await messagesOf(house.app, id);
      const everything = JSON.stringify([run, messages]);
      expect(everything).to.contain('Bearer [secret SHOP_KEY]').and.not.contain('4711');
    });

    it('go nowhere else', async () => {
      for (const [code, error] of [
        [`ctx.fetch('https://localhost:1/', { headers: { a: secret('SHOP_KEY') } })`, 'secret_host_mismatch'],
        [`ctx.fetch('https://unbound.example/', { headers: { a: secret('SHOP_KEY') } })`, 'secret_host_mismatch'],
      ] as const) {
        expect(await result(caught(`await ${code}`)), code).to.equal(error);
      }
      await result(
        `await ctx.fetch('https://${host}/' + encodeURIComponent(secret('SHOP_KEY')), { method: 'POST', headers: { a: 'x' + secret('SHOP_KEY') }, body: { key: secret('SHOP_KEY') } })`,
      );
      expect(JSON.stringify(asked)).not.to.contain('4711');
      expect(
        await result(caught(`await ctx.fetch('https://${host}/', { headers: { a: secret('SHOP_KEY') } })`), {
          bot: 'twin',
        }),
      ).to.equal('secret_missing');
    });

    it('are stored sealed, never answered, kept when they are not named, and removed by null', async () => {
      const path = `agent_bots/${house.botOf('all')}`;
      const { body, headers } = await house.app.get(path);
      expect(JSON.stringify([body, ...headers])).not.to.contain('4711');
      expect(body.secret_names).to.deep.equal(['SHOP_KEY']);
      const [row] = await house.app.query<{ secrets: object }>('SELECT secrets FROM agent_bots WHERE id = $1', [
        house.botOf('all'),
      ]);
      expect(JSON.stringify(row))
        .to.match(/"SHOP_KEY":"v1\./)
        .and.not.contain('4711');
      const patch = (changes: object) => house.app.call('PATCH', path, changes);
      expect((await patch({ name: 'renamed' })).body.secret_names).to.deep.equal(['SHOP_KEY']);
      expect((await patch({ secrets: {} })).body.secret_names).to.deep.equal(['SHOP_KEY']);
      expect((await patch({ secrets: { SHOP_KEY: null } })).body.secret_names).to.deep.equal([]);
      expect((await patch({ secrets: { SHOP_KEY: shopKey } })).status).to.equal(200);
      const unknown = await patch({ secrets: { ONE: 'aaaa', TWO: 'bbbb' } });
      expect(unknown.status).to.equal(422);
      expect(unknown.body.error?.details ?? unknown.body.details).to.have.length(2);
      for (const value of ['abc', 'a\r\nb: c', 'ünïcode', 5, '']) {
        expect((await patch({ secrets: { SHOP_KEY: value } })).status, String(value)).to.equal(422);
      }
    });

    it('among the settings never enter the isolate', async () => {
      expect(await result(`return ctx.config`, { bot: 'configured' })).to.deep.equal({ greeting: 'Hi' });
      await result(`await ctx.fetch('https://${host}/', { headers: { a: secret('token', 'T ') } })`, {
        bot: 'configured',
      });
      expect(asked[0]!.headers['a']).to.equal('T config-secret-1');
      const path = `agent_bots/${house.botOf('configured')}`;
      const { body } = await house.app.get(path);
      expect(body).to.deep.include({ config: { greeting: 'Hi' }, secret_names: ['token'] });
      const patch = (config: object) => house.app.call('PATCH', path, { config });
      expect((await patch({ greeting: 'Ho' })).body).to.deep.include({
        config: { greeting: 'Ho' },
        secret_names: ['token'],
      });
      expect((await patch({ token: 'short' })).status).to.equal(422);
      expect((await patch({ token: null })).status).to.equal(422);
      const stored = await house.app.query('SELECT config FROM agent_bots WHERE id = $1', [house.botOf('configured')]);
      expect(JSON.stringify(stored)).not.to.contain('config-secret');
      const records = await house.app.query('SELECT config, logs, calls FROM bot_runs WHERE agent_bot_id = $1', [
        house.botOf('configured'),
      ]);
      expect(JSON.stringify(records)).not.to.contain('config-secret');
    });
  });
});

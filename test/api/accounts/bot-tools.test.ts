import { expect } from 'chai';
import { TestApp } from '../../support/app.ts';
import { addAccount, addPerson } from '../../support/people.ts';

const tool = {
  name: 'order_status',
  description: 'The state of an order, by its number.',
  parameters: {
    type: 'object',
    properties: { order: { type: 'string', maxLength: 20 }, detail: { type: 'boolean' } },
    required: ['order'],
  },
  url: 'https://api.shop.example/orders/{order}?from=bot',
  method: 'GET',
  headers: { authorization: 'Bearer {{SHOP_KEY}}' },
  result: '/order/state',
};

describe('tools of AI bots in the API', function () {
  this.timeout(60_000);
  let app: TestApp;
  let bot: number;

  before(async () => {
    app = await TestApp.start({ engine: false });
    bot = (await app.post('agent_bots', { kind: 'ai', name: 'Ada' })).body.id;
  });
  after(() => app.stop());
  beforeEach(async () => {
    await approve(['api.shop.example', 'localhost:8443']);
    expect((await set([])).status).to.equal(200);
  });

  const approve = (hosts: unknown) => app.patch('/api/v1/accounts/1', { approved_hosts: hosts });
  const set = (tools: unknown) => app.patch(`agent_bots/${bot}`, { tools });
  const shown = async () => (await app.get(`agent_bots/${bot}`)).body.tools;

  describe('are stored', () => {
    it('as they were given, and none by default', async () => {
      expect(await shown()).to.deep.equal([]);
      const { status, body } = await set([tool]);
      expect([status, body.tools]).to.deep.equal([200, [tool]]);
      expect(await shown()).to.deep.equal([tool]);
      expect(body.config.tools).to.deep.equal([tool]);
    });

    it('with their defaults', async () => {
      const { body } = await set([{ name: 'ping', url: 'https://api.shop.example/' }]);
      const usual = { description: '', method: 'GET', headers: {}, result: null };
      const parameters = { type: 'object', properties: {} };
      expect(body.tools).to.deep.equal([{ name: 'ping', url: 'https://api.shop.example/', parameters, ...usual }]);
    });

    it('with a new bot, by either name, and stay when something else is changed', async () => {
      for (const fields of [{ tools: [tool] }, { config: { tools: [tool] } }]) {
        const { status, body } = await app.post('agent_bots', { kind: 'ai', name: 'Bob', ...fields });
        expect([status, body.tools]).to.deep.equal([201, [tool]]);
        // A tool whose host is approved no more does not keep anybody from changing the rest.
        await approve([]);
        const changed = await app.patch(`agent_bots/${body.id}`, { system_prompt: 'Be brief.' });
        expect([changed.status, changed.body.tools]).to.deep.equal([200, [tool]]);
        await approve(['api.shop.example']);
        await app.delete(`agent_bots/${body.id}`);
      }
    });

    it('for administrators to see, and for nobody else', async () => {
      await set([tool]);
      const { headers } = await addPerson(app, { name: 'Kim' });
      const { body } = await app.get(`agent_bots/${bot}`, headers);
      expect([body.tools, body.config]).to.deep.equal([null, {}]);
      const webhook = await app.post('agent_bots', { name: 'Hook', outgoing_url: 'https://bot.example/' });
      expect(webhook.body.tools).to.equal(null);
    });
  });

  it('at hosts that are approved no more are told, and make the bot failing until they are again', async () => {
    const other = { ...tool, name: 'other', url: 'http://localhost:8443/{order}' };
    const record = async (headers?: Record<string, string>) => {
      const { body } = await app.get(`agent_bots/${bot}`, headers);
      const listed = (await app.get('agent_bots', headers)).body.payload.find(({ id }: { id: number }) => id === bot);
      expect([listed.unapproved_hosts, listed.health]).to.deep.equal([body.unapproved_hosts, body.health]);
      return body;
    };
    await app.post('articles', { title: 'Hours', content: 'We are open from 9 to 18.' });
    expect((await set([tool, other])).body.unapproved_hosts).to.deep.equal([]);
    await app.patch(`agent_bots/${bot}`, { secrets: { SHOP_KEY: 'key-4711' } });
    expect((await record()).health.state).to.equal('ok');
    await approve(['api.shop.example:8443']);
    const { unapproved_hosts: hosts, health } = await record();
    expect(hosts).to.deep.equal(['api.shop.example', 'localhost:8443']);
    const error = 'Hosts of tools not approved: api.shop.example, localhost:8443';
    expect(health).to.deep.equal({ state: 'failing', last_error: error, since: null });
    await approve(['localhost:8443']);
    await app.patch(`agent_bots/${bot}`, { secrets: { SHOP_KEY: null } });
    expect((await record()).health.last_error).to.equal(
      'Missing secrets: SHOP_KEY. Hosts of tools not approved: api.shop.example',
    );
    await set([other]);
    expect(await record()).to.deep.include({ unapproved_hosts: [], missing_secrets: ['SHOP_KEY'] });
  });

  describe('with secrets', () => {
    it('that have no value are told', async () => {
      const headers = { authorization: 'Basic {{USER}}:{{SHOP_KEY}}', 'x-again': '{{USER}}' };
      const { body } = await set([{ ...tool, headers }]);
      expect(body.missing_secrets).to.deep.equal(['SHOP_KEY', 'USER']);
      const given = await app.patch(`agent_bots/${bot}`, { secrets: { SHOP_KEY: 'key-4711' } });
      expect([given.body.missing_secrets, given.body.secret_names]).to.deep.equal([['USER'], ['SHOP_KEY']]);
      const removed = await app.patch(`agent_bots/${bot}`, { secrets: { SHOP_KEY: null } });
      expect(removed.body.missing_secrets).to.deep.equal(['SHOP_KEY', 'USER']);
    });

    it('are at most 50', async () => {
      const many = (prefix: string, count: number) =>
        Object.fromEntries(Array.from({ length: count }, (_, index) => [`${prefix}${index}`, 'value'] as const));
      expect((await app.patch(`agent_bots/${bot}`, { secrets: many('A', 40) })).status).to.equal(200);
      const { status, body } = await app.patch(`agent_bots/${bot}`, { secrets: many('B', 11) });
      expect([status, body.details[0].path]).to.deep.equal([422, '/secrets']);
    });
  });

  describe('are refused', () => {
    const wide = (depth: number): object =>
      depth === 0 ? { type: 'string' } : { type: 'object', properties: { a: wide(depth - 1) } };
    const parameters = (more: object) => ({ ...tool, parameters: { ...tool.parameters, ...more } });
    for (const [what, tools, path, rule] of [
      ['without a name', [{ url: tool.url }], '/tools/0/name', 'required'],
      ['with a name that models do not take', [{ ...tool, name: 'order status' }], '/tools/0/name', 'pattern'],
      ['with the name of a tool that every bot has', [{ ...tool, name: 'handoff' }], '/tools/0/name', 'reserved'],
      ['with the same name twice', [tool, tool], '/tools/1/name', 'unique'],
      ['with an unknown field', [{ ...tool, body: {} }], '/tools/0/body', 'additionalProperties'],
      ['with another method', [{ ...tool, method: 'get' }], '/tools/0/method', 'enum'],
      ['with a result that is no pointer', [{ ...tool, result: 'order.state' }], '/tools/0/result', 'pattern'],
      ['that are 17', Array.from({ length: 17 }, (_, at) => ({ ...tool, name: `t${at}` })), '/tools', 'maxItems'],
      ['without an absolute URL', [{ ...tool, url: '/orders' }], '/tools/0/url', 'format'],
      ['with a placeholder in the host', [{ ...tool, url: 'https://{order}.shop.example/' }], '/tools/0/url', 'format'],
      ['with a placeholder as the port', [{ ...tool, url: 'https://shop.example:{order}/' }], '/tools/0/url', 'format'],
      [
        'with a placeholder behind the host',
        [{ ...tool, url: 'https://api.shop.example{order}' }],
        '/tools/0/url',
        'format',
      ],
      ['with a user in the URL', [{ ...tool, url: 'https://a:b@api.shop.example/' }], '/tools/0/url', 'format'],
      [
        'with a secret in the URL',
        [{ ...tool, url: 'https://api.shop.example/?key={{SHOP_KEY}}' }],
        '/tools/0/url',
        'format',
      ],
      ['with a fragment', [{ ...tool, url: 'https://api.shop.example/#{order}' }], '/tools/0/url', 'format'],
      [
        'with an undeclared placeholder',
        [{ ...tool, url: 'https://api.shop.example/{id}' }],
        '/tools/0/url',
        'unknown',
      ],
      ['with a header that cannot be set', [{ ...tool, headers: { Host: 'x' } }], '/tools/0/headers', 'header'],
      ['with a header twice', [{ ...tool, headers: { 'X-A': 'x', 'x-a': 'y' } }], '/tools/0/headers', 'header'],
      ['with a line break in a header', [{ ...tool, headers: { 'x-a': 'x\r\ny: z' } }], '/tools/0/headers', 'header'],
      [
        'with half a secret in a header',
        [{ ...tool, headers: { 'x-a': '{{SHOP KEY}}' } }],
        '/tools/0/headers',
        'header',
      ],
      [
        'with arguments that are no object',
        [{ ...tool, parameters: { type: 'array' } }],
        '/tools/0/parameters',
        'schema',
      ],
      [
        'with an unknown type',
        [parameters({ properties: { order: { type: 'text' } } })],
        '/tools/0/parameters',
        'schema',
      ],
      ['with a reference', [parameters({ properties: { order: { $ref: '#' } } })], '/tools/0/parameters', 'schema'],
      [
        'with a pattern',
        [parameters({ properties: { order: { pattern: '(a+)+$' } } })],
        '/tools/0/parameters',
        'schema',
      ],
      ['with a large schema', [parameters({ description: 'x'.repeat(4096) })], '/tools/0/parameters', 'maxBytes'],
      [
        'with a deep schema',
        [{ ...tool, url: 'https://api.shop.example/', parameters: wide(10) }],
        '/tools/0/parameters',
        'schema',
      ],
      [
        'that are too large in all',
        Array.from({ length: 16 }, (_, at) => ({ ...tool, name: `t${at}`, description: 'x'.repeat(1000) })),
        '/tools',
        'maxLength',
      ],
    ] as const) {
      it(what, async () => {
        const { status, body } = await set(tools);
        expect([status, body.code]).to.deep.equal([422, 'validation_failed']);
        expect(body.details.map((one: { path: string; rule: string }) => [one.path, one.rule])).to.deep.include([
          path,
          rule,
        ]);
        expect(await shown()).to.deep.equal([]);
      });
    }

    it('at hosts that the account has not approved, whichever way they are given', async () => {
      for (const url of ['https://evil.example/', 'https://api.shop.example:444/', 'http://localhost/']) {
        for (const fields of [{ tools: [{ ...tool, url }] }, { config: { tools: [{ ...tool, url }] } }]) {
          const { status, body } = await app.patch(`agent_bots/${bot}`, fields);
          expect([status, body.code, body.details[0].rule], url).to.deep.equal([422, 'host_not_approved', 'approved']);
          expect(body.error).to.include('approved_hosts');
          const created = await app.post('agent_bots', { kind: 'ai', name: 'Bob', ...fields });
          expect([created.status, created.body.code], url).to.deep.equal([422, 'host_not_approved']);
        }
      }
      for (const url of ['https://API.shop.example:443/', 'https://localhost:8443/{order}'])
        expect((await set([{ ...tool, url }])).status, url).to.equal(200);
    });

    it('at hosts that another account has approved', async () => {
      const other = await addAccount(app, 'Other');
      const approved = await app.patch(
        `/api/v1/accounts/${other.id}`,
        { approved_hosts: ['other.example'] },
        other.administrator.headers,
      );
      expect(approved.body.approved_hosts).to.deep.equal(['other.example']);
      expect((await set([{ ...tool, url: 'https://other.example/' }])).body.code).to.equal('host_not_approved');
      const foreign = await app.patch(
        `/api/v1/accounts/${other.id}/agent_bots/${bot}`,
        { tools: [] },
        other.administrator.headers,
      );
      expect(foreign.status).to.equal(404);
    });

    it('of agents, of other bots and of system bots', async () => {
      const { headers } = await addPerson(app, { name: 'Lee' });
      expect((await app.patch(`agent_bots/${bot}`, { tools: [] }, headers)).status).to.equal(403);
      expect((await app.patch('/api/v1/accounts/1', { approved_hosts: [] }, headers)).status).to.equal(403);
      const webhook = { name: 'Hook', outgoing_url: 'https://bot.example/', tools: [tool] };
      expect((await app.post('agent_bots', webhook)).body.details[0]).to.include({ path: '/tools', rule: 'kind' });
      const system = { kind: 'ai', name: 'All', tools: [tool] };
      const refused = await app.post('/platform/api/v1/agent_bots', system);
      expect(refused.status).to.equal(422);
      expect(refused.body.details[0]).to.include({ path: '/tools', rule: 'kind' });
    });
  });

  describe('approved hosts', () => {
    it('are none at first, and are replaced as a whole', async () => {
      const other = await addAccount(app, 'New');
      const token = other.administrator.headers;
      const path = `/api/v1/accounts/${other.id}`;
      expect((await app.get(path, token)).body.approved_hosts).to.deep.equal([]);
      const both = { approved_hosts: ['a.example', 'b.example:8443'] };
      expect((await app.patch(path, both, token)).body).to.deep.include(both);
      expect((await app.patch(path, { name: 'Newer' }, token)).body).to.deep.include(both);
      const one = { approved_hosts: ['c.example:443'] };
      expect((await app.patch(path, one, token)).body.approved_hosts).to.deep.equal(['c.example']);
    });

    for (const [what, hosts] of [
      ['a URL', ['https://a.example']],
      ['upper case', ['A.example']],
      ['a path', ['a.example/x']],
      ['a wildcard', ['*.example']],
      ['a port that there is not', ['a.example:70000']],
      ['the same twice', ['a.example', 'a.example']],
      ['101', Array.from({ length: 101 }, (_, index) => `h${index}.example`)],
      ['a text', 'a.example'],
      ['null', null],
    ] as const) {
      it(`are not ${what}`, async () => {
        const { status, body } = await approve(hosts);
        expect([status, body.code]).to.deep.equal([422, 'validation_failed']);
        expect(body.details[0].path).to.match(/^\/approved_hosts/);
      });
    }
  });
});

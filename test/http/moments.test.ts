import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { routes } from '../../src/api/index.ts';
import type { SchemaName } from '../../src/schemas.ts';
import { TestApp } from '../support/app.ts';
import { addConversation, addInbox, addWebhookBot } from '../support/records.ts';
import { Widget } from '../support/widget.ts';

const last = 253_402_300_799;
/** Moments as a query may name them: those that there are, and everything beyond. */
const taken = [
  '0',
  '1',
  '59',
  '-0',
  '1700000000',
  '1.7e9',
  '0x10',
  String(last - 86_400),
  String(last - 1),
  String(last),
];
const refused = [
  String(last + 1),
  '8640000000000',
  '8640000000001',
  '9224318016000',
  '9007199254740991',
  '9007199254740993',
  '1e13',
  '1e300',
  '1e400',
  '-1',
  '-62135596801',
  '1.5',
  'NaN',
  'Infinity',
  'yesterday',
  '2026-11-23T00:00:00Z',
  '',
];

/** The parameters of a query that are moments. */
function momentsOf(schema: SchemaName): string[] {
  const text = readFileSync(new URL(`../../schemas/${schema}.json`, import.meta.url), 'utf8');
  const { properties = {} } = JSON.parse(text) as { properties?: Record<string, { $ref?: string }> };
  return Object.keys(properties).filter((name) => properties[name]?.$ref?.endsWith('/unix_time'));
}

describe('moments in a query', function () {
  this.timeout(120_000);
  let app: TestApp;
  let places: Record<string, string | number>;
  let headers: Record<string, string>;

  before(async () => {
    app = await TestApp.start({ engine: false, config: { widgetSessionsPerMinute: 0 } });
    const bot = await addWebhookBot(app, 'Bot');
    const { body: webhook } = await app.post('webhooks', {
      url: 'http://127.0.0.1:9/',
      subscriptions: ['message_created'],
    });
    const inbox = await Widget.create(app, { channel_type: 'Channel::Api' });
    const { body: client } = await inbox.call('POST', 'contacts', {});
    const { body: own } = await inbox.call('POST', `contacts/${client.source_id}/conversations`, {});
    const visitor = await inbox.enter();
    await inbox.say('Hello', visitor.headers);
    headers = visitor.headers;
    const conversation = await addConversation(app, await addInbox(app));
    places = {
      ':account_id': 1,
      ':identifier': inbox.identifier,
      ':contact_identifier/conversations/:conversation_id': `${client.source_id}/conversations/${own.id}`,
      'webhooks/:id': `webhooks/${webhook.id}`,
      'agent_bots/:id': `agent_bots/${bot.id}`,
      'conversations/:id': `conversations/${conversation}`,
      'conversations/:conversation_id': `conversations/${conversation}`,
    };
  });

  after(() => app.stop());

  function pathOf(path: string): string {
    const longestFirst = Object.entries(places).toSorted(([one], [other]) => other.length - one.length);
    return longestFirst.reduce((left, [place, value]) => left.replace(place, String(value)), path);
  }

  const read = routes.filter(({ method, contract }) => method === 'GET' && contract.query && !contract.stream);
  const named = read.flatMap((route) => momentsOf(route.contract.query!).map((name) => ({ route, name })));

  it('are there', () => {
    expect(named.map(({ name }) => name)).to.include.members(['since', 'until', 'before', 'after']);
    expect(named.length).to.be.at.least(12);
  });

  for (const { route, name } of named) {
    it(`are taken or refused with a sentence: ${name} of ${route.path}`, async () => {
      for (const more of route.path.includes('/reports/') ? ['', '&by=day'] : ['']) {
        for (const value of [...taken, ...refused]) {
          const query = `${name}=${encodeURIComponent(value)}${more}`;
          const { status, body } = await app.get(`${pathOf(route.path)}?${query}`, headers);
          const expected = refused.includes(value) ? [400] : [200, 400];
          expect(status, `${query}: ${JSON.stringify(body)}`).to.be.oneOf(expected);
          if (status === 400)
            expect(body.error).to.match(name === 'since' ? /since|at most/ : new RegExp(`${name}|at most`));
        }
      }
    });
  }

  it('of a recovery are taken or refused with a sentence', async () => {
    for (const since of [0, last, last + 1, 8.64e12, 8.64e12 + 1, 9_007_199_254_740_991, -1, 1.5, '1700000000']) {
      const { status, body } = await app.post(`${places['webhooks/:id']}/recover`, { since, until: since });
      expect(status, `${since}: ${JSON.stringify(body)}`).to.be.oneOf([200, 202, 422]);
    }
  });
});

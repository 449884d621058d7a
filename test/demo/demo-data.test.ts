import { expect } from 'chai';
import type { Answer } from '../support/app.ts';
import { TestApp } from '../support/app.ts';
import { dropDatabase } from '../support/postgres.ts';
import { startDemo } from './demo-app.ts';

const subject = 'the demonstration data';

/** How many rows of everything there are. */
async function countRows(app: TestApp): Promise<unknown> {
  const tables = [
    'accounts',
    'users',
    'agents',
    'inboxes',
    'agent_bots',
    'contacts',
    'articles',
    'labels',
    'teams',
    'webhooks',
  ];
  return app.query(`SELECT ${tables.map((table) => `(SELECT count(*) FROM ${table}) AS ${table}`).join(', ')}`);
}

/** A visitor of a web page with the inbox asks, and gets the bot's answer. */
async function ask(app: TestApp, identifier: string, question: string): Promise<string> {
  const base = `/public/api/v1/inboxes/${identifier}`;
  const call = async (method: string, path: string, body?: object, token = ''): Promise<Answer['body']> => {
    const response = await fetch(`${app.url}${base}/${path}`, {
      method,
      headers: { 'content-type': 'application/json', ...(token ? { 'x-contact-token': token } : {}) },
      ...(body ? { body: JSON.stringify(body) } : {}),
    });
    expect(response.status, path).to.be.within(200, 201);
    return response.json();
  };
  const { contact_token: token } = await call('POST', 'sessions', {});
  await call('POST', 'messages', { content: question }, token);
  return app.eventually(async () => {
    const { payload } = await call('GET', 'messages', undefined, token);
    return payload.find((message: { message_type: string }) => message.message_type === 'outgoing')?.content;
  });
}

describe('the demonstration data', function () {
  let app: TestApp;
  let inboxes: Answer['body'][];

  before(async () => {
    app = await startDemo(subject);
    inboxes = (await app.get('inboxes')).body.payload;
  });

  after(() => app.stop());

  it('are an account that shows everything at once', async () => {
    expect((await app.get('/api/v1/profile')).body.accounts).to.have.lengthOf(1);
    const list = async (path: string) => (await app.get(path)).body.payload ?? (await app.get(path)).body;
    expect((await list('contacts')).map(({ name }: { name: string }) => name)).to.have.members([
      'Jonas Berg',
      'Mia Novak',
      'Priya Shah',
    ]);
    expect(await list('articles')).to.have.length.within(8, 12);
    expect(await list('labels')).to.have.lengthOf(4);
    expect((await list('agents')).map(({ role }: { role: string }) => role)).to.have.members([
      'administrator',
      'agent',
    ]);
    const [team] = await list('teams');
    expect(await list(`teams/${team.id}/team_members`)).to.have.lengthOf(2);
    const [webhook, ...others] = await list('webhooks');
    expect(others).to.deep.equal([]);
    expect(webhook).to.include({ name: 'Built-in receiver', active: true });
    expect(webhook.subscriptions).to.include.members(['message_created', 'contact_created', 'webwidget_triggered']);
  });

  it('begin with account 1 and the inbox 1 that commands rely on', () => {
    expect(inboxes.map(({ id, name, channel_type: type }) => [id, name, type])).to.deep.equal([
      [1, 'Demo inbox', 'Channel::Api'],
      [2, 'Shop chat', 'Channel::WebWidget'],
    ]);
  });

  it('answer on a web page: one inbox by its keywords, the other from the knowledge base with its source', async () => {
    const [faq, shop] = inboxes;
    expect(await ask(app, faq.identifier, 'What are your opening hours?')).to.include('Monday to Friday');
    const answer = await ask(app, shop.identifier, 'How do I return something?');
    expect(answer).to.include('within 30 days').and.include('https://shop.example.com/help/returns');
    expect(await ask(app, shop.identifier, 'What are your opening hours?')).to.include('9:00 to 18:00');
  });

  it('say what visitors are likely to ask for, not only from which article', async () => {
    const [, shop] = inboxes;
    const said: [string, string][] = [
      ['When are you open on Saturday?', '10:00 to 14:00'],
      ['How much is express delivery?', '12 euros'],
      ['When do I get my money back?', 'three working days'],
      ['Can I pay with PayPal?', 'PayPal'],
    ];
    for (const [question, words] of said) expect(await ask(app, shop.identifier, question), question).to.include(words);
  }).timeout(60_000);

  it('answer what visitors are likely to ask, and nothing else', async () => {
    const { body } = await app.get('articles');
    const titleOf = new Map(
      body.payload.map(({ url, title }: { url: string; title: string }) => [url.split('/').at(-1), title]),
    );
    const questions: [string, string][] = [
      ['When are you open on Saturday?', 'opening-hours'],
      ['How much is express delivery?', 'delivery'],
      ['Where is my parcel?', 'tracking'],
      ['When do I get my money back?', 'refunds'],
      ['Can I pay with PayPal?', 'payment'],
      ['My lamp is broken, is there a warranty?', 'warranty'],
      ['I forgot my password', 'account'],
      ['How can I cancel my order?', 'change-order'],
    ];
    for (const [question, path] of questions) {
      const { payload } = (await app.get(`articles/search?q=${encodeURIComponent(question)}`)).body;
      expect(payload[0]?.title, question).to.equal(titleOf.get(path));
    }
    expect((await app.get('articles/search?q=pizza')).body.payload).to.deep.equal([]);
  });

  it('are made once: a later start, or one beside it, adds nothing', async () => {
    const before = await countRows(app);
    const again = await startDemo(subject, { databaseUrl: app.databaseUrl });
    expect(await countRows(app)).to.deep.equal(before);
    expect((await again.get('inboxes')).body.payload).to.have.lengthOf(2);
    await again.app.stop();
  });

  it('are not added to an installation from before', async () => {
    const old = await TestApp.start();
    await old.app.stop();
    const same = await TestApp.start({ furnishing: null, config: { demo: true }, databaseUrl: old.databaseUrl });
    expect((await same.get('inboxes')).body.payload).to.have.lengthOf(1);
    expect((await same.get('contacts')).body.payload).to.deep.equal([]);
    await same.app.stop();
    await dropDatabase(old.databaseUrl);
  });

  it('are left out without DEMO: the account is empty, and there is no receiver', async () => {
    const bare = await TestApp.start({ furnishing: null });
    for (const path of ['inboxes', 'contacts', 'articles', 'labels', 'webhooks'])
      expect((await bare.get(path)).body.payload, path).to.deep.equal([]);
    for (const path of ['/play', '/play/requests', '/play/hooks', '/play/mode']) {
      expect((await bare.get(path)).status, path).to.equal(404);
      expect((await bare.post(path)).status, path).to.equal(404);
    }
    await bare.stop();
  });
});

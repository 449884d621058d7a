import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { openConversation } from '../faults/plugins.ts';
import { BotHouse } from '../runs/house.ts';
import { adminToken, type TestApp } from '../support/app.ts';
import { TestBrowser, type WatchedPage } from '../support/browser.ts';
import { signedIn, widths } from '../support/console.ts';
import { startHttpsReceiver, type HttpsReceiver } from '../support/https-receiver.ts';
import { addPerson } from '../support/people.ts';
import { xssTexts } from '../support/xss.ts';

const attack = xssTexts[1]!;

const config = {
  type: 'object',
  properties: {
    greeting: { title: `Greeting ${attack}`, description: attack, type: 'string', default: 'Hello', maxLength: 100 },
    tone: { title: 'Tone', type: 'string', enum: ['kind', attack], default: 'kind' },
    loud: { title: 'Loud', type: 'boolean', default: false },
    most: { title: 'Most', type: 'integer', minimum: 1, maximum: 5, default: 2 },
    words: { title: 'Words', type: 'array', items: { type: 'string' }, default: [] },
    pin: { title: 'Pin', type: 'string', minLength: 4, 'x-secret': true },
    hours: { title: 'Hours', type: 'object', properties: { from: { title: 'From', type: 'integer', default: 9 } } },
  },
};
const hosts = ['shop.example'];

describe('the pages of bots', function () {
  this.timeout(120_000);
  const browser = new TestBrowser();
  let house: BotHouse;
  let app: TestApp;
  let server: HttpsReceiver;
  let watched: WatchedPage;
  let page: Page;

  before(async function () {
    await browser.start(this);
    server = await startHttpsReceiver();
    house = await BotHouse.open(
      {
        shop: {
          on: { message_created: 'ctx.reply(ctx.config.greeting)' },
          permissions: { conversation: ['reply'], network: { hosts }, secrets: [{ name: 'SHOP_KEY', hosts }] },
          config,
        },
      },
      { shipped: ['ai-bot', 'webhook-bot'] },
    );
    ({ app } = house);
    // The first test begins with none.
    await app.delete(`agent_bots/${house.botOf('shop')}`);
    watched = await signedIn(browser, app, adminToken, '/console/bots');
    ({ page } = watched);
  });

  after(async () => {
    await browser.close();
    await house?.close();
    await server?.close();
  });

  const visit = async (path: string): Promise<void> => {
    await page.goto(`${app.url}/console/${path}`);
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
    await page.locator('[aria-label=Loading]').first().waitFor({ state: 'detached' });
  };
  const toast = (text: string) => page.locator('.toast').filter({ hasText: text }).first().waitFor();
  const dialog = () => page.getByRole('dialog');
  const onceShown = async (name: string): Promise<string> =>
    (await page.getByLabel(name, { exact: true }).textContent()) ?? '';
  const yes = () => page.getByRole('button', { name: 'Yes' }).click();
  const botNamed = async (name: string) => {
    const { payload } = (await app.get('agent_bots')).body;
    return payload.find((bot: { name: string }) => bot.name === name);
  };
  const mayCall = async (token: string) => (await app.get('conversations', { api_access_token: token })).status;

  it('say what to do where there are none, and offer the kinds that there are', async () => {
    await page.getByText('No bots yet').waitFor();
    await page.getByRole('button', { name: 'New bot' }).click();
    await page.getByLabel('Kind').waitFor();
    const kinds = await page.getByLabel('Kind').locator('option').allTextContents();
    expect(kinds).to.deep.equal([
      'AI: answers from the knowledge base',
      'Webhook: your server answers',
      'Plugin: shop',
    ]);
    await page.keyboard.press('Escape');
    await dialog().waitFor({ state: 'detached' });
  });

  it('make a webhook bot by keyboard, show its token once, and say what is wrong with its URL', async () => {
    await page.getByRole('button', { name: 'New bot' }).focus();
    await page.keyboard.press('Enter');
    await page.getByLabel('Kind').selectOption('webhook');
    await page.getByLabel('Name').fill(`Hook ${attack}`);
    await page.getByLabel('Server URL').fill('http://localhost/hook');
    await page.keyboard.press('Enter');
    await dialog().getByRole('alert').waitFor();
    expect(await page.getByLabel('Server URL').getAttribute('aria-invalid')).to.equal('true');
    await page.getByLabel('Server URL').fill(server.receiver.url);
    await page.getByLabel('Format', { exact: true }).selectOption('Chatwoot');
    await page.getByLabel('Message changes').uncheck();
    await page.getByLabel('Include outgoing messages').uncheck();
    await watched.expectAccessible();
    await page.getByRole('button', { name: 'Create' }).click();
    const token = await onceShown('Access token');
    expect(await mayCall(token)).to.equal(200);
    expect(await onceShown('Signing secret')).to.match(/^whsec_/);
    const made = await botNamed(`Hook ${attack}`);
    const told = { outgoing_url: server.receiver.url, format: 'chatwoot', hear_own: false };
    expect(made).to.deep.include({ kind: 'webhook', ...told });
    expect(made.events).to.have.lengthOf(4).and.not.include('message_updated');
    await page.getByRole('link', { name: 'Open bot' }).click();
    await page.getByRole('heading', { level: 1, name: 'Hook' }).waitFor();
    expect(await page.getByText(token).count()).to.equal(0);
    watched.expectNoProblems(/status of 422/);
  });

  it('send the server of a bot what its format is, which can be changed', async () => {
    const { id } = await botNamed(`Hook ${attack}`);
    const isOfChatwoot = async (): Promise<boolean> => {
      const before = server.receiver.received.length;
      await page.getByRole('button', { name: 'Send test' }).click();
      await app.eventually(async () => server.receiver.received.length > before);
      return server.receiver.received.at(-1)?.headers['x-chatwoot-signature'] !== undefined;
    };
    await visit(`bots/${id}`);
    await page.locator('dt').filter({ hasText: 'Format' }).locator('+ dd').filter({ hasText: 'Chatwoot' }).waitFor();
    expect(await isOfChatwoot()).to.equal(true);
    await page.getByLabel('Format', { exact: true }).selectOption('Switchboard');
    await page.getByRole('button', { name: 'Save' }).click();
    await app.eventually(async () => (await botNamed(`Hook ${attack}`)).format === 'default');
    await page.locator('dt').filter({ hasText: 'Format' }).waitFor({ state: 'detached' });
    expect(await page.getByLabel('Format', { exact: true }).inputValue()).to.equal('default');
    await page.getByText('Response 200').waitFor();
    expect(await isOfChatwoot()).to.equal(false);
    watched.expectNoProblems(/status of 422/);
  });

  it('reset the token and the signing secret, each shown once', async () => {
    const { id } = await botNamed(`Hook ${attack}`);
    const before = (await app.post(`agent_bots/${id}/reset_access_token`)).body.access_token;
    await page.getByRole('button', { name: 'Reset access token' }).click();
    await yes();
    await toast('Access token reset');
    const token = await onceShown('Access token');
    expect([await mayCall(before), await mayCall(token)]).to.deep.equal([401, 200]);
    await page.getByRole('button', { name: 'Rotate signing secret' }).click();
    await yes();
    await toast('Signing secret rotated');
    expect(await onceShown('Signing secret')).to.match(/^whsec_/);
    expect(await page.getByText(token).count()).to.equal(0);
    await visit(`bots/${id}`);
    expect(await page.getByText('whsec_').count()).to.equal(0);
    await page.getByText('Token last used').waitFor();
  });

  it('try its server, and say what it answered and where to read more', async () => {
    server.receiver.answerWith((_, response) => response.writeHead(418).end());
    await page.getByLabel('Test event').selectOption('conversation_resolved');
    await page.getByRole('button', { name: 'Send test' }).click();
    await page.getByText('Response 418').waitFor();
    server.receiver.answerWith((_, response) => response.end());
    await page.getByRole('button', { name: 'Send test' }).click();
    await page.getByText('Response 200').waitFor();
    expect(server.receiver.received.at(-1)?.body['event']).to.equal('conversation_resolved');
    const link = page.getByRole('link', { name: /^Delivery \d+/ });
    expect(await link.getAttribute('href')).to.match(/^\/console\/deliveries\/\d+$/);
  });

  it('pause it, show what waits, cancel that, send it again, and resume', async () => {
    const { id } = await botNamed(`Hook ${attack}`);
    const inbox = await app.post('inboxes', { name: `Shop ${attack}`, channel: { type: 'api' } });
    await app.post(`inboxes/${inbox.body.id}/set_agent_bot`, { agent_bot: id });
    await page.getByRole('button', { name: 'Pause' }).click();
    await page.getByRole('button', { name: 'Resume' }).waitFor();
    expect((await app.get(`agent_bots/${id}`)).body.paused).to.equal(true);
    const conversation = await openConversation(app, inbox.body.id);
    await app.post(`conversations/${conversation}/messages`, { content: 'Hello', message_type: 'incoming' });
    await page.getByRole('button', { name: 'Refresh' }).click();
    await page.getByRole('button', { name: 'Cancel pending' }).click();
    await yes();
    await toast('Pending deliveries cancelled');
    await page.getByRole('button', { name: 'Cancel pending' }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Resume' }).click();
    await page.getByRole('button', { name: 'Pause' }).waitFor();
    const before = server.receiver.received.length;
    await page.getByText('Recover failed deliveries').click();
    await page.getByRole('button', { name: 'Recover' }).click();
    await page.getByText(/Recovered: [1-9]\d* delivered, 0 failed/).waitFor();
    expect(server.receiver.received.slice(before).map(({ body }) => body['content'])).to.include('Hello');
    await watched.expectAccessible();
    await visit('bots');
    const row = page.getByRole('row', { name: /Hook/ });
    expect(await row.textContent())
      .to.include('Webhook')
      .and.include('Healthy')
      .and.include(`Shop ${attack}`);
    watched.expectNoProblems(/status of 422/);
  });

  it('make a bot of a plugin by the form that its schema draws, and change it', async () => {
    await visit('bots');
    await page.getByRole('button', { name: 'New bot' }).click();
    await page.getByLabel('Kind').selectOption('Plugin: shop');
    await page.getByLabel('Name').fill('Seller');
    const greeting = page.getByLabel(`Greeting ${attack}`);
    expect(await greeting.inputValue()).to.equal('Hello');
    await greeting.fill(attack);
    await page.getByLabel('Tone').selectOption(attack);
    await page.getByLabel('Loud').check();
    await page.getByLabel('Words').fill('one\n\n two ');
    await page.getByLabel('Most').fill('9');
    await page.getByLabel('Pin').fill('sesame');
    await page.getByLabel('From').fill('10');
    await page.getByLabel('SHOP_KEY').fill('sk-4711');
    await page.getByRole('button', { name: 'Create' }).click();
    await dialog().getByRole('alert').waitFor();
    expect(await page.getByLabel('Most').getAttribute('aria-invalid')).to.equal('true');
    await page.getByLabel('Most').fill('3');
    await watched.expectAccessible();
    await page.getByRole('button', { name: 'Create' }).click();
    expect(await mayCall(await onceShown('Access token'))).to.equal(200);
    const made = await botNamed('Seller');
    expect(made.config).to.deep.include({ greeting: attack, tone: attack, loud: true, words: ['one', 'two'], most: 3 });
    expect(made.config.hours).to.deep.equal({ from: 10 });
    expect(made.secret_names).to.deep.equal(['SHOP_KEY', 'pin']);
    await page.getByRole('link', { name: 'Open bot' }).click();
    await page.getByRole('heading', { level: 1, name: 'Seller' }).waitFor();
    expect(await page.getByLabel('Pin').inputValue()).to.equal('');
    await page.getByLabel('Most').fill('5');
    await page.getByLabel('Delete stored SHOP_KEY').check();
    await page.getByRole('button', { name: 'Save' }).click();
    await toast('Saved.');
    const changed = await botNamed('Seller');
    expect(changed.config).to.deep.include({ most: 5, greeting: attack });
    expect(changed.secret_names).to.deep.equal(['pin']);
    watched.expectNoProblems(/status of 422/);
  });

  it('show why a bot is in quarantine, and release it', async () => {
    const { id } = await botNamed('Seller');
    await app.query(
      'UPDATE agent_bots SET failed_runs = 5, quarantined_at = now(), quarantine_reason = $2 WHERE id = $1',
      [id, attack],
    );
    await visit('bots');
    expect(await page.getByRole('row', { name: /Seller/ }).textContent())
      .to.include('Quarantined')
      .and.include(attack);
    await page.getByRole('link', { name: 'Seller' }).click();
    await page.getByText('Quarantined after repeated failures').waitFor();
    await page.getByRole('button', { name: 'Release' }).click();
    await toast('Seller released');
    await page.getByText('Quarantined after repeated failures').waitFor({ state: 'detached' });
    expect((await app.get(`agent_bots/${id}`)).body.quarantine).to.equal(null);
  });

  it('make an AI bot, and show what it ran and used', async () => {
    await visit('bots');
    await page.getByRole('button', { name: 'New bot' }).click();
    await page.getByLabel('Name').fill('Ada');
    await page.getByLabel('System prompt').fill(`Be kind ${attack}`);
    await page.getByLabel('Temperature').fill('0.7');
    await page.getByLabel('Handoff keywords').fill('human');
    await page.getByLabel('Daily token budget').fill('1000');
    await page.getByRole('button', { name: 'Create' }).click();
    await onceShown('Access token');
    const made = await botNamed('Ada');
    expect(made).to.deep.include({ kind: 'ai', temperature: 0.7, handoff_keywords: ['human'], tokens_per_day: 1000 });
    expect(made.system_prompt).to.equal(`Be kind ${attack}`);
    await page.getByRole('link', { name: 'Open bot' }).click();
    await page.getByText('No runs in the last 30 days').waitFor();
    const inbox = await app.post('inboxes', { name: 'Ask', channel: { type: 'api' } });
    await app.post(`inboxes/${inbox.body.id}/set_agent_bot`, { agent_bot: made.id });
    const conversation = await openConversation(app, inbox.body.id);
    await app.post(`conversations/${conversation}/messages`, { content: 'A human, please', message_type: 'incoming' });
    await page.getByRole('link', { name: /^Run \d+/ }).waitFor();
    await visit(`bots/${made.id}`);
    expect(await page.getByRole('row', { name: /^Total/ }).textContent()).to.include('1');
    expect(await page.getByRole('link', { name: 'All runs' }).getAttribute('href')).to.equal(
      `/console/runs?agent_bot_id=${made.id}`,
    );
    await page.getByLabel('Daily token budget').fill('');
    await page.getByRole('button', { name: 'Save' }).click();
    await toast('Saved.');
    expect((await botNamed('Ada')).tokens_per_day).to.equal(null);
    expect((await botNamed('Ada')).system_prompt).to.equal(`Be kind ${attack}`);
  });

  it('fit narrow and wide screens, accessibly', async () => {
    const paths = ['bots', ...(await app.get('agent_bots')).body.payload.map(({ id }: { id: number }) => `bots/${id}`)];
    for (const path of paths) {
      for (const width of widths) {
        await page.setViewportSize({ width, height: 900 });
        await visit(path);
        await watched.expectAccessible();
        expect(await page.getByRole('heading', { level: 1 }).count()).to.equal(1);
        expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), path).to.be.at.most(0);
      }
    }
    watched.expectNoProblems(/status of 422/);
  });

  it('are for agents to read, and system bots for everybody', async () => {
    const { body: system } = await app.post('/platform/api/v1/agent_bots', {
      name: `System ${attack}`,
      kind: 'plugin',
      plugin_id: 'shop',
    });
    await visit(`bots/${system.id}`);
    await page.getByText('System bot, shared by all accounts').waitFor();
    expect(await page.getByRole('button', { name: 'Delete' }).count()).to.equal(0);
    const { headers } = await addPerson(app, { name: 'Katherine' });
    const agent = await signedIn(browser, app, headers.api_access_token, '/console/bots');
    await agent.page.getByRole('row', { name: /Seller/ }).waitFor();
    expect(await agent.page.getByRole('button', { name: 'New bot' }).count()).to.equal(0);
    await agent.page.getByRole('link', { name: 'Seller' }).click();
    await agent.page.getByRole('heading', { level: 2, name: 'Usage' }).waitFor();
    for (const name of ['Delete', 'Save', 'Reset access token', 'Pause'])
      expect(await agent.page.getByRole('button', { name }).count(), name).to.equal(0);
    await agent.page.goto(`${app.url}/console/bots/999999`);
    await agent.page.getByRole('alert').filter({ hasText: 'not found' }).waitFor();
    agent.expectNoProblems(/status of 404/);
    await agent.close();
  });

  it('delete a bot after a question', async () => {
    const { id } = await botNamed('Seller');
    await visit(`bots/${id}`);
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'No' }).click();
    expect(await botNamed('Seller')).to.not.equal(undefined);
    await page.getByRole('button', { name: 'Delete' }).click();
    await yes();
    await page.getByRole('heading', { level: 1, name: 'Bots' }).waitFor();
    expect(await botNamed('Seller')).to.equal(undefined);
  });
});

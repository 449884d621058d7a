import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { adminToken, TestApp } from '../support/app.ts';
import { TestBrowser, type WatchedPage } from '../support/browser.ts';
import { loaded, signedIn, widths } from '../support/console.ts';
import { addPerson } from '../support/people.ts';
import { xssTexts } from '../support/xss.ts';

describe('the settings of the account in the console', function () {
  this.timeout(120_000);
  const browser = new TestBrowser();
  let app: TestApp;
  let watched: WatchedPage;
  let page: Page;

  before(async function () {
    await browser.start(this);
    app = await TestApp.start({ engine: false });
    watched = await signedIn(browser, app, adminToken, '/console/settings/account');
    page = watched.page;
  });

  after(async () => {
    await browser.close();
    await app?.stop();
  });

  afterEach(() => watched.expectNoProblems(/status of 422/));

  const toast = (text: string) => page.locator('.toast').filter({ hasText: text }).first().waitFor();
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const account = async () => (await app.get('/api/v1/accounts/1')).body;
  const storedKey = async () => (await app.query<{ key: string | null }>('SELECT llm_api_key AS key FROM accounts'))[0];

  async function open(path: string): Promise<void> {
    await page.goto(`${app.url}/console/settings/${path}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await loaded(page);
  }

  it('rename it, wherever its name stands, whatever that is', async () => {
    await open('account');
    for (const name of [xssTexts[1]!, 'Lamps & more']) {
      await page.getByLabel('Name', { exact: true }).fill(name);
      await button('Rename').click();
      await page.getByRole('banner').getByText(name, { exact: true }).waitFor();
      expect((await account()).name).to.equal(name);
    }
    await page.getByLabel('Name', { exact: true }).fill(' ');
    await button('Rename').click();
    await page.getByRole('alert').first().waitFor();
    expect((await account()).name).to.equal('Lamps & more');
  });

  it('set its model server, whose key is written and never shown', async () => {
    await open('account');
    await page.getByLabel('Base URL').fill('ftp://127.0.0.1/v1');
    await page.getByLabel('Model', { exact: true }).fill('small');
    await page.getByLabel('API key', { exact: true }).fill('sk-very-secret');
    await button('Save model server').click();
    await page.locator('.problem').filter({ hasText: 'must be a URL' }).waitFor();
    expect((await account()).llm).to.equal(null);
    await page.getByLabel('Base URL').fill('http://127.0.0.1:9/v1');
    await button('Save model server').click();
    await toast('Model server saved.');
    expect((await account()).llm).to.deep.equal({
      base_url: 'http://127.0.0.1:9/v1',
      model: 'small',
      has_api_key: true,
    });
    const { key } = (await storedKey())!;
    expect(key).to.be.a('string').and.not.include('very-secret');
    await page.reload();
    await page.getByText('A key is stored').waitFor();
    expect(await page.getByLabel('API key', { exact: true }).inputValue()).to.equal('');
    expect(await page.content()).to.not.include('very-secret');
    await page.getByLabel('Model', { exact: true }).fill('large');
    await page.getByLabel('Embedding model').fill('vectors');
    await button('Save model server').click();
    await toast('Model server saved.');
    expect((await account()).llm).to.include({ model: 'large', embedding_model: 'vectors', has_api_key: true });
    expect((await storedKey())!.key).to.equal(key);
    await page.getByLabel('Delete stored API key').check();
    await page.getByLabel('Embedding model').fill('');
    await button('Save model server').click();
    await app.eventually(async () => (await account()).llm.has_api_key === false);
    expect((await account()).llm).to.deep.equal({
      base_url: 'http://127.0.0.1:9/v1',
      model: 'large',
      has_api_key: false,
    });
    await button('Remove model server').click();
    await button('Yes').click();
    await toast('Model server removed.');
    expect((await account()).llm).to.equal(null);
    expect(await page.getByLabel('Base URL').inputValue()).to.equal('');
  });

  it('approve hosts, for tools that AI bots get as JSON, with their secrets', async () => {
    await open('account');
    await page.getByLabel('Approved hosts').fill('https://api.shop.example/');
    await button('Save approved hosts').click();
    await page.getByRole('alert').filter({ hasText: 'must be a host such as' }).waitFor();
    await page.getByLabel('Approved hosts').fill('api.shop.example\n\n localhost:8443');
    await button('Save approved hosts').click();
    await toast('Approved hosts saved.');
    expect((await account()).approved_hosts).to.deep.equal(['api.shop.example', 'localhost:8443']);
    const { id } = (await app.post('agent_bots', { kind: 'ai', name: 'Ada' })).body;
    const bot = async () => (await app.get(`agent_bots/${id}`)).body;
    await page.goto(`${app.url}/console/bots/${id}`);
    const tools = page.getByLabel('Tools', { exact: true });
    const tool = { name: 'stock', url: 'https://evil.example/', headers: { key: '{{SHOP_KEY}}' } };
    await tools.fill('[{');
    await page.getByText('Invalid JSON. The last valid value is kept.').waitFor();
    await tools.fill(JSON.stringify([tool]));
    await button('Save').click();
    await page.getByRole('alert').filter({ hasText: 'evil.example' }).waitFor();
    await tools.fill(JSON.stringify([{ ...tool, url: 'https://api.shop.example/stock' }]));
    await page.getByLabel('SHOP_KEY', { exact: true }).fill('key-4711');
    await button('Save').click();
    await toast('Saved.');
    expect((await bot()).tools).to.have.lengthOf(1);
    expect(await bot()).to.deep.include({ secret_names: ['SHOP_KEY'], missing_secrets: [] });
    await page.reload();
    await page.getByLabel('System prompt').fill('Be brief.');
    await button('Save').click();
    await app.eventually(async () => (await bot()).system_prompt === 'Be brief.');
    expect((await bot()).tools[0]).to.include({ name: 'stock', url: 'https://api.shop.example/stock' });
    expect(await page.content()).to.not.include('key-4711');
    await app.patch('/api/v1/accounts/1', { approved_hosts: [] });
    await page.reload();
    await page.getByText('Hosts not approved', { exact: true }).waitFor();
  });

  it('say why articles are found by their words alone', async () => {
    await app.query(`UPDATE accounts SET passages_error = 'The server answered 401', passages_error_since = now()`);
    await open('account');
    await page.getByRole('alert').filter({ hasText: 'The server answered 401' }).waitFor();
    await app.query('UPDATE accounts SET passages_error = NULL, passages_error_since = NULL');
  });

  it('make, change and delete SLA policies, in minutes', async () => {
    await open('sla-policies');
    await page.getByText('No SLA policies yet.').waitFor();
    await button('New policy').click();
    await page.getByLabel('Name', { exact: true }).fill(xssTexts[0]!);
    await button('Create').click();
    await page.getByRole('dialog').getByRole('alert').waitFor();
    await page.getByLabel('First response').fill('1.5');
    await page.getByLabel('Resolution').fill('2880');
    await button('Create').click();
    await page.getByRole('row', { name: '90 seconds' }).getByText('2 days').waitFor();
    const [policy] = (await app.get('sla_policies')).body.payload;
    expect(policy).to.include({ name: xssTexts[0]!, first_response_seconds: 90, resolution_seconds: 172_800 });
    await button(`Edit ${xssTexts[0]}`).click();
    await page.getByLabel('Name', { exact: true }).fill('Gold');
    await page.getByLabel('First response').fill('');
    await button('Save').click();
    await page.getByRole('row', { name: /^Gold – 2 days/ }).waitFor();
    expect((await app.get(`sla_policies/${policy.id}`)).body.first_response_seconds).to.equal(null);
    await button('Delete Gold').click();
    await button('Yes').click();
    await page.getByText('No SLA policies yet.').waitFor();
  });

  it('set the working hours of an inbox, to the end of the day', async () => {
    const [{ id }] = (await app.get('inboxes')).body.payload;
    await open(`inboxes/${id}`);
    await page.getByLabel('Working hours').check();
    await page.getByLabel('Hours of Sunday').selectOption('Open all day');
    await page.getByLabel('Hours of Tuesday').selectOption('Closed');
    await page.getByLabel('Monday from').fill('10:30');
    await page.getByLabel('Monday to').fill('09:00');
    await button('Save working hours').click();
    await page.locator('.problem').filter({ hasText: 'must close after it opens' }).waitFor();
    await page.getByLabel('Monday to').fill('00:00');
    await page.getByLabel('Out-of-office message').fill('Back at nine.');
    await button('Save working hours').click();
    await toast('Saved.');
    const {
      working_hours: days,
      working_hours_enabled: isKept,
      out_of_office_message: said,
    } = (await app.get(`inboxes/${id}`)).body;
    expect([isKept, said]).to.deep.equal([true, 'Back at nine.']);
    expect(days[0]).to.include({ open_all_day: true, open_hour: null });
    expect(days[1]).to.include({ open_hour: 10, open_minutes: 30, close_hour: 24, close_minutes: 0 });
    expect(days[2]).to.include({ closed_all_day: true, open_hour: null });
    await page.reload();
    await page.getByLabel('Monday to').waitFor();
    expect(await page.getByLabel('Monday to').inputValue()).to.equal('00:00');
    for (const width of widths) {
      await page.setViewportSize({ width, height: 900 });
      await watched.expectAccessible();
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).to.be.at.most(0);
    }
  });

  it('open without an error, accessibly, on narrow and wide screens', async () => {
    for (const path of ['account', 'sla-policies'])
      for (const width of widths) {
        await page.setViewportSize({ width, height: 900 });
        await open(path);
        await watched.expectAccessible();
        expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), path).to.be.at.most(0);
      }
  });

  it('show agents the policies alone, and nothing of the account', async () => {
    await app.post('sla_policies', { name: 'Silver', first_response_seconds: 60 });
    const { headers } = await addPerson(app, { name: 'Katherine' });
    const agent = await signedIn(browser, app, headers.api_access_token, '/console/settings/account');
    await agent.page.getByText('Only administrators can open this page.').waitFor();
    const links = agent.page.getByRole('navigation', { name: 'Console' }).getByRole('link');
    expect(await links.allTextContents())
      .to.include('SLA policies')
      .and.not.include('Account');
    await links.filter({ hasText: 'SLA policies' }).click();
    await agent.page.getByRole('row', { name: 'Silver' }).waitFor();
    expect(await agent.page.getByRole('button', { name: /policy|Edit|Delete/ }).count()).to.equal(0);
    agent.expectNoProblems();
    await agent.close();
  });
});

import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { adminToken, TestApp } from '../support/app.ts';
import { TestBrowser, type WatchedPage } from '../support/browser.ts';
import { loaded, signedIn } from '../support/console.ts';
import { Customers } from '../support/conversing.ts';

// In the page: chooses as soon as another priority is there, before it is painted.
const chooseLow = `new MutationObserver((_, observer) => {
  if (!document.querySelector('.conversation-state').textContent.includes('high priority')) return;
  observer.disconnect();
  const field = [...document.querySelectorAll('select')].find((one) => one.value === 'high');
  field.value = 'low';
  field.dispatchEvent(new Event('change', { bubbles: true }));
}).observe(document, { childList: true, subtree: true, characterData: true })`;

describe('the fields of the console', function () {
  this.timeout(120_000);
  const browser = new TestBrowser();
  let app: TestApp;
  let customers: Customers;
  let watched: WatchedPage;
  let page: Page;
  let inbox: number;

  before(async function () {
    await browser.start(this);
    app = await TestApp.start();
    customers = new Customers(app);
    inbox = await customers.inbox('Shop');
    watched = await signedIn(browser, app, adminToken);
    page = watched.page;
  });

  afterEach(async () => {
    await page.unrouteAll();
    watched.problems.splice(0);
  });

  after(async () => {
    await browser.close();
    await app?.stop();
  });

  const open = async (path: string): Promise<void> => {
    await page.goto(`${app.url}/console/${path}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await loaded(page);
  };
  const button = (name: string) => page.getByRole('button', { name, exact: true });

  it('of settings: a number with a default is emptied, then has the default, and is written digit by digit', async () => {
    const { id } = (await app.post('agent_bots', { name: 'Ai', kind: 'plugin', plugin_id: 'ai-bot' })).body;
    const config = async () => (await app.get(`agent_bots/${id}`)).body.config;
    const save = async (): Promise<void> => {
      await button('Save').click();
      await page.locator('.toast').filter({ hasText: 'Saved.' }).first().waitFor();
      await page.locator('.toast').getByRole('button', { name: 'Dismiss' }).first().click();
    };
    await open(`bots/${id}`);
    const exchanges = page.getByLabel('Most exchanges');
    expect(await exchanges.inputValue()).to.equal('10');
    await exchanges.fill('');
    expect(await exchanges.inputValue()).to.equal('');
    await page.getByText('Empty for 10.').waitFor();
    await exchanges.pressSequentially('25');
    expect(await exchanges.inputValue()).to.equal('25');
    const temperature = page.getByLabel('Temperature');
    await temperature.fill('');
    await temperature.pressSequentially('0.05');
    expect(await temperature.inputValue()).to.equal('0.05');
    await save();
    expect(await config()).to.include({ max_exchanges: 25, temperature: 0.05 });
    await exchanges.fill('');
    await save();
    expect((await config()).max_exchanges).to.be.oneOf([undefined, 10]);
    await open(`bots/${id}`);
    expect(await exchanges.inputValue()).to.equal('10');
    watched.expectNoProblems();
  });

  it('of filters: what does not count any more is not shown as if it did', async () => {
    await customers.writes(inbox, 'Ada', 'Where is my order?');
    await open('conversations');
    const find = page.getByLabel('Search');
    await find.pressSequentially('no such words ');
    expect(await find.inputValue()).to.equal('no such words ');
    await page.getByText('No conversations match these filters.').waitFor();
    await page.getByRole('link', { name: 'Clear filters' }).click();
    await page.getByRole('row', { name: /Ada/ }).waitFor();
    expect(await find.inputValue()).to.equal('');
    await find.fill('nothing at all');
    await page.getByText('No conversations match these filters.').waitFor();
    await page.getByRole('navigation', { name: 'Console' }).getByRole('link', { name: 'Conversations' }).click();
    await page.getByRole('row', { name: /Ada/ }).waitFor();
    expect(await find.inputValue()).to.equal('');
    // Too short to count; then something else is chosen.
    await find.fill('or');
    await page.getByLabel('Status').selectOption('open');
    await app.eventually(async () => (await find.inputValue()) === '');
    watched.expectNoProblems();
  });

  it('that are stored at once: what is refused is not shown as if it were stored', async () => {
    const id = await customers.writes(inbox, 'Bert', 'Hello');
    await app.patch(`conversations/${id}`, { priority: 'high' });
    const bot = (await app.post('agent_bots', { name: 'Faq', kind: 'plugin', plugin_id: 'faq' })).body.id;
    await open(`conversations/${id}`);
    const refuse = async (pattern: string): Promise<void> => {
      await page.route(pattern, (route) =>
        ['GET', 'HEAD'].includes(route.request().method())
          ? route.continue()
          : route.fulfill({ status: 403, json: { error: 'Not today', code: 'forbidden' } }),
      );
    };
    const refused = async (label: string, wanted: string, stored: string): Promise<void> => {
      const field = page.getByLabel(label, { exact: true });
      await field.selectOption(wanted);
      await page.locator('.toast.error').filter({ hasText: 'Not today' }).waitFor();
      expect(await field.inputValue(), label).to.equal(stored);
      await page.locator('.toast').getByRole('button', { name: 'Dismiss' }).first().click();
      await page.locator('.toast').waitFor({ state: 'detached' });
    };
    await refuse(`**/conversations/${id}`);
    await refuse(`**/conversations/${id}/agent_bot`);
    await refused('Priority', 'urgent', 'high');
    await refused('Bot for this conversation', String(bot), '');
    await page.unrouteAll();
    await page.getByLabel('Priority').selectOption('low');
    await app.eventually(async () => (await app.get(`conversations/${id}`)).body.priority === 'low');
    expect(await page.getByLabel('Priority').inputValue()).to.equal('low');
    // What somebody else stores is shown afterwards.
    await app.patch(`conversations/${id}`, { priority: null });
    await app.eventually(async () => (await page.getByLabel('Priority').inputValue()) === '');
    await page.getByLabel('Bot for this conversation').selectOption('Faq');
    await app.eventually(
      async () => (await app.get(`conversations/${id}/agent_bot`)).body.chosen_by === 'conversation',
    );
    await open(`settings/inboxes/${inbox}`);
    await refuse('**/set_agent_bot');
    await refused('Bot', String(bot), '');
    watched.expectNoProblems(/status of 403/);
  });

  it('choices that follow each other quickly: the last one holds', async () => {
    const id = await customers.writes(inbox, 'Cleo', 'Hello');
    await open(`conversations/${id}`);
    let first = true;
    await page.route(`**/conversations/${id}`, async (route) => {
      if (route.request().method() === 'PATCH' && first) {
        first = false;
        await new Promise((resolve) => setTimeout(resolve, 1_000));
      }
      await route.continue();
    });
    await page.getByLabel('Priority').selectOption('urgent');
    await page.getByLabel('Priority').selectOption('low');
    expect(await page.getByLabel('Priority').inputValue()).to.equal('low');
    await app.eventually(async () => (await page.locator('[aria-busy=true]').count()) === 0);
    expect((await app.get(`conversations/${id}`)).body.priority).to.equal('low');
    expect(await page.getByLabel('Priority').inputValue()).to.equal('low');
  });

  it('choices that follow at once what somebody else has stored', async () => {
    const id = await customers.writes(inbox, 'Edgar', 'Hello');
    await open(`conversations/${id}`);
    await page
      .locator('.person')
      .getByRole('status')
      .filter({ hasText: /^Live$/ })
      .waitFor();
    const priority = page.getByLabel('Priority');
    await priority.waitFor();
    const { promise: taken, resolve: take } = Promise.withResolvers<void>();
    await page.route(`**/conversations/${id}`, async (route) => {
      if (route.request().method() === 'PATCH') await taken;
      await route.continue();
    });
    const asked = page.waitForRequest((request) => request.method() === 'PATCH');
    await page.evaluate(chooseLow);
    await app.patch(`conversations/${id}`, { priority: 'high' });
    await asked;
    expect(await priority.inputValue()).to.equal('low');
    take();
    await page.getByRole('group', { name: 'State' }).getByText('low priority').waitFor();
    expect(await priority.inputValue()).to.equal('low');
    watched.expectNoProblems();
  });

  it('the other conversations of a customer: all that there are, when they are asked for, and new ones', async () => {
    const { id: contact } = (await app.post('contacts', { name: 'Dora' })).body;
    const begin = async () => (await app.post('conversations', { inbox_id: inbox, contact_id: contact })).body.id;
    const first = await begin();
    for (let count = 0; count < 30; count += 1) await begin();
    await open(`conversations/${first}`);
    const links = page.getByRole('link', { name: /^Conversation \d+$/ });
    await links.first().waitFor();
    const shown = await links.count();
    expect(shown).to.be.lessThan(30);
    await button('Show more').click();
    await app.eventually(async () => (await links.count()) === 30);
    expect(await button('Show more').count()).to.equal(0);
    const next = await begin();
    await page.getByRole('link', { name: `Conversation ${next}`, exact: true }).waitFor();
    expect(await links.count()).to.equal(31);
    await app.delete(`conversations/${next}`);
    await page.getByRole('link', { name: `Conversation ${next}`, exact: true }).waitFor({ state: 'detached' });
    await watched.expectAccessible();
    watched.expectNoProblems();
  });
});

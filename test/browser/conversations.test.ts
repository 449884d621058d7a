import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { adminToken, TestApp } from '../support/app.ts';
import { TestBrowser, type WatchedPage } from '../support/browser.ts';
import { signedIn, widths } from '../support/console.ts';
import { Customers } from '../support/conversing.ts';
import { addPerson, type User } from '../support/people.ts';
import { xssTexts } from '../support/xss.ts';

const address = '/console/conversations';

describe('the list of conversations in the console', function () {
  this.timeout(120_000);
  const browser = new TestBrowser();
  let app: TestApp;
  let customers: Customers;
  let watched: WatchedPage;
  let page: Page;
  let shop: number;
  let agent: User;

  before(async function () {
    await browser.start(this);
    app = await TestApp.start();
    customers = new Customers(app);
    shop = await customers.inbox('Shop');
    agent = await addPerson(app, { name: 'Grace' });
    watched = await signedIn(browser, app, adminToken, address);
    page = watched.page;
  });

  beforeEach(() => {
    watched.problems.length = 0;
  });

  after(async () => {
    await browser.close();
    await app?.stop();
  });

  const row = (name: string | RegExp) => page.getByRole('row', { name });
  const rows = () => page.locator('tbody tr').count();
  const assignee = (name: string) => page.getByRole('group', { name: 'Assignee' }).getByRole('link', { name });
  const settled = () => page.locator('[aria-busy=true]').waitFor({ state: 'detached' });

  it('says what to do while there are none, and shows new ones and changes as they happen', async () => {
    await page.getByText('No conversations yet').waitFor();
    await watched.expectAccessible();
    const first = await customers.writes(shop, 'Ada', 'Where is my order?');
    await row(/Ada .*Where is my order\?/).waitFor();
    await row(/Ada .*1 unread/).waitFor();
    await customers.writes(shop, 'Bob', 'Do you deliver on Sundays?');
    await row(/Bob/).waitFor();
    await customers.says(first, 'It was two weeks ago');
    await row(/Ada .*2 unread It was two weeks ago/).waitFor();
    expect(await page.locator('tbody tr').first().textContent()).to.include('Ada');
    await app.post(`conversations/${first}/toggle_status`, { status: 'resolved' });
    await row(/Ada .*Resolved/).waitFor();
    await assignee('All 2').waitFor();
    await app.delete(`conversations/${first}`);
    await row(/Ada/).waitFor({ state: 'detached' });
    await assignee('All 1').waitFor();
    watched.expectNoProblems();
  });

  it('misses nothing that happens while it reads, or while it has no connection', async () => {
    let isSlow = true;
    await page.route('**/conversations', async (route) => {
      if (isSlow) await new Promise((resolve) => setTimeout(resolve, 1_000));
      isSlow = false;
      await route.continue();
    });
    const asked = page.waitForRequest('**/conversations');
    await customers.writes(shop, 'Cleo', 'Hello');
    await asked;
    await row(/Cleo/).waitFor();
    await page.unroute('**/conversations');
    // The answer is on its way when the next one happens.
    await page.route('**/conversations', async (route) => {
      const response = await route.fetch();
      await customers.writes(shop, 'Dora', 'Good morning');
      await page.unroute('**/conversations');
      await new Promise((resolve) => setTimeout(resolve, 1_000));
      await route.fulfill({ response });
    });
    await customers.writes(shop, 'Cleopatra', 'Hello again');
    await row(/Dora/).waitFor();
    await page.context().setOffline(true);
    await customers.writes(shop, 'Emil', 'Are you there?');
    await page.context().setOffline(false);
    await row(/Emil/).waitFor();
    watched.expectNoProblems(/ERR_INTERNET_DISCONNECTED|ERR_NETWORK/);
  });

  it('is filtered by status, inbox, team, label and text, counted by assignee, and keeps that in its address', async () => {
    const second = await customers.inbox('Second inbox');
    const id = await customers.writes(second, 'Fiona', 'The zipper is broken');
    await app.post('labels', { title: 'returns' });
    const team = (await app.post('teams', { name: 'Menders' })).body.id;
    await app.post(`conversations/${id}/labels`, { labels: ['returns'] });
    await app.post(`conversations/${id}/assignments`, { team_id: team });
    await app.post(`conversations/${id}/toggle_status`, { status: 'pending' });
    await page.goto(app.url + address);
    await row(/Fiona .*Menders \(team\).*returns/).waitFor();
    for (const [filter, option] of [
      ['Status', 'Pending'],
      ['Inbox', 'Second inbox'],
      ['Team', 'Menders'],
      ['Label', 'returns'],
    ] as const) {
      await page.getByLabel(filter).selectOption(option);
      await row(/Bob/).waitFor({ state: 'detached' });
      await settled();
      expect(await rows(), filter).to.equal(1);
      await row(/Fiona/).waitFor();
      await page.getByLabel(filter).selectOption('All');
      await row(/Bob/).waitFor();
    }
    await page.getByLabel('Search').pressSequentially('zipper');
    await row(/Bob/).waitFor({ state: 'detached' });
    expect(await rows()).to.equal(1);
    await page.getByLabel('Status').selectOption('Resolved');
    await page.getByText('No conversations match these filters.').waitFor();
    expect(new URL(page.url()).search).to.equal('?q=zipper&status=resolved');
    await page.reload();
    await page.getByText('No conversations match these filters.').waitFor();
    expect(await page.getByLabel('Search').inputValue()).to.equal('zipper');
    await page.getByRole('link', { name: 'Clear filters' }).click();
    await row(/Bob/).waitFor();
    const me = (await app.get('agents')).body.find(({ email }: { email: string }) => email !== agent.email).id;
    await app.post(`conversations/${id}/assignments`, { assignee_id: me });
    await assignee('Mine 1').click();
    await row(/Bob/).waitFor({ state: 'detached' });
    expect(await rows()).to.equal(1);
    await assignee('Unassigned').click();
    await row(/Fiona/).waitFor({ state: 'detached' });
    await page.goBack();
    await row(/Fiona/).waitFor();
    await page.goto(`${app.url}${address}?status=nonsense`);
    await page.getByRole('alert').filter({ hasText: 'status' }).waitFor();
    watched.expectNoProblems(/status of 400/);
  });

  it('goes on by pages, and a filter leads back to the first', async () => {
    for (let made = 0; made < 30; made += 1) await customers.writes(shop, `Customer ${made}`, 'Hello');
    await page.goto(app.url + address);
    await page.getByRole('button', { name: 'Next' }).click();
    await page.getByText('Page 2 of 2').waitFor();
    await row(/Bob/).waitFor();
    await page.getByLabel('Search').fill('Fiona');
    await row(/Fiona/).waitFor();
    expect(new URL(page.url()).search).to.equal('?q=Fiona');
    await page.goto(`${app.url}${address}?page=9`);
    await page.getByText('You have reached the end of the list').waitFor();
    watched.expectNoProblems(/status of 400/);
  });

  it('shows agents the conversations of their inboxes alone', async () => {
    const own = await signedIn(browser, app, agent.headers.api_access_token, address);
    await own.page.getByText('in your inboxes and teams').waitFor();
    const inbox = await customers.inbox("Grace's");
    await app.post(`inboxes/${inbox}/members`, { user_ids: [agent.id] });
    await own.page.reload();
    await own.page.getByText('in your inboxes and teams').waitFor();
    await customers.writes(inbox, 'Gustav', 'Only for Grace');
    await own.page.getByRole('row', { name: /Gustav/ }).waitFor();
    await customers.writes(shop, 'Henry', 'Not for Grace');
    await customers.writes(inbox, 'Ingrid', 'For Grace again');
    await own.page.getByRole('row', { name: /Ingrid/ }).waitFor();
    expect(await own.page.locator('tbody tr').count()).to.equal(2);
    own.expectNoProblems();
    await own.close();
  });

  it('shows what anybody wrote as text, fits narrow and wide screens, and works by keyboard', async () => {
    for (const text of xssTexts) await customers.writes(await customers.inbox(text), text, text);
    await app.post('teams', { name: xssTexts[1] });
    await page.goto(app.url + address);
    await page
      .locator('tbody')
      .getByText(xssTexts.at(-1) ?? '')
      .first()
      .waitFor();
    for (const width of widths) {
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 900 });
        await watched.expectAccessible();
        expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), `${width}`).to.be.at.most(0);
      }
    }
    await page.getByLabel('Search').fill('Fiona');
    await row(/Fiona/).waitFor();
    await row(/<script>/)
      .first()
      .waitFor({ state: 'detached' });
    await page.getByLabel('Label', { exact: true }).focus();
    const next = ['All', 'Mine', 'Unassigned', 'Assigned', 'Save view', 'Select all on this page', 'Select Fiona'];
    const nameOfFocus = 'document.activeElement.ariaLabel ?? document.activeElement.textContent';
    for (const name of [...next, 'Fiona']) {
      await page.keyboard.press('Tab');
      expect(await page.evaluate(nameOfFocus), name).to.include(name);
    }
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Fiona' }).waitFor();
    watched.expectNoProblems(/status of 400/);
  });
});

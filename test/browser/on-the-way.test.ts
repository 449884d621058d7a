import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { adminToken, TestApp } from '../support/app.ts';
import { TestBrowser, type WatchedPage } from '../support/browser.ts';
import { signedIn } from '../support/console.ts';
import { Customers } from '../support/conversing.ts';
import { HeldAnswers } from '../support/held-answers.ts';

// In the page: the limits of what is waited for are over five times as soon.
const hasten = `{
  const { timeout } = AbortSignal;
  AbortSignal.timeout = (ms) => timeout.call(AbortSignal, ms / 5);
}`;

describe('what is on its way in the console', function () {
  this.timeout(120_000);
  const browser = new TestBrowser();
  let app: TestApp;
  let customers: Customers;
  let inbox: number;
  let watched: WatchedPage;
  let page: Page;

  before(async function () {
    await browser.start(this);
    app = await TestApp.start();
    customers = new Customers(app);
    inbox = await customers.inbox('Plain');
    watched = await signedIn(browser, app, adminToken);
    page = watched.page;
  });

  afterEach(async () => {
    await page?.unrouteAll({ behavior: 'ignoreErrors' });
    await page?.goto('about:blank');
    watched?.problems.splice(0);
  });

  after(async () => {
    await browser.close();
    await app?.stop();
  });

  const open = async (id: number): Promise<void> => {
    await page.goto(`${app.url}/console/conversations/${id}`);
    await page.getByRole('textbox', { name: 'Reply' }).waitFor();
    await page.locator('[aria-label="Loading messages"]').waitFor({ state: 'detached' });
  };
  const to = async (name: string): Promise<void> => {
    await page.getByRole('navigation').getByRole('link', { name: 'Conversations' }).click();
    await page.getByRole('link', { name, exact: true }).click();
    await page.getByRole('heading', { level: 1, name }).waitFor();
  };
  const reply = () => page.getByRole('textbox', { name: 'Reply' });
  const send = () => page.getByRole('button', { name: 'Send' });
  const said = (text: string) => page.getByRole('log', { name: 'Messages' }).getByText(text);
  const contents = async (id: number): Promise<string[]> =>
    (await app.get(`conversations/${id}/messages`)).body.payload.map(({ content }: { content: string }) => content);
  const pathOf = (id: number) => `**/api/v1/accounts/1/conversations/${id}/messages*`;

  it('is sent once, though its page is left and opened again meanwhile', async () => {
    const id = await customers.writes(inbox, 'Ada', 'Hello');
    await customers.writes(inbox, 'Bert', 'Hello');
    await open(id);
    const held = new HeldAnswers();
    await page.route(pathOf(id), (route) =>
      route.request().method() === 'POST' ? held.hold(route) : route.continue(),
    );
    await app.events();
    await reply().fill('We open at nine');
    await send().click();
    await app.eventually(async () => held.count === 1);
    await to('Bert');
    expect(await reply().inputValue()).to.equal('');
    expect(await send().isEnabled()).to.equal(true);
    await to('Ada');
    await page.getByText('Sending…').waitFor();
    expect(await send().isDisabled()).to.equal(true);
    await reply().press('Control+Enter');
    held.release();
    await page.getByText('Ctrl+Enter sends.').waitFor();
    expect(await reply().inputValue()).to.equal('');
    await to('Bert');
    await to('Ada');
    expect(await reply().inputValue()).to.equal('');
    expect(await contents(id)).to.deep.equal(['Hello', 'We open at nine']);
    expect((await app.eventNames()).filter((name) => name === 'message_created')).to.have.length(1);
    watched.expectNoProblems();
  });

  it('leaves in the composer what is typed meanwhile', async () => {
    const id = await customers.writes(inbox, 'Clara', 'Hello');
    await open(id);
    const held = new HeldAnswers();
    await page.route(pathOf(id), (route) =>
      route.request().method() === 'POST' ? held.hold(route) : route.continue(),
    );
    await reply().fill('We open at nine');
    await send().click();
    await app.eventually(async () => held.count === 1);
    await reply().fill('On');
    held.release();
    await page.getByText('Ctrl+Enter sends.').waitFor();
    expect(await reply().inputValue()).to.equal('On');
    expect(await contents(id)).to.deep.equal(['Hello', 'We open at nine']);
    await reply().fill('');
    watched.expectNoProblems();
  });

  it('is told where it failed behind the back of who looks elsewhere, and is the same try then', async () => {
    const id = await customers.writes(inbox, 'Cleo', 'Hello');
    await customers.writes(inbox, 'Dora', 'Hello');
    await open(id);
    const { promise: lost, resolve: lose } = Promise.withResolvers<void>();
    await page.route(pathOf(id), async (route) => {
      if (route.request().method() !== 'POST') return route.continue();
      await route.fetch();
      await lost;
      return route.abort();
    });
    await reply().fill('Come on Sunday');
    await send().click();
    await app.eventually(async () => (await contents(id)).length === 2);
    await to('Dora');
    lose();
    await page.locator('.toast').filter({ hasText: 'Message not sent. Your draft is kept.' }).waitFor();
    await page.unrouteAll();
    await to('Cleo');
    expect(await reply().inputValue()).to.equal('Come on Sunday');
    await send().click();
    await app.eventually(async () => (await reply().inputValue()) === '');
    expect(await contents(id)).to.deep.equal(['Hello', 'Come on Sunday']);
    watched.expectNoProblems(/ERR_FAILED/);
  });

  it('is asked for ever more seldom where it fails, not for a hidden page, and not again where it is gone', async () => {
    const id = await customers.writes(inbox, 'Eve', 'Hello');
    let status = 503;
    let asked = 0;
    await page.route(pathOf(id), (route) => {
      asked += 1;
      return status === 200 ? route.continue() : route.fulfill({ status, json: { error: `It is ${status}.` } });
    });
    await page.goto(`${app.url}/console/conversations/${id}`);
    await page.getByRole('alert').filter({ hasText: 'It is 503.' }).waitFor();
    await page.waitForTimeout(5_000);
    expect(asked).to.be.within(2, 3);
    await page.evaluate(`Object.defineProperty(document, 'visibilityState', { value: 'hidden', configurable: true })`);
    await page.waitForTimeout(5_000);
    const hidden = asked;
    status = 200;
    await page.waitForTimeout(3_000);
    expect(asked).to.equal(hidden);
    await page.evaluate(`delete document.visibilityState; document.dispatchEvent(new Event('visibilitychange'))`);
    await said('Hello').waitFor();
    await page.getByRole('alert').waitFor({ state: 'detached' });
    status = 404;
    await page.reload();
    await page.getByRole('alert').filter({ hasText: 'It is 404.' }).waitFor();
    // Where the stream begins it is asked for once more.
    await page
      .locator('.person')
      .getByRole('status')
      .filter({ hasText: /^Live$/ })
      .waitFor();
    await page.waitForTimeout(1_500);
    const gone = asked;
    await page.waitForTimeout(4_000);
    expect(asked).to.equal(gone);
    watched.expectNoProblems(/status of (503|404)/);
  });

  it('is waited for so long and no longer where it is only read, and is there at the next try', async () => {
    await page.addInitScript(hasten);
    const held = new HeldAnswers();
    await page.route('**/api/v1/accounts/1/labels', held.hold);
    await page.goto(`${app.url}/console/settings/labels`);
    await page.getByRole('alert').filter({ hasText: 'did not respond within 20 seconds' }).waitFor();
    held.release();
    await page.unrouteAll();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('No labels yet').waitFor();
    watched.expectNoProblems();
  });
});

import { expect } from 'chai';
import { setTimeout as pause } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { adminToken, TestApp } from '../support/app.ts';
import { TestBrowser, type WatchedPage } from '../support/browser.ts';
import { expectAtAllWidths, signedIn } from '../support/console.ts';
import { Customers } from '../support/conversing.ts';
import { EventSource } from '../support/event-source.ts';
import { HeldAnswers } from '../support/held-answers.ts';
import { SleepingNetwork } from '../support/sleeping-network.ts';

const list = '/console/conversations';
const tickets = '**/events/ticket';

describe('the stream of events behind the console', function () {
  this.timeout(120_000);
  const browser = new TestBrowser();
  let app: TestApp;
  let customers: Customers;
  let inbox: number;
  let watched: WatchedPage;
  let page: Page;

  before(async function () {
    await browser.start(this);
    // One reader alone: whoever else follows takes the place of the page.
    app = await TestApp.start({ config: { eventStreamsPerAccount: 1 } });
    customers = new Customers(app);
    inbox = await customers.inbox('Shop');
    watched = await signedIn(browser, app, adminToken, '/console/settings/labels');
    page = watched.page;
  });

  afterEach(async () => {
    await page?.unrouteAll({ behavior: 'ignoreErrors' });
    await page?.goto('about:blank');
    watched?.problems.splice(0);
    if (app) await (await follow()).close();
  });
  after(async () => {
    await browser.close();
    await app?.stop();
  });

  const open = (path: string) => page.goto(app.url + path);
  const row = (name: RegExp) => page.getByRole('row', { name });
  const mark = (text: string | RegExp) => page.locator('.person').getByRole('status').filter({ hasText: text });
  const placed = () =>
    app.eventually(async () => (await app.query('SELECT FROM unplaced_events LIMIT 1')).length === 0);
  const link = (name: string) =>
    page.getByRole('navigation', { name: 'Console' }).getByRole('link', { name, exact: true });

  /** Takes the one place that there is, as soon as it is free. */
  const follow = () =>
    app.eventually(() =>
      EventSource.open({
        url: `${app.url}/api/v1/accounts/1/events/stream`,
        headers: { api_access_token: adminToken },
      }).catch(() => false as const),
    );

  it('loses nothing that happens between the loading of a view and its begin', async () => {
    const held = new HeldAnswers();
    await page.route(tickets, held.hold);
    await open(list);
    await page.getByText('No conversations yet').waitFor();
    await app.eventually(async () => held.count > 0);
    await customers.writes(inbox, 'Ada', 'Where is my order?');
    await placed();
    await pause(500);
    expect(await row(/Ada/).count()).to.equal(0);
    held.release();
    await row(/Ada/).waitFor();
    await mark(/^Live$/).waitFor();
    watched.expectNoProblems();
  });

  it('that is refused is a sentence beside the name, asked for less and less often, and goes on by itself', async () => {
    const other = await follow();
    let asked = 0;
    page.on('request', (request) => {
      if (request.url().endsWith('/events/ticket')) asked += 1;
    });
    await open(list);
    await mark('The account has as many streams of events open as it may have').waitFor();
    await expectAtAllWidths(watched);
    await pause(4_000);
    expect(asked).to.be.within(2, 7);
    await customers.writes(inbox, 'Bob', 'Anybody?');
    await other.close();
    await page.evaluate(`dispatchEvent(new Event('online'))`);
    await mark(/^Live$/).waitFor();
    await row(/Bob/).waitFor();
    watched.expectNoProblems(/status of 429/);
  });

  it('that is forbidden is told in the words of the service', async () => {
    await page.route(tickets, (route) =>
      route.fulfill({ status: 403, json: { error: 'Nobody follows this account today', code: 'forbidden' } }),
    );
    await open(list);
    await mark('Nobody follows this account today').waitFor();
    await page.unrouteAll();
    await mark(/^Live$/).waitFor();
    watched.expectNoProblems(/status of 403/);
  });

  it('is one for all views, and ends behind the last of them', async () => {
    let asked = 0;
    page.on('request', (request) => {
      if (request.url().endsWith('/events/ticket')) asked += 1;
    });
    await open(list);
    await mark(/^Live$/).waitFor();
    for (const name of ['Live', 'Deliveries', 'Runs', 'Live']) {
      await link(name).click();
      await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
      await pause(300);
    }
    await mark(/^Live$/).waitFor();
    expect(asked).to.equal(1);
    await customers.writes(inbox, 'Cleo', 'Hello');
    await page
      .locator('tbody tr')
      .filter({ hasText: /message_created.*Hello/ })
      .waitFor();
    expect(await page.getByText('Some events were missed').count()).to.equal(0);
    await link('Labels').click();
    await (await follow()).close();
    expect(await mark(/Live/).count()).to.equal(0);
    expect(asked).to.equal(1);
    watched.expectNoProblems();
  });

  it('says on the page of events that some are lost, where it cannot go on where it was', async () => {
    const network = await SleepingNetwork.open(app.url);
    const own = await browser.open();
    await own.page.goto(`${network.url}/console/live`);
    await own.page.getByLabel('Access token').fill(adminToken);
    await own.page.getByRole('button', { name: 'Sign in' }).click();
    const status = own.page.locator('.person').getByRole('status');
    await status.filter({ hasText: /^Live$/ }).waitFor();
    expect(await own.page.getByText('Some events were missed').count()).to.equal(0);
    await own.page.route('**/events/stream?*', (route) =>
      route.fulfill({ status: 410, json: { error: 'The feed is not kept as far back', code: 'cursor_expired' } }),
    );
    const refused = own.page.waitForResponse((response) => response.status() === 410);
    network.cut();
    await status.filter({ hasText: 'The service is not responding' }).waitFor();
    network.wake();
    await refused;
    await own.page.unrouteAll({ behavior: 'ignoreErrors' });
    await own.page.getByText('Some events were missed').waitFor();
    await customers.writes(inbox, 'Dora', 'Good morning');
    await own.page
      .locator('tbody tr')
      .filter({ hasText: /message_created.*Good morning/ })
      .waitFor();
    // The cut network is told in several words, and the place of the stream that it ended may not be free at once.
    own.expectNoProblems(/status of 4(?:10|29)|net::ERR_/);
    await own.close();
    await network.close();
  });
});

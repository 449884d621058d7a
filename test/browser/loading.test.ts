import { expect } from 'chai';
import type { Page, Route } from 'playwright-core';
import { adminToken } from '../support/app.ts';
import { TestBrowser, type WatchedPage } from '../support/browser.ts';
import { signedIn } from '../support/console.ts';
import { Customers } from '../support/conversing.ts';
import { HeldAnswers } from '../support/held-answers.ts';
import { fail, Sending } from '../support/sending.ts';

/** Longer than the console waits before it reads again what an event concerns. */
const settleMs = 700;

describe('what views of the console load', function () {
  this.timeout(120_000);
  const browser = new TestBrowser();
  const sending = Sending.use();
  let watched: WatchedPage;
  let page: Page;

  before(async function () {
    await browser.start(this);
    watched = await signedIn(browser, sending.app, adminToken, '/console/settings/labels');
    page = watched.page;
  });

  after(() => browser.close());
  afterEach(async () => {
    await page?.unrouteAll({ behavior: 'ignoreErrors' });
    await page?.goto('about:blank');
    watched?.problems.splice(0);
  });

  const open = (path: string) => page.goto(sending.app.url + path);
  const rows = () => page.locator('tbody tr').count();
  const eventually = (probe: () => Promise<boolean>) => sending.app.eventually(probe);

  it('is a sentence where the answer is cut off, after a change too, and is there at the next try', async () => {
    await page.route('**/api/v1/accounts/1/labels', (route) =>
      route.fulfill({ status: 200, contentType: 'application/json', body: '{"payload": [{"id": 1, "ti' }),
    );
    await open('/console/settings/labels');
    await page.getByRole('alert').filter({ hasText: 'The response could not be read' }).waitFor();
    await watched.expectAccessible();
    await page.unrouteAll();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('No labels yet').waitFor();
    // The page of something between the browser and the service.
    await page.route('**/api/v1/accounts/1/labels', (route) =>
      route.request().method() === 'POST'
        ? route.fulfill({ status: 200, contentType: 'text/html', body: '<title>Welcome to the hotel</title>' })
        : route.continue(),
    );
    await page.getByRole('button', { name: 'New label' }).click();
    await page.getByLabel('Title').fill('urgent');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('dialog').getByRole('alert').filter({ hasText: 'could not be read' }).waitFor();
    await page.unrouteAll();
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('cell', { name: 'urgent', exact: true }).waitFor();
    expect((await sending.app.get('labels')).body.payload).to.have.length(1);
    watched.expectNoProblems();
  });

  it('gives way to the answer of a change, whatever older answer is still on its way', async () => {
    const customers = new Customers(sending.app);
    const id = await customers.writes(await customers.inbox('Shop'), 'Ada', 'Hello');
    const record = async () => (await sending.app.get(`conversations/${id}`)).body;
    await open(`/console/conversations/${id}`);
    await eventually(async () => (await record()).unread_count === 0);
    await page.waitForTimeout(settleMs);
    const held = new HeldAnswers();
    await page.route(`**/api/v1/accounts/1/conversations/${id}`, (route) =>
      route.request().method() === 'GET' ? held.hold(route) : route.continue(),
    );
    await sending.app.patch(`conversations/${id}`, { priority: 'low' });
    await eventually(async () => held.count > 0);
    const priority = page.getByLabel('Priority', { exact: true });
    const answered = page.waitForResponse((response) => response.request().method() === 'PATCH');
    await priority.selectOption('urgent');
    await (await answered).finished();
    await page.waitForTimeout(settleMs);
    held.release();
    await page.waitForTimeout(settleMs);
    expect(await priority.inputValue()).to.equal('urgent');
    // What somebody else changes afterwards is shown all the same.
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await sending.app.patch(`conversations/${id}`, { priority: 'high' });
    await eventually(async () => (await priority.inputValue()) === 'high');
    watched.expectNoProblems();
  });

  it('leaves what is entered while a change is on its way', async () => {
    const { id } = await sending.made('agent_bots', { name: 'Faq', kind: 'plugin', plugin_id: 'faq' });
    await open(`/console/bots/${id}`);
    const field = (name: string) => page.getByLabel(name, { exact: true });
    await field('Name').fill('Fay');
    const held = new HeldAnswers();
    await page.route(`**/agent_bots/${id}`, held.hold);
    await page.getByRole('button', { name: 'Save' }).click();
    await eventually(async () => held.count > 0);
    await field('Description').fill('She knows the hours.');
    held.release();
    await page.locator('.toast').filter({ hasText: 'Saved.' }).waitFor();
    await page.waitForTimeout(settleMs);
    expect(await field('Description').inputValue()).to.equal('She knows the hours.');
    await page.getByRole('button', { name: 'Save' }).click();
    await eventually(async () => {
      held.release();
      return (await sending.app.get(`agent_bots/${id}`)).body.description === 'She knows the hours.';
    });
    expect((await sending.app.get(`agent_bots/${id}`)).body.name).to.equal('Fay');
    watched.expectNoProblems();
  });

  const isList = ({ pathname }: URL) => pathname === '/api/v1/accounts/1/deliveries';
  const isFirst = (route: Route) => !new URL(route.request().url()).searchParams.has('cursor');

  it('grows by "Show more" for good, while the list is looked at again', async () => {
    sending.receiver.answerWith(fail);
    await sending.webhookFor('contact_created');
    for (let made = 0; made < 30; made += 1) await sending.made('contacts', { name: `Contact ${made}` });
    const firsts = new HeldAnswers();
    await open('/console/deliveries');
    await eventually(async () => (await rows()) === 25);
    await page.waitForTimeout(settleMs);
    await page.route(isList, (route) => (isFirst(route) ? firsts.hold(route) : route.continue()));
    await eventually(async () => firsts.count > 0);
    await page.getByRole('button', { name: 'Show more' }).click();
    await eventually(async () => (await rows()) === 30);
    firsts.release();
    await page.waitForTimeout(settleMs);
    firsts.release();
    await page.waitForTimeout(settleMs);
    expect(await rows()).to.equal(30);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    // The list is looked at again while the next part is on its way.
    const nexts = new HeldAnswers();
    await open('/console/deliveries');
    await eventually(async () => (await rows()) === 25);
    await page.waitForTimeout(settleMs);
    await page.route(isList, (route) => (isFirst(route) ? route.continue() : nexts.hold(route)));
    const looked = page.waitForResponse((response) => isList(new URL(response.url())));
    await page.getByRole('button', { name: 'Show more' }).click();
    await (await looked).finished();
    await page.waitForTimeout(settleMs);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    nexts.release();
    await eventually(async () => (await rows()) === 30);
    await page.waitForTimeout(settleMs);
    expect(await rows()).to.equal(30);
    watched.expectNoProblems();
  });
});

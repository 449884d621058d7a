import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { adminToken, TestApp } from '../support/app.ts';
import { TestBrowser, type WatchedPage } from '../support/browser.ts';
import { signedIn } from '../support/console.ts';
import { Customers } from '../support/conversing.ts';
import { HeldAnswers } from '../support/held-answers.ts';
import { addPerson } from '../support/people.ts';

describe('what the console keeps when a dialog or a sign-in ends', function () {
  this.timeout(120_000);
  const browser = new TestBrowser();
  let app: TestApp;
  let watched: WatchedPage;
  let page: Page;

  before(async function () {
    await browser.start(this);
    app = await TestApp.start();
    watched = await signedIn(browser, app, adminToken, '/console/settings/labels');
    page = watched.page;
  });

  after(async () => {
    await browser.close();
    await app?.stop();
  });

  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const dialog = () => page.getByRole('dialog');
  const focusIsAt = (expected: string) =>
    app.eventually(async () => (await page.evaluate('document.activeElement.textContent')) === expected);
  const labels = async (): Promise<string[]> =>
    (await app.get('labels')).body.payload.map(({ title }: { title: string }) => title);

  it('is the place of who works by keyboard: the button, or the heading where it is gone', async () => {
    await button('New label').press('Enter');
    await page.getByLabel('Title').fill('urgent');
    await page.getByLabel('Title').press('Enter');
    await dialog().waitFor({ state: 'detached' });
    await focusIsAt('New label');
    await button('Delete urgent').press('Enter');
    await dialog().getByRole('button', { name: 'No' }).press('Enter');
    await dialog().waitFor({ state: 'detached' });
    await focusIsAt('Delete');
    await button('Delete urgent').press('Enter');
    await dialog().getByRole('button', { name: 'Yes' }).press('Enter');
    await page.getByText('No labels yet').waitFor();
    await focusIsAt('Labels');
    watched.expectNoProblems();
  });

  it('is the key that is pressed as soon as a dialog is gone: it opens the next', async () => {
    await button('New label').press('Enter');
    await dialog().waitFor();
    // The browser tells of the end in a task of its own, which comes after keys that were pressed before.
    await page.evaluate(`(async () => {
      document.querySelector('dialog').close();
      await new Promise((resolve) => queueMicrotask(() => queueMicrotask(resolve)));
      [...document.querySelectorAll('button')].find(({ textContent }) => textContent === 'New label').click();
    })()`);
    await page.getByLabel('Title').fill('second');
    await page.getByLabel('Title').press('Enter');
    await dialog().waitFor({ state: 'detached' });
    expect(await labels()).to.deep.equal(['second']);
    await app.delete(`labels/${(await app.get('labels')).body.payload[0].id}`);
    await page.reload();
    watched.expectNoProblems();
  });

  it('is no question that somebody else was asked', async () => {
    await app.post('labels', { title: 'kept' });
    await page.reload();
    await button('Delete kept').click();
    await dialog().waitFor();
    await page.evaluate(`fetch('/sign_in', { method: 'DELETE' })`);
    await page.evaluate(`location.hash = 'link=none'`);
    await page.getByLabel('Access token').fill(adminToken);
    await button('Sign in').click();
    await button('Delete kept').waitFor();
    expect(await dialog().count()).to.equal(0);
    expect(await labels()).to.deep.equal(['kept']);
    watched.expectNoProblems(/status of 4\d\d/);
  });

  it('is the sign-in, whatever is answered late to what was sent before it', async () => {
    await page.goto(`${app.url}/console/settings/labels`);
    await button('New label').click();
    await page.getByLabel('Title').fill('late');
    const held = new HeldAnswers();
    await page.route('**/labels', (route) =>
      route.request().method() === 'POST' ? held.hold(route) : route.continue(),
    );
    await page.evaluate(`fetch('/sign_in', { method: 'DELETE' })`);
    const late = page.waitForResponse(
      (response) => response.request().method() === 'POST' && response.status() === 401,
    );
    await button('Create').click();
    await app.eventually(async () => held.count > 0);
    await page.evaluate(`location.hash = 'link=none'`);
    await page.getByLabel('Access token').fill(adminToken);
    await button('Sign in').click();
    await button('New label').waitFor();
    held.release();
    await (await late).finished();
    await page.unrouteAll();
    await page.getByRole('link', { name: 'Agents', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Agents' }).waitFor();
    await page.getByText('(you)').waitFor();
    watched.expectNoProblems(/status of 4\d\d/);
  });

  it('is the new access token, though its sign-in is slow and the one before has ended', async () => {
    const { headers } = await addPerson(app, { name: 'Ada', role: 'administrator' });
    const own = await signedIn(browser, app, headers.api_access_token, '/console/conversations');
    await own.page
      .locator('.person')
      .getByRole('status')
      .filter({ hasText: /^Live$/ })
      .waitFor();
    await own.page.getByRole('link', { name: 'Access token', exact: true }).click();
    const { promise: taken, resolve: take } = Promise.withResolvers<void>();
    await own.page.route('**/sign_in', async (route) => {
      await taken;
      await route.continue();
    });
    await own.page.getByRole('button', { name: 'Reset access token' }).click();
    await own.page.getByRole('button', { name: 'Yes' }).click();
    const token = own.page.getByLabel('New access token', { exact: true });
    await token.waitFor();
    // Longer than the service takes to end the stream of events, and the page to ask for it again.
    await own.page.waitForTimeout(4_000);
    expect(await token.count()).to.equal(1);
    take();
    await own.page.locator('.toast').filter({ hasText: 'Access token reset.' }).waitFor();
    await own.page.getByRole('link', { name: 'Conversations', exact: true }).click();
    await own.page
      .locator('.person')
      .getByRole('status')
      .filter({ hasText: /^Live$/ })
      .waitFor();
    own.expectNoProblems();
    await own.close();
  });

  it('is no stream of events while somebody signs out, slow as that may be', async () => {
    // A page that asks for nothing but the stream.
    const own = await signedIn(browser, app, adminToken, '/console/live');
    await own.page
      .locator('.person')
      .getByRole('status')
      .filter({ hasText: /^Live$/ })
      .waitFor();
    await own.page.route('**/sign_in', async (route) => {
      const response = await route.fetch();
      await new Promise((resolve) => setTimeout(resolve, 4_000));
      await route.fulfill({ response });
    });
    await own.page.getByRole('button', { name: 'Sign out' }).click();
    await own.page.getByLabel('Access token').waitFor();
    expect(await own.page.getByRole('alert').count()).to.equal(0);
    own.expectNoProblems();
    await own.close();
  });

  it('is the stream of events, for the views that are shown on when the same person signs in again', async () => {
    const customers = new Customers(app);
    const inbox = await customers.inbox('Plain');
    await page.goto(`${app.url}/console/conversations`);
    const isLive = page.getByRole('status').filter({ hasText: /^Live$/ });
    await isLive.waitFor();
    const begun = page.waitForRequest('**/events/ticket');
    // A link that is spent: the present sign-in goes on.
    await page.evaluate(`location.hash = 'link=none'`);
    await page.getByText('You are already signed in.').waitFor();
    await begun;
    await isLive.waitFor();
    await customers.writes(inbox, 'Ada', 'Hello');
    await page.getByRole('link', { name: 'Ada', exact: true }).waitFor();
    watched.expectNoProblems(/status of 4\d\d/);
  });
});

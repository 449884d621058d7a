import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { TestApp } from '../support/app.ts';
import { TestBrowser, WatchedPage } from '../support/browser.ts';
import { expectAtAllWidths, signedIn } from '../support/console.ts';
import { Customers } from '../support/conversing.ts';
import { addPerson, type User } from '../support/people.ts';
import { signInAt } from '../support/sign-in.ts';

const lookAtIt = 'document.dispatchEvent(new Event("visibilitychange"))';

describe('a page of one person in a browser that is signed in as another by now', function () {
  this.timeout(120_000);
  const browser = new TestBrowser();
  let app: TestApp;
  let customers: Customers;
  let inbox: number;
  let alice: User;
  let bob: User;

  before(async function () {
    await browser.start(this);
    app = await TestApp.start();
    customers = new Customers(app);
    inbox = await customers.inbox('Plain');
    alice = await addPerson(app, { name: 'Alice', role: 'administrator' });
    bob = await addPerson(app, { name: 'Bob', role: 'administrator' });
  });

  after(async () => {
    await browser.close();
    await app?.stop();
  });

  const messages = async (id: number) => (await app.get(`conversations/${id}/messages`)).body.payload;
  const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
  const reply = (page: Page) => page.getByRole('textbox', { name: 'Reply' });
  const shows = (page: Page, name: string) => page.locator('.person span').filter({ hasText: name }).waitFor();

  async function open(id: number): Promise<WatchedPage> {
    const watched = await signedIn(browser, app, alice.headers.api_access_token, `/console/conversations/${id}`);
    await reply(watched.page).waitFor();
    await watched.page.locator('[aria-label="Loading messages"]').waitFor({ state: 'detached' });
    return watched;
  }

  // The browser's cookie, and nothing that tells its pages of it.
  async function become(page: Page, { headers }: User): Promise<void> {
    const { cookie = '' } = await signInAt(app.url, { access_token: headers.api_access_token });
    const [name = '', value = ''] = cookie.split('=');
    await page.context().addCookies([{ name, value, url: app.url, httpOnly: true, sameSite: 'Strict' }]);
  }

  async function signInHere(page: Page, { headers }: User): Promise<void> {
    await button(page, 'Sign out').click();
    await page.getByLabel('Access token').fill(headers.api_access_token);
    await button(page, 'Sign in').click();
  }

  // The page cannot find out who is signed in until it is let: so nothing of this depends on what it asks for by itself.
  async function keepInTheDark(page: Page): Promise<() => Promise<void>> {
    await page.route(
      ({ pathname }) => pathname === '/sign_in',
      (route) => (route.request().method() === 'GET' ? route.abort('connectionreset') : route.continue()),
    );
    return async () => {
      await page.unrouteAll();
      await page.evaluate(lookAtIt);
    };
  }

  const refusal = (page: Page) => page.getByRole('alert').filter({ hasText: 'Somebody else is signed in' }).first();
  const notice = (page: Page) =>
    page.getByRole('alert').filter({ hasText: 'This browser is now signed in as Bob' }).first();
  const dark = /status of 401|ERR_CONNECTION_RESET/;

  it("sends nothing as the other, goes on as the other, and keeps what was written for its writer's eyes", async () => {
    const id = await customers.writes(inbox, 'Eve', 'Hello');
    const watched = await open(id);
    const { page } = watched;
    await reply(page).fill('From Alice alone');
    const light = await keepInTheDark(page);
    await become(page, bob);
    await app.events();
    await button(page, 'Send').click();
    await refusal(page).waitFor();
    expect(await reply(page).inputValue()).to.equal('From Alice alone');
    await light();
    await notice(page).waitFor();
    await shows(page, 'Bob');
    await reply(page).waitFor();
    expect(await reply(page).inputValue()).to.equal('');
    expect(await messages(id)).to.have.length(1);
    expect(await app.eventNames()).to.not.include('message_created');
    await expectAtAllWidths(watched);
    await button(page, 'Dismiss').first().click();
    await reply(page).fill('From Bob');
    await button(page, 'Send').click();
    await page.getByRole('log').locator('.said').filter({ hasText: 'From Bob' }).waitFor();
    expect((await messages(id)).at(-1).sender.name).to.equal('Bob');
    await signInHere(page, alice);
    await shows(page, 'Alice');
    await reply(page).waitFor();
    expect(await reply(page).inputValue()).to.equal('From Alice alone');
    await button(page, 'Send').click();
    await page.getByRole('log').locator('.said').filter({ hasText: 'From Alice alone' }).waitFor();
    expect((await messages(id)).at(-1).sender.name).to.equal('Alice');
    watched.expectNoProblems(dark);
    await watched.close();
  });

  it('sends no files as the other either, and keeps them', async () => {
    const id = await customers.writes(inbox, 'Fay', 'Hello');
    const watched = await open(id);
    const { page } = watched;
    await page
      .getByLabel('Files', { exact: true })
      .setInputFiles([{ name: 'how to.txt', mimeType: 'text/plain', buffer: Buffer.from('Turn it') }]);
    await become(page, bob);
    await button(page, 'Send').click();
    await notice(page).waitFor();
    await shows(page, 'Bob');
    await reply(page).waitFor();
    expect(await page.getByText('how to.txt').count()).to.equal(0);
    expect(await messages(id)).to.have.length(1);
    await signInHere(page, alice);
    await page.getByRole('list', { name: 'Files to send' }).getByText('how to.txt').waitFor();
    // Where it has noticed before the button is pressed, there is nothing to send.
    watched.expectNoProblems(/status of 4(?:01|22)/);
    await watched.close();
  });

  it('notices it when another page of the browser signs out or in, and when somebody looks at it again', async () => {
    const id = await customers.writes(inbox, 'Gus', 'Hello');
    const watched = await open(id);
    const { page } = watched;
    await reply(page).fill('Of Alice');
    const other = await WatchedPage.watch(await page.context().newPage());
    await other.page.goto(`${app.url}/console/settings/labels`);
    await shows(other.page, 'Alice');
    await button(other.page, 'Sign out').click();
    await page.getByRole('alert').filter({ hasText: 'You were signed out. Sign in again to continue.' }).waitFor();
    await other.page.getByLabel('Access token').fill(bob.headers.api_access_token);
    await button(other.page, 'Sign in').click();
    await shows(page, 'Bob');
    await reply(page).waitFor();
    expect(await reply(page).inputValue()).to.equal('');
    await become(page, alice);
    for (const one of [page, other.page]) await one.evaluate(lookAtIt);
    for (const one of [page, other.page]) await shows(one, 'Alice');
    await reply(page).waitFor();
    expect(await reply(page).inputValue()).to.equal('Of Alice');
    watched.expectNoProblems(/status of 401/);
    other.expectNoProblems(/status of 401/);
    await watched.close();
  });

  it('signs nobody else out', async () => {
    const watched = await signedIn(browser, app, alice.headers.api_access_token, '/console/settings/labels');
    const { page } = watched;
    const light = await keepInTheDark(page);
    await become(page, bob);
    await button(page, 'Sign out').click();
    await refusal(page).waitFor();
    await light();
    await shows(page, 'Bob');
    await page.reload();
    await shows(page, 'Bob');
    watched.expectNoProblems(dark);
    await watched.close();
  });

  it('ends an import that the first one began, where it is', async () => {
    const path = '/console/knowledge/import';
    const watched = await signedIn(browser, app, alice.headers.api_access_token, path);
    const { page } = watched;
    let letGo = (): void => undefined;
    const opened = new Promise<void>((resolve) => (letGo = resolve));
    let count = 0;
    await page.route('**/articles/import', async (route) => {
      count += 1;
      if (count > 1) await opened;
      await route.continue().catch(() => undefined);
    });
    const lines = Array.from({ length: 450 }, (_, at) =>
      JSON.stringify({ title: `Of Alice ${at}`, content: 'Text.', path: `alice/${at}.md` }),
    );
    const file = { name: 'alice.jsonl', mimeType: 'application/octet-stream', buffer: Buffer.from(lines.join('\n')) };
    await page.getByLabel('File').setInputFiles([file]);
    await button(page, 'Import').click();
    await page.getByText('200 of 450').waitFor();
    await become(page, bob);
    await page.evaluate(lookAtIt);
    await shows(page, 'Bob');
    await page.getByLabel('File').waitFor();
    letGo();
    expect(await page.getByText('of 450').count()).to.equal(0);
    await page.reload();
    await shows(page, 'Bob');
    expect((await app.get('articles')).body.meta.count).to.equal(200);
    expect(count).to.equal(2);
    watched.expectNoProblems(/status of 401/);
    await watched.close();
  });
});

import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { makeConsoleLink } from '../../src/app/start/console-link.ts';
import { addAgent } from '../../src/domain/people/users.ts';
import { systemRandom } from '../../src/lib/ports.ts';
import { TestApp } from '../support/app.ts';
import { TestBrowser } from '../support/browser.ts';
import { expectAtAllWidths, signedIn } from '../support/console.ts';
import { addAccount, addPerson, type Person, type User } from '../support/people.ts';

describe('who is signed in at the console, and in which account', function () {
  this.timeout(120_000);
  const browser = new TestBrowser();
  let app: TestApp;
  let second: number;
  let foreign: number;
  let person: User;
  let admin: Person['headers'];

  before(async function () {
    await browser.start(this);
    app = await TestApp.start();
    person = await addPerson(app, { name: 'Ada', role: 'administrator' });
    const { id, administrator } = await addAccount(app, 'Second');
    second = id;
    admin = administrator.headers;
    await app.app.database.transaction((sql) =>
      addAgent(sql, { accountId: second, userId: person.id, role: 'agent', now: new Date() }),
    );
    foreign = (await addAccount(app, 'Foreign')).id;
    await app.post('labels', { title: 'of-the-first' });
    await app.query('INSERT INTO labels (account_id, title, color) SELECT $1, $2, color FROM labels LIMIT 1', [
      second,
      'of-the-second',
    ]);
  });

  after(async () => {
    await browser.close();
    await app?.stop();
  });

  const enter = (path: string) => signedIn(browser, app, person.headers.api_access_token, path);
  const label = (page: Page, name: string) => page.getByRole('cell', { name, exact: true }).waitFor();
  const account = (page: Page) => page.getByLabel('Account', { exact: true });
  const link = (page: Page, name: string) =>
    page.getByRole('navigation', { name: 'Console' }).getByRole('link', { name, exact: true });

  it('keeps the chosen account in the address: when loaded anew, behind links, in new tabs, and on the way back', async () => {
    const watched = await enter('/console/settings/labels');
    const { page } = watched;
    await label(page, 'of-the-first');
    expect(new URL(page.url()).search).to.equal('');
    await account(page).selectOption('Second');
    await label(page, 'of-the-second');
    expect(await page.getByText('of-the-first').count()).to.equal(0);
    expect(new URL(page.url()).search).to.equal(`?account=${second}`);
    await page.reload();
    await label(page, 'of-the-second');
    // An agent there, and no administrator as in the first one.
    expect(await link(page, 'Webhooks').count()).to.equal(0);
    await link(page, 'Conversations').click();
    await page.waitForURL(`${app.url}/console/conversations?account=${second}`);
    await page.getByLabel('Status').selectOption('Resolved');
    await page.waitForURL(/status=resolved/);
    await page.reload();
    expect(await account(page).inputValue()).to.equal(String(second));
    expect(await page.getByLabel('Status').inputValue()).to.equal('resolved');
    const tab = await page.context().newPage();
    await tab.goto(app.url + ((await link(page, 'Labels').getAttribute('href')) ?? ''));
    await label(tab, 'of-the-second');
    await tab.close();
    await page.goto(`${app.url}/console/settings/labels`);
    await label(page, 'of-the-first');
    await account(page).selectOption('Second');
    await label(page, 'of-the-second');
    await page.goBack();
    await label(page, 'of-the-first');
    expect(await account(page).inputValue()).to.equal('1');
    watched.expectNoProblems();
    await watched.close();
  });

  it('is no filter of a view', async () => {
    const watched = await enter(`/console/runs?account=${second}`);
    const { page } = watched;
    await page.getByText('No runs yet').waitFor();
    expect(await page.getByRole('button', { name: 'Clear filters' }).count()).to.equal(0);
    watched.expectNoProblems();
    await watched.close();
  });

  it('is that of the conversation behind the link of the chat page', async () => {
    const base = `/api/v1/accounts/${second}`;
    const channel = { name: 'Chat', channel_type: 'Channel::WebWidget' };
    const { body: inbox } = await app.post(`${base}/inboxes`, channel, admin);
    const { body: agents } = await app.get(`${base}/agents`, admin);
    const { id: seat } = agents.find(({ email }: { email: string }) => email === person.email);
    expect((await app.post(`${base}/inboxes/${inbox.id}/members`, { user_ids: [seat] }, admin)).status).to.equal(200);
    const watched = await enter('/console');
    const { page } = watched;
    await page.goto(`${app.url}/chat/${inbox.identifier}`);
    await page.getByRole('textbox', { name: 'Message' }).fill('Where is my order?');
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByRole('link', { name: 'Open in console' }).click();
    await page.getByRole('log', { name: 'Messages' }).getByText('Where is my order?').waitFor();
    expect(await account(page).inputValue()).to.equal(String(second));
    watched.expectNoProblems();
    await watched.close();
  });

  it('says so at an address in an account of others, acts in none, and leads to the own ones', async () => {
    const watched = await enter(`/console/settings/labels?account=${foreign}`);
    const { page } = watched;
    await page.getByRole('heading', { level: 1, name: 'Account not found' }).waitFor();
    expect(await page.getByText('of-the-first').count()).to.equal(0);
    await expectAtAllWidths(watched);
    await page.getByRole('main').getByRole('link', { name: 'Second' }).click();
    await page.getByRole('heading', { level: 1, name: 'Conversations' }).waitFor();
    expect(await account(page).inputValue()).to.equal(String(second));
    watched.expectNoProblems();
    await watched.close();
  });

  const signIns = ({ pathname }: URL) => pathname === '/sign_in';
  const signOut = (page: Page) => page.getByRole('button', { name: 'Sign out' });

  it('tells why it is not known, in place of asking for a token, and goes on by itself', async () => {
    const watched = await enter('/console/settings/labels');
    const { page } = watched;
    await page.route(signIns, (route) =>
      route.fulfill({ status: 503, json: { error: 'The service is busy: try again', code: 'busy' } }),
    );
    await page.reload();
    await page.getByRole('alert').filter({ hasText: 'The service is busy: try again' }).waitFor();
    expect(await page.getByLabel('Access token').count()).to.equal(0);
    await expectAtAllWidths(watched);
    await page.unrouteAll();
    await page.getByRole('button', { name: 'Try again' }).click();
    await signOut(page).waitFor();
    for (const broken of ['reset', 'cut'] as const) {
      await page.route(signIns, (route) =>
        broken === 'reset' ? route.abort('connectionreset') : route.fulfill({ status: 200, body: '{"prof' }),
      );
      await page.reload();
      await page
        .getByRole('alert')
        .filter({ hasText: broken === 'reset' ? 'is not responding' : 'could not be read' })
        .waitFor();
      await page.unrouteAll();
      await label(page, 'of-the-first');
    }
    watched.expectNoProblems(/status of 503|ERR_CONNECTION_RESET/);
    await watched.close();
  });

  const newLink = async (): Promise<string> => {
    const { database } = app.app;
    return (await makeConsoleLink({ database, random: systemRandom }, { url: app.url, email: person.email })) ?? '';
  };

  const paste = (page: Page, made: string) => page.evaluate(`location.hash = ${JSON.stringify(new URL(made).hash)}`);

  it('stays so at a link that was used already, with a word', async () => {
    const used = await newLink();
    const watched = await browser.open();
    const { page } = watched;
    await page.goto(used);
    await signOut(page).waitFor();
    await page.goto('about:blank');
    await page.goto(used);
    await page.getByRole('status').filter({ hasText: 'You are already signed in.' }).waitFor();
    await page.getByRole('heading', { level: 1, name: 'Conversations' }).waitFor();
    expect(page.url()).to.not.include('#');
    await signOut(page).click();
    await page.getByLabel('Access token').waitFor();
    await page.goto('about:blank');
    await page.goto(used);
    await page.getByRole('alert').filter({ hasText: 'npx switchboard console-link' }).waitFor();
    watched.expectNoProblems(/status of 410/);
    // The next link is pasted where the page is open: nothing is loaded anew.
    await paste(page, await newLink());
    await signOut(page).waitFor();
    expect(page.url()).to.not.include('#');
    await watched.close();
  });

  it('keeps a link that nobody answered for the next try', async () => {
    const watched = await browser.open();
    const { page } = watched;
    await page.route(signIns, (route) => route.fulfill({ status: 503, json: { error: 'The service is busy' } }));
    await page.goto(await newLink());
    await page.getByRole('alert').filter({ hasText: 'The service is busy' }).waitFor();
    expect(page.url()).to.not.include('#');
    await page.unrouteAll();
    await page.getByRole('button', { name: 'Try again' }).click();
    await signOut(page).waitFor();
    watched.expectNoProblems(/status of 503/);
    await watched.close();
  });

  it('shows nothing of the person before, when another one signs in by a link', async () => {
    const { headers } = await addPerson(app, { name: 'Grace', role: 'administrator' });
    const watched = await signedIn(browser, app, headers.api_access_token, '/console/settings/tokens');
    const { page } = watched;
    await page.getByRole('button', { name: 'Reset access token' }).click();
    await page.getByRole('button', { name: 'Yes' }).click();
    const secret = page.getByLabel('New access token', { exact: true });
    await secret.waitFor();
    await paste(page, await newLink());
    await page.locator('.person span').filter({ hasText: /^Ada/ }).waitFor();
    expect(await secret.count()).to.equal(0);
    watched.expectNoProblems();
    await watched.close();
  });
});

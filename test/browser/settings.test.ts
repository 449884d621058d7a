import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { adminToken, TestApp } from '../support/app.ts';
import { TestBrowser, type WatchedPage } from '../support/browser.ts';
import { loaded, signedIn, widths } from '../support/console.ts';
import { addPerson } from '../support/people.ts';

const attack = `"><img src=x onerror=alert(1)><script>alert(2)</script>`;

describe('the settings in the console', function () {
  this.timeout(120_000);
  const browser = new TestBrowser();
  let app: TestApp;
  let watched: WatchedPage;
  let page: Page;

  before(async function () {
    await browser.start(this);
    app = await TestApp.start({ engine: false });
    watched = await signedIn(browser, app, adminToken);
    page = watched.page;
  });

  after(async () => {
    await browser.close();
    await app?.stop();
  });

  const open = async (name: string): Promise<void> => {
    await page.getByRole('navigation', { name: 'Console' }).getByRole('link', { name }).click();
    await page.getByRole('heading', { level: 1, name }).waitFor();
    await loaded(page);
  };
  const toast = (text: string) => page.locator('.toast').getByText(text, { exact: true }).first().waitFor();

  it('all open without an error, accessibly, on narrow and wide screens', async () => {
    for (const name of ['Inboxes', 'Agents', 'Teams', 'Labels', 'Access token', 'Event catalogue']) {
      for (const width of widths) {
        await page.setViewportSize({ width, height: 900 });
        await open(name);
        await watched.expectAccessible();
        expect(await page.getByRole('heading', { level: 1 }).count()).to.equal(1);
        expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), name).to.be.at.most(0);
      }
    }
    watched.expectNoProblems();
  });

  it('make an inbox, show its embed code, give it a bot and members', async () => {
    await open('Inboxes');
    await page.getByRole('button', { name: 'New inbox' }).click();
    await page.getByLabel('Name').fill(`Shop ${attack}`);
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('heading', { level: 1, name: 'Shop' }).waitFor();
    const inboxes = (await app.get('inboxes')).body.payload;
    const { id, identifier } = inboxes.find(({ name }: { name: string }) => name.startsWith('Shop'));
    const code = await page.getByLabel('Embed code', { exact: true }).textContent();
    expect(code).to.equal(`<script src="${app.url}/widget.js" data-inbox="${identifier}" async></script>`);
    await page.getByLabel('Bot', { exact: true }).selectOption({ index: 1 });
    await toast('Bot saved.');
    expect((await app.get(`inboxes/${id}/agent_bot`)).body.agent_bot).to.not.equal(null);
    await page.getByLabel('Allowed origins').fill('https://shop.example.com\nnonsense');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('alert').waitFor();
    await page.getByLabel('Allowed origins').fill('https://shop.example.com');
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await toast('Saved.');
    expect((await app.get(`inboxes/${id}`)).body.allowed_origins).to.deep.equal(['https://shop.example.com']);
    await page.getByRole('button', { name: 'Members' }).click();
    await page.getByLabel('Administrator').check();
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect((await app.get(`inboxes/${id}/members`)).body.payload).to.have.length(1);
    await watched.expectAccessible();
    watched.expectNoProblems(/status of 422/);
  });

  it('invite, change and remove agents, with what the service says of mistakes', async () => {
    await open('Agents');
    await page.getByRole('button', { name: 'Invite an agent' }).click();
    await page.getByLabel('Name').fill('Grace');
    await page.getByLabel('Email').fill('no address');
    await page.getByRole('button', { name: 'Invite', exact: true }).click();
    await page.getByRole('dialog').getByRole('alert').waitFor();
    await page.getByLabel('Email').fill('grace@example.com');
    await page.getByRole('button', { name: 'Invite', exact: true }).click();
    await page.getByRole('cell', { name: 'grace@example.com' }).waitFor();
    await page.getByRole('button', { name: 'Edit Grace' }).click();
    await page.getByLabel('Role').selectOption('administrator');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByRole('row', { name: /Grace.*Administrator/ }).waitFor();
    await page.getByRole('button', { name: 'Remove Grace' }).click();
    await page.getByRole('button', { name: 'Yes' }).click();
    await page.getByRole('cell', { name: 'grace@example.com' }).waitFor({ state: 'detached' });
    watched.expectNoProblems(/status of 422/);
  });

  it('make teams and choose their members', async () => {
    await open('Teams');
    await page.getByRole('button', { name: 'New team' }).click();
    await page.getByLabel('Name').fill('Returns');
    await page.getByRole('button', { name: 'Create' }).click();
    await page.getByRole('button', { name: 'Members of Returns' }).click();
    await page.getByLabel('Administrator').check();
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    const [team] = (await app.get('teams')).body;
    expect((await app.get(`teams/${team.id}/team_members`)).body).to.have.length(1);
  });

  it('find events in the catalogue, and keep the search in the address', async () => {
    await open('Event catalogue');
    await page.getByLabel('Search').fill('message_created');
    expect(await page.locator('section').count()).to.equal(2);
    await page.locator('summary').first().click();
    expect(JSON.parse((await page.locator('section pre').first().textContent()) ?? '')).to.include({
      event: 'message_created',
    });
    expect(new URL(page.url()).search).to.equal('?q=message_created');
    await page.reload();
    await page.getByRole('heading', { level: 1 }).waitFor();
    expect(await page.locator('section').count()).to.equal(2);
    // What the service refused above, the browser reports too.
    watched.expectNoProblems(/status of 422/);
  });

  it('reset the access token, show the new one once, and keep the person signed in', async () => {
    const { headers } = await addPerson(app, { name: 'Margaret', role: 'administrator' });
    const own = await signedIn(browser, app, headers.api_access_token, '/console/settings/tokens');
    await own.page.getByRole('button', { name: 'Reset access token' }).click();
    await own.page.getByRole('button', { name: 'Yes' }).click();
    const token = (await own.page.getByLabel('New access token', { exact: true }).textContent()) ?? '';
    // By then it has signed in with it.
    await own.page.locator('.toast').filter({ hasText: 'Access token reset.' }).waitFor();
    expect((await app.get('/api/v1/profile', headers)).status).to.equal(401);
    expect((await app.get('/api/v1/profile', { api_access_token: token })).body.name).to.equal('Margaret');
    await own.page.reload();
    await own.page.getByRole('button', { name: 'Sign out' }).waitFor();
    expect(await own.page.getByText(token).count()).to.equal(0);
    own.expectNoProblems();
    await own.close();
  });

  it('are for agents what agents may see and do', async () => {
    const { headers } = await addPerson(app, { name: 'Katherine' });
    const agent = await signedIn(browser, app, headers.api_access_token, '/console/settings/agents');
    const links = await agent.page.getByRole('navigation', { name: 'Console' }).getByRole('link').allTextContents();
    expect(links).to.include('Agents').and.include('Access token').and.not.include('Account');
    await agent.page.getByRole('button', { name: 'Edit Katherine' }).click();
    await agent.page.getByLabel('Availability').selectOption('busy');
    await agent.page.getByRole('button', { name: 'Save' }).click();
    await agent.page.getByRole('row', { name: /Katherine.*Busy/ }).waitFor();
    expect(await agent.page.getByRole('button', { name: 'Invite an agent' }).count()).to.equal(0);
    await agent.page.goto(`${app.url}/console/settings/account`);
    await agent.page.getByText('Only administrators can open this page').waitFor();
    agent.expectNoProblems();
    await agent.close();
  });
});

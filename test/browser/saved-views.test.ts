import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { adminToken, TestApp } from '../support/app.ts';
import { TestBrowser, type WatchedPage } from '../support/browser.ts';
import { expectAtAllWidths, loaded, signedIn } from '../support/console.ts';
import { Customers } from '../support/conversing.ts';
import { addPerson } from '../support/people.ts';
import { xssTexts } from '../support/xss.ts';

const attack = xssTexts[1]!;

describe('saved views in the console', function () {
  this.timeout(120_000);
  const browser = new TestBrowser();
  let app: TestApp;
  let watched: WatchedPage;
  let page: Page;

  before(async function () {
    await browser.start(this);
    app = await TestApp.start({ engine: false });
    const customers = new Customers(app);
    const inbox = await customers.inbox('Shop');
    await app.post(`conversations/${await customers.writes(inbox, 'Ada', 'Hello')}/toggle_status`, {
      status: 'resolved',
    });
    await customers.writes(inbox, 'Bert', 'Hello');
    watched = await signedIn(browser, app, adminToken, '/console/conversations');
    page = watched.page;
    await loaded(page);
  });

  after(async () => {
    await browser.close();
    await app?.stop();
  });

  const navigation = () => page.getByRole('navigation', { name: 'Console' });
  const view = (name: string) => navigation().getByRole('link', { name, exact: true });
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const stored = async () =>
    (await app.get('custom_filters')).body.payload.map((one: Record<string, unknown>) => [one['name'], one['query']]);

  it('keep the present filters by a name in the navigation, by keyboard, and are renamed and deleted there', async () => {
    expect(await button('Save view').count()).to.equal(0);
    await page.getByLabel('Status').selectOption('resolved');
    await button('Save view').press('Enter');
    await page.getByLabel('Name').press('Enter');
    await page.getByRole('dialog').getByRole('alert').waitFor();
    await page.getByLabel('Name').fill(attack);
    await page.keyboard.press('Enter');
    await view(attack).waitFor();
    expect(await stored()).to.deep.equal([[attack, { status: 'resolved' }]]);
    expect(await view(attack).getAttribute('aria-current')).to.equal('page');
    await expectAtAllWidths(watched);
    await view('Conversations').click();
    await page.getByRole('link', { name: 'Bert', exact: true }).waitFor();
    expect(await view('Conversations').getAttribute('aria-current')).to.equal('page');
    await page.reload();
    await view(attack).press('Enter');
    await page.getByRole('link', { name: 'Ada', exact: true }).waitFor();
    await page.getByRole('link', { name: 'Bert', exact: true }).waitFor({ state: 'detached' });
    expect(new URL(page.url()).search).to.equal('?status=resolved');
    await button('Rename view').click();
    await page.getByLabel('Name').fill('Done');
    await page.keyboard.press('Enter');
    await view('Done').waitFor();
    expect(await view(attack).count()).to.equal(0);
    await page.getByRole('group', { name: 'Assignee' }).getByRole('link', { name: 'Mine' }).click();
    await button('Save view').waitFor();
    await view('Done').click();
    await button('Delete view').click();
    await button('Yes').click();
    await view('Done').waitFor({ state: 'detached' });
    expect(await stored()).to.deep.equal([]);
    await page.getByRole('link', { name: 'Ada', exact: true }).waitFor();
    watched.expectNoProblems(/status of 422/);
  });

  it('are of the person alone; those of other clients, in words of their own, are not shown', async () => {
    await app.post('custom_filters', { name: 'Open ones', query: { status: 'open', assignee_type: 'me' } });
    await app.post('custom_filters', { name: 'Foreign', query: { payload: [{ attribute_key: 'status' }] } });
    await app.post('custom_filters', { name: 'Of contacts', query: { q: 'x' }, filter_type: 'contact' });
    await page.reload();
    await view('Open ones').waitFor();
    const links = await navigation().getByRole('link').allTextContents();
    expect(links).to.not.include('Foreign').and.not.include('Of contacts');
    const { headers } = await addPerson(app, { name: 'Grace' });
    const own = await signedIn(browser, app, headers.api_access_token, '/console/conversations');
    await loaded(own.page);
    expect(await own.page.getByRole('link', { name: 'Open ones' }).count()).to.equal(0);
    own.expectNoProblems();
    await own.close();
  });
});

import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { adminToken, TestApp } from '../support/app.ts';
import { TestBrowser, type WatchedPage } from '../support/browser.ts';
import { expectAtAllWidths, loaded, signedIn } from '../support/console.ts';
import { Customers } from '../support/conversing.ts';
import { addPerson } from '../support/people.ts';
import { xssTexts } from '../support/xss.ts';

const attack = xssTexts[1]!;

describe('macros in the console', function () {
  this.timeout(120_000);
  const browser = new TestBrowser();
  let app: TestApp;
  let watched: WatchedPage;
  let page: Page;
  let conversation: number;

  before(async function () {
    await browser.start(this);
    app = await TestApp.start({ engine: false });
    const customers = new Customers(app);
    conversation = await customers.writes(await customers.inbox('Shop'), 'Ada', 'Hello');
    await app.post('labels', { title: 'vip' });
    watched = await signedIn(browser, app, adminToken, '/console/settings/macros');
    page = watched.page;
    await loaded(page);
  });

  beforeEach(() => {
    watched.problems.length = 0;
  });

  after(async () => {
    await browser.close();
    await app?.stop();
  });

  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const record = async () => (await app.get(`conversations/${conversation}`)).body;

  it('are made of actions, changed and deleted, with what the service says of mistakes', async () => {
    await button('New macro').click();
    await page.getByLabel('Name').fill(attack);
    await button('Create').click();
    await page.getByRole('dialog').getByRole('alert').waitFor();
    await page.getByLabel('Visible to').selectOption('global');
    await button('Add action').press('Enter');
    await page.getByLabel('Action 1', { exact: true }).selectOption('Add label');
    await page.getByLabel('Value 1', { exact: true }).selectOption('vip');
    await button('Add action').click();
    await page.getByLabel('Action 2', { exact: true }).selectOption('Send reply');
    await page.getByLabel('Value 2', { exact: true }).fill('We look into it.');
    await button('Add action').click();
    await page.getByLabel('Action 3', { exact: true }).selectOption('Resolve');
    expect(await page.getByLabel('Value 3', { exact: true }).count()).to.equal(0);
    await watched.expectAccessible();
    await button('Create').click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('cell', { name: attack, exact: true }).waitFor();
    await expectAtAllWidths(watched);
    await button(`Edit ${attack}`).click();
    await page.getByLabel('Name').fill('Wrap up');
    await button('Remove action 2').click();
    await button('Save').click();
    await page.getByRole('cell', { name: 'Wrap up', exact: true }).waitFor();
    const [macro] = (await app.get('macros')).body.payload;
    expect(macro).to.deep.include({
      visibility: 'global',
      actions: [
        { action_name: 'add_label', action_params: ['vip'] },
        { action_name: 'resolve_conversation', action_params: [] },
      ],
    });
    await app.post('macros', { name: 'Old', actions: macro.actions });
    await page.reload();
    await button('Delete Old').click();
    await button('Yes').click();
    await page.getByRole('cell', { name: 'Old', exact: true }).waitFor({ state: 'detached' });
    watched.expectNoProblems(/status of 422/);
  });

  it('are run on a conversation by keyboard, and say why nothing was done', async () => {
    await page.goto(`${app.url}/console/conversations/${conversation}`);
    await button('Macros').press('Enter');
    await page.getByRole('dialog').getByRole('listitem').waitFor();
    await page.getByRole('dialog').getByRole('listitem').getByRole('button', { name: 'Wrap up' }).press('Enter');
    await page.locator('.toast').filter({ hasText: 'Macro “Wrap up” done.' }).waitFor();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await button('Reopen').waitFor();
    expect(await record()).to.deep.include({ status: 'resolved', labels: ['vip'] });
    const [label] = (await app.get('labels')).body.payload;
    await app.delete(`labels/${label.id}`);
    await app.post(`conversations/${conversation}/toggle_status`, { status: 'open' });
    await button('Macros').click();
    await page.getByRole('dialog').getByRole('listitem').getByRole('button', { name: 'Wrap up' }).click();
    await page.locator('.toast').filter({ hasText: 'Nothing was changed by “Wrap up”.' }).waitFor();
    expect(await record()).to.deep.include({ status: 'open', labels: [] });
    watched.expectNoProblems();
  });

  it('are for agents their own to change, and global ones to run', async () => {
    const { headers } = await addPerson(app, { name: 'Grace' });
    await app.post('macros', { name: 'Mine', actions: [{ action_name: 'open_conversation' }] }, headers);
    const own = await signedIn(browser, app, headers.api_access_token, '/console/settings/macros');
    await own.page.getByRole('cell', { name: 'Wrap up', exact: true }).waitFor();
    await own.page.getByRole('button', { name: 'Edit Mine' }).waitFor();
    expect(await own.page.getByRole('button', { name: 'Edit Wrap up' }).count()).to.equal(0);
    await own.page.getByRole('button', { name: 'New macro' }).click();
    expect(await own.page.getByLabel('Visible to').count()).to.equal(0);
    own.expectNoProblems();
    await own.close();
  });
});

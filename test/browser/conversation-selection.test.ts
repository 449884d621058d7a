import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { adminToken, TestApp } from '../support/app.ts';
import { TestBrowser, type WatchedPage } from '../support/browser.ts';
import { expectAtAllWidths, loaded, signedIn } from '../support/console.ts';
import { Customers } from '../support/conversing.ts';
import { addPerson, type User } from '../support/people.ts';

describe('selected conversations in the console', function () {
  this.timeout(120_000);
  const browser = new TestBrowser();
  let app: TestApp;
  let inbox: number;
  let bert: User;
  let watched: WatchedPage;
  let page: Page;
  const ids = new Map<string, number>();

  before(async function () {
    await browser.start(this);
    app = await TestApp.start({ engine: false });
    const customers = new Customers(app);
    inbox = await customers.inbox('Shop');
    bert = await addPerson(app, { name: 'Bert' });
    await app.post('labels', { title: 'vip' });
    await app.post('teams', { name: 'Returns' });
    for (const name of ['Ada', 'Cleo', 'Dora']) ids.set(name, await customers.writes(inbox, name, 'Hello'));
    watched = await signedIn(browser, app, adminToken, '/console/conversations');
    page = watched.page;
    await loaded(page);
  });

  after(async () => {
    await browser.close();
    await app?.stop();
  });

  const box = (name: string) => page.getByRole('checkbox', { name, exact: true });
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const record = async (name: string) => (await app.get(`conversations/${ids.get(name)}`)).body;

  it('are resolved together, by keyboard', async () => {
    expect(await button('Resolve selected').count()).to.equal(0);
    await box('Select Ada').press('Space');
    await page.getByText('1 selected').waitFor();
    await box('Select all on this page').press('Space');
    await page.getByText('3 selected').waitFor();
    await box('Select Dora').press('Space');
    await page.getByText('2 selected').waitFor();
    await expectAtAllWidths(watched);
    await button('Resolve selected').press('Enter');
    await page.getByText('2 conversations changed.').waitFor();
    await page.getByText('2 selected').waitFor({ state: 'detached' });
    const statuses = await Promise.all(['Ada', 'Cleo', 'Dora'].map(async (name) => (await record(name)).status));
    expect(statuses).to.deep.equal(['resolved', 'resolved', 'open']);
  });

  it('are changed together: only the fields that were chosen', async () => {
    await box('Select Dora').check();
    await box('Select Cleo').check();
    await button('Edit selected').click();
    const dialog = page.getByRole('dialog', { name: 'Edit 2 conversations' });
    await dialog.getByLabel('Agent').selectOption('Bert');
    await dialog.getByLabel('Priority').selectOption('High');
    await dialog.getByRole('group', { name: 'Add labels' }).getByLabel('vip').check();
    await expectAtAllWidths(watched);
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.waitFor({ state: 'detached' });
    // Bert is no member of the inbox.
    await page.getByText(/2 conversations not changed\. #\d+: The assignee must be a member/).waitFor();
    await app.post(`inboxes/${inbox}/members`, { user_ids: [bert.id] });
    await button('Dismiss').last().click();
    await box('Select Dora').check();
    await button('Edit selected').click();
    const again = page.getByRole('dialog', { name: 'Edit 1 conversation' });
    await again.getByLabel('Agent').selectOption('Bert');
    await again.getByLabel('Status').selectOption('Snoozed');
    await again.getByLabel('Snooze until').selectOption('3 hours');
    await again.getByRole('group', { name: 'Add labels' }).getByLabel('vip').check();
    await again.getByRole('button', { name: 'Save' }).click();
    await page.getByText('1 conversation changed.').waitFor();
    const dora = await record('Dora');
    expect(dora).to.deep.include({ status: 'snoozed', priority: null, labels: ['vip'] });
    expect([dora.meta.assignee.id, dora.meta.team]).to.deep.equal([bert.id, null]);
    expect((await record('Cleo')).labels).to.deep.equal([]);
  });

  it('are those of the shown page and filters alone', async () => {
    await box('Select Ada').check();
    await page.getByLabel('Status').first().selectOption('snoozed');
    await box('Select Ada').waitFor({ state: 'detached' });
    await page.getByLabel('Status').first().selectOption('');
    await box('Select Ada').waitFor();
    expect(await box('Select Ada').isChecked()).to.equal(false);
    expect(await button('Resolve selected').count()).to.equal(0);
  });
});

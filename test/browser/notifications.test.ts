import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { TestApp } from '../support/app.ts';
import { TestBrowser, type WatchedPage } from '../support/browser.ts';
import { expectAtAllWidths, loaded, signedIn } from '../support/console.ts';
import { Customers } from '../support/conversing.ts';
import { addPerson, type User } from '../support/people.ts';

describe('notifications in the console', function () {
  this.timeout(120_000);
  const browser = new TestBrowser();
  let app: TestApp;
  let customers: Customers;
  let inbox: number;
  let bert: User;
  let watched: WatchedPage;
  let page: Page;
  const ids: number[] = [];

  before(async function () {
    await browser.start(this);
    app = await TestApp.start();
    customers = new Customers(app);
    inbox = await customers.inbox('Shop');
    bert = await addPerson(app, { name: 'Bert' });
    await app.post(`inboxes/${inbox}/members`, { user_ids: [bert.id] });
    for (const name of ['Dora', 'Eva']) {
      const id = await customers.writes(inbox, name, 'Hello');
      await app.post(`conversations/${id}/assignments`, { assignee_id: bert.id });
      ids.push(id);
    }
    watched = await signedIn(browser, app, bert.headers['api_access_token'], '/console/conversations');
    page = watched.page;
    await loaded(page);
  });

  after(async () => {
    await browser.close();
    await app?.stop();
  });

  const link = () => page.getByRole('navigation', { name: 'Console' }).getByRole('link', { name: /^Notifications/ });

  it('are counted in the navigation and in the title, and read where their conversation is opened', async () => {
    await page.getByRole('link', { name: 'Notifications 2 unread' }).waitFor();
    expect(await page.title()).to.equal('(2) Conversations · Switchboard');
    await link().press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Notifications' }).waitFor();
    await expectAtAllWidths(watched);
    await page.getByRole('row', { name: /Dora Assigned to you Unread/ }).waitFor();
    await page.getByRole('link', { name: 'Dora', exact: true }).press('Enter');
    await page.getByRole('link', { name: 'Notifications 1 unread' }).waitFor();
    await page.goBack();
    await page.getByRole('row', { name: /Dora Assigned to you Shop/ }).waitFor();
    await page.getByRole('row', { name: /Eva Assigned to you Unread/ }).waitFor();
  });

  it('appear as they happen, and are read all together', async () => {
    await app.post(`conversations/${ids[0]}/messages`, { content: 'And now?', message_type: 'incoming' });
    await page.getByRole('row', { name: /Dora New message Unread/ }).waitFor();
    await page.getByRole('button', { name: 'Mark all as read' }).press('Enter');
    await page.getByText('Unread').first().waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Notifications', exact: true }).waitFor();
    expect(await page.title()).to.equal('Notifications · Switchboard');
    expect((await app.get('notifications/unread_count', bert.headers)).body.unread_count).to.equal(0);
  });
});

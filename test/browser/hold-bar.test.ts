import type { Page } from 'playwright-core';
import { adminToken, TestApp } from '../support/app.ts';
import { TestBrowser, type WatchedPage } from '../support/browser.ts';
import { expectAtAllWidths, signedIn } from '../support/console.ts';

describe('the bar of a service that sends nothing', function () {
  this.timeout(240_000);
  const browser = new TestBrowser();
  let app: TestApp;
  let watched: WatchedPage;
  let page: Page;

  before(async function () {
    await browser.start(this);
    app = await TestApp.start({ engine: false, config: { outbound: 'off' } });
    watched = await signedIn(browser, app, adminToken, '/console/webhooks');
    page = watched.page;
  });

  after(async () => {
    await browser.close();
    await app?.stop();
  });

  it('is above each page, at every width', async () => {
    const bar = page.getByRole('status').filter({ hasText: 'Outbound traffic is off. Nothing is sent' });
    await bar.waitFor();
    await expectAtAllWidths(watched);
    await page.getByRole('link', { name: 'Deliveries' }).first().click();
    await bar.waitFor();
  });

  it('says of a delivery that it waits for that', async () => {
    const { id } = (await app.post('webhooks', { url: 'http://127.0.0.1:1/hook', subscriptions: ['contact_created'] }))
      .body;
    const delivery = (await app.post(`webhooks/${id}/test`)).body.id as number;
    await page.goto(`${app.url}/console/deliveries/${delivery}`);
    await page.getByText('Nothing is sent: the database is a copy, or outbound traffic is off').waitFor();
  });
});

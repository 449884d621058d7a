import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { adminToken, TestApp } from '../support/app.ts';
import { TestBrowser, type WatchedPage } from '../support/browser.ts';
import { expectAtAllWidths, signedIn } from '../support/console.ts';

describe('what the console says of what was done', function () {
  this.timeout(120_000);
  const browser = new TestBrowser();
  let app: TestApp;
  let watched: WatchedPage;
  let page: Page;

  before(async function () {
    await browser.start(this);
    app = await TestApp.start({ engine: false });
    watched = await signedIn(browser, app, adminToken, '/console/webhooks');
    page = watched.page;
    // Nothing lets a page copy here, so that there is something to say.
    await page.evaluate(`navigator.clipboard.writeText = () => Promise.reject(new Error('No'))`);
  });

  after(async () => {
    await browser.close();
    await app?.stop();
  });

  const refusal = () => page.getByRole('alert').filter({ hasText: 'Copying was blocked by the browser' });
  const dialog = () => page.getByRole('dialog', { name: 'Signing secret' });
  const focused = () => page.evaluate('document.activeElement.getAttribute("aria-label")');

  it('can be read and put away in a dialog, by keyboard too, and stays when the dialog is closed', async () => {
    await page.getByRole('button', { name: 'New webhook' }).first().click();
    await page.getByLabel('URL', { exact: true }).fill('http://127.0.0.1:1/hook');
    await page.getByRole('button', { name: 'Create' }).click();
    const copy = dialog().getByRole('button', { name: 'Copy Signing secret' });
    await copy.click();
    await dialog().and(page.locator(':modal')).filter({ has: refusal() }).waitFor();
    await expectAtAllWidths(watched);
    await refusal().getByRole('button', { name: 'Dismiss' }).click();
    await refusal().waitFor({ state: 'detached' });
    await copy.press('Enter');
    await refusal().waitFor();
    for (let pressed = 0; pressed < 5 && (await focused()) !== 'Dismiss'; pressed += 1)
      await page.keyboard.press('Tab');
    await page.keyboard.press('Enter');
    await refusal().waitFor({ state: 'detached' });
    expect(await dialog().isVisible()).to.equal(true);
    await copy.click();
    await refusal().waitFor();
    await page.keyboard.press('Escape');
    await dialog().waitFor({ state: 'detached' });
    await refusal().waitFor();
    // It moves into the next dialog, and back.
    await page.getByRole('button', { name: 'Edit' }).first().click();
    await page.getByRole('dialog').filter({ has: refusal() }).waitFor();
    await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await refusal().getByRole('button', { name: 'Dismiss' }).click();
    await refusal().waitFor({ state: 'detached' });
    await watched.expectAccessible();
    watched.expectNoProblems();
  });
});

import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { invariants } from '../../src/deliveries/log/invariants.ts';
import { adminToken, TestApp } from '../support/app.ts';
import { TestBrowser, type WatchedPage } from '../support/browser.ts';
import { signedIn } from '../support/console.ts';
import { addAccount } from '../support/people.ts';
import { Platform } from '../support/platform.ts';

const asksBeforeItCloses = '!dispatchEvent(new Event("beforeunload", { cancelable: true }))';

describe('what takes long in the console', function () {
  this.timeout(120_000);
  const browser = new TestBrowser();
  let app: TestApp;
  let watched: WatchedPage;
  let page: Page;

  before(async function () {
    await browser.start(this);
    app = await TestApp.start({ engine: false });
    const other = await addAccount(app, 'Elsewhere');
    const { id } = (await app.get('/api/v1/profile')).body;
    await new Platform(app).join(other.id, id, 'administrator');
    watched = await signedIn(browser, app, adminToken, '/console/knowledge/import');
    page = watched.page;
  });

  afterEach(async () => {
    await page.unrouteAll();
    watched.problems.splice(0);
  });

  after(async () => {
    await browser.close();
    await app?.stop();
  });

  const go = async (name: string): Promise<void> => {
    await page.getByRole('navigation', { name: 'Console' }).getByRole('link', { name, exact: true }).click();
    await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
  };
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const figure = (name: string) => page.locator('dt').filter({ hasText: name }).locator('+ dd').textContent();
  const toast = (text: string) => page.locator('.toast').filter({ hasText: text }).first();

  /** Holds the requests back from the second one on; returns what lets them go, and how many there were. */
  async function hold(pattern: string, free = 1): Promise<{ letGo: () => void; count: () => number }> {
    let letGo = (): void => undefined;
    const opened = new Promise<void>((resolve) => (letGo = resolve));
    let count = 0;
    await page.route(pattern, async (route) => {
      count += 1;
      if (count > free) await opened;
      await route.continue().catch(() => undefined);
    });
    return { letGo, count: () => count };
  }

  async function importLines(name: string, count = 450): Promise<void> {
    const lines = Array.from({ length: count }, (_, at) =>
      JSON.stringify({ title: `${name} ${at}`, content: 'Text.', path: `${name}/${at}.md` }),
    );
    const buffer = Buffer.from(lines.join('\n'));
    await page.getByLabel('File').setInputFiles({ name, mimeType: 'application/octet-stream', buffer });
    await button('Import').click();
  }

  it('an import goes on while its page is left, asks before its tab is closed, and tells its end', async () => {
    expect(await page.evaluate(asksBeforeItCloses)).to.equal(false);
    const { letGo } = await hold('**/articles/import');
    await importLines('left.jsonl');
    await page.getByText('200 of 450').waitFor();
    await page.getByText('You can leave this page').waitFor();
    expect(await page.evaluate(asksBeforeItCloses)).to.equal(true);
    await go('Articles');
    await go('Import articles');
    await page.getByText('200 of 450').waitFor();
    await watched.expectAccessible();
    // Another one has to wait.
    await importLines('second.jsonl', 1);
    await page.getByRole('alert').filter({ hasText: 'An import is already running' }).waitFor();
    await go('Articles');
    letGo();
    await toast('Import of left.jsonl finished.').waitFor();
    expect(await page.evaluate(asksBeforeItCloses)).to.equal(false);
    await go('Import articles');
    expect(await figure('Created')).to.equal('450');
    expect((await app.get('articles')).body.meta.count).to.equal(450);
    watched.expectNoProblems();
  });

  it('an import is stopped by who wants that, says how far it came, and goes on from there', async () => {
    const { letGo } = await hold('**/articles/import', 2);
    await importLines('stopped.jsonl', 650);
    await page.getByText('400 of 650').waitFor();
    await button('Stop import').click();
    await page.getByRole('alert').filter({ hasText: 'Stopped.' }).waitFor();
    await page.getByText('Stopped at line 400 of 650.').waitFor();
    expect(await page.evaluate(asksBeforeItCloses)).to.equal(false);
    letGo();
    await page.unrouteAll();
    await button('Import').click();
    await page.getByRole('heading', { name: 'Imported', exact: true }).waitFor();
    expect(await figure('Unchanged')).to.match(/^(400|600|650)$/);
    expect(Number(await figure('Created')) + Number(await figure('Unchanged'))).to.equal(650);
  });

  it('an import does not go on in another account, nor is it seen there', async () => {
    const { letGo, count } = await hold('**/articles/import');
    await importLines('own.jsonl');
    await page.getByText('200 of 450').waitFor();
    await page.getByLabel('Account', { exact: true }).selectOption('Elsewhere');
    await page.getByText('200 of 450').waitFor({ state: 'detached' });
    letGo();
    await page.getByLabel('File').waitFor();
    expect(await page.getByText('of 450').count()).to.equal(0);
    await go('Articles');
    await page.getByText('No articles yet.').waitFor();
    expect(count()).to.equal(2);
    await page.getByLabel('Account', { exact: true }).selectOption('Demo account');
  });

  it('a check of the ledger says since when it runs and how far it is, goes on while its page is left, and is there afterwards', async () => {
    const { letGo, count } = await hold('**/platform/api/v1/ledger?step=*', 3);
    await go('Platform');
    await button('Check ledger').click();
    await page
      .getByRole('status')
      .filter({ hasText: `Checking the ledger, 3 of ${invariants.length}` })
      .waitFor();
    await page
      .locator('.elapsed')
      .filter({ hasText: /[3-9] s/ })
      .waitFor();
    expect(await page.getByRole('button', { name: 'Check ledger' }).isDisabled()).to.equal(true);
    await watched.expectAccessible();
    expect(await page.getByText('No violations').count()).to.equal(0);
    await go('Labels');
    await go('Platform');
    await page
      .getByRole('status')
      .filter({ hasText: `Checking the ledger, 3 of ${invariants.length}` })
      .waitFor();
    await go('Labels');
    letGo();
    await toast('Ledger check finished').waitFor();
    await go('Platform');
    await page.getByText('No violations').waitFor();
    expect(await page.getByRole('table', { name: 'Invariants' }).locator('tbody tr').count()).to.equal(
      invariants.length,
    );
    expect(count()).to.equal(invariants.length);
    watched.expectNoProblems();
  });

  it('any button that waits says for how long, and to readers of the screen that it is busy', async () => {
    const { letGo } = await hold('**/labels', 1);
    await go('Labels');
    await button('New label').click();
    await page.getByLabel('Title').fill('slow');
    await button('Create').click();
    await page.getByRole('dialog').locator('button[aria-busy=true] .elapsed').filter({ hasText: ' s' }).waitFor();
    letGo();
    await page.getByRole('cell', { name: 'slow', exact: true }).waitFor();
  });
});

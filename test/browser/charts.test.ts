import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { adminToken, TestApp } from '../support/app.ts';
import { TestBrowser, type WatchedPage } from '../support/browser.ts';
import { expectAtAllWidths, signedIn } from '../support/console.ts';
import { addPerson } from '../support/people.ts';

const hourMs = 3_600_000;

describe('the charts of the console', function () {
  this.timeout(120_000);
  const browser = new TestBrowser();
  let app: TestApp;
  let watched: WatchedPage;
  let page: Page;

  before(async function () {
    await browser.start(this);
    app = await TestApp.start({ engine: false });
    watched = await signedIn(browser, app, adminToken, '/console/charts');
    page = watched.page;
  });

  afterEach(() => watched?.problems.splice(0));
  after(async () => {
    await browser.close();
    await app?.stop();
  });

  const chart = (name: string) => page.getByRole('figure', { name, exact: true });

  async function open(query = ''): Promise<void> {
    await page.goto(`${app.url}/console/charts${query}`);
    await page.getByText('Updated every minute').waitFor();
  }

  it('say what to do where nothing has happened', async () => {
    await open();
    await chart('Replies').getByText('No replies in this period').waitFor();
    await chart('Delivery success rate').getByText('No deliveries in this period').waitFor();
    await page.getByText('None', { exact: true }).waitFor();
    await expectAtAllWidths(watched);
    watched.expectNoProblems();
  });

  it('draw what the service counted, with the same figures as a table', async () => {
    const counts: [string, number, number][] = [
      ['messages:customers', 0, 7],
      ['messages:customers', 3, 4],
      ['messages:bots', 0, 5],
      ['messages:people', 0, 2],
      ['handoffs:keyword', 0, 3],
      ['handoffs:no_answer', 3, 1],
      ['ratings:5', 0, 3],
      ['ratings:2', 0, 1],
      ['attempts:all', 0, 8],
      ['attempts:delivered', 0, 7],
      ['ms:20', 0, 8],
      ['oldest_pending', 0, 90],
    ];
    // The hour may end while the test goes on.
    const hour = new Date(Math.floor(Date.now() / hourMs) * hourMs);
    for (const [measure, hours, count] of counts)
      await app.query(
        `INSERT INTO report_hours (account_id, hour, measure, count)
         VALUES (1, $4::timestamptz - make_interval(hours => $2), $1, $3)`,
        [measure, hours, count, hour],
      );
    const rowOf = (name: string, hours: number) =>
      chart(name)
        .locator('details tbody tr')
        .filter({ has: page.locator(`time[datetime="${new Date(hour.getTime() - hours * hourMs).toISOString()}"]`) });
    await open();
    const wanted: readonly (readonly [string, readonly string[]])[] = [
      ['Customer messages', ['7']],
      ['Replies', ['5', '2']],
      ['Handoffs', ['3', '0']],
      ['Customer satisfaction', ['4.3']],
      ['Delivery success rate', ['87.5 %']],
      ['Response time, p95', ['32 ms']],
      ['Oldest pending delivery', ['90 s']],
    ];
    for (const [name, figures] of wanted) {
      await chart(name).locator('canvas').waitFor();
      await chart(name).locator('summary').focus();
      await page.keyboard.press('Enter');
      expect(await chart(name).locator('details tbody tr').count(), name).to.equal(24);
      const cells = await rowOf(name, 0).locator('td').allTextContents();
      expect(cells.slice(1), name).to.deep.equal(figures);
    }
    expect(await rowOf('Customer messages', 3).locator('td').allTextContents()).to.include('4');
    expect(await chart('Handoffs').locator('th').allTextContents()).to.include.members(['keyword', 'no_answer']);
    await expectAtAllWidths(watched);
    watched.expectNoProblems();
  });

  it('are of another time, which the address keeps, and draw it anew when the colours change', async () => {
    await page.getByLabel('Period').selectOption('year');
    await page.waitForURL(/span=year/);
    await page.getByText('days in UTC').waitFor();
    await chart('Customer messages').locator('summary').click();
    const table = chart('Customer messages').locator('details tbody tr');
    await app.eventually(async () => (await table.count()) >= 365);
    const sum = (await table.locator('td:last-child').allTextContents()).reduce((all, one) => all + Number(one), 0);
    expect(sum).to.equal(11);
    const { width } = (await chart('Replies').locator('canvas').boundingBox())!;
    await page.setViewportSize({ width: 360, height: 900 });
    await app.eventually(async () => ((await chart('Replies').locator('canvas').boundingBox())?.width ?? 0) < width);
    await page.emulateMedia({ colorScheme: 'dark' });
    await chart('Replies').locator('canvas').waitFor();
    await expectAtAllWidths(watched);
    await app.eventually(async () => ((await chart('Replies').locator('canvas').boundingBox())?.width ?? 0) >= width);
    await page.emulateMedia({ colorScheme: 'light' });
    watched.expectNoProblems();
  });

  it('keep their tables where the browser cannot draw, and the console works on', async () => {
    const odd = await signedIn(browser, app, adminToken, '/console/settings/labels');
    await odd.page.addInitScript(`Object.defineProperty(navigator, 'language', { value: 'en-US@posix' })`);
    await odd.page.goto(`${app.url}/console/charts`);
    const own = odd.page.getByRole('figure', { name: 'Replies', exact: true });
    await own.getByText('This browser cannot draw the chart').waitFor();
    await own.locator('summary').click();
    expect(await own.locator('tbody tr').count()).to.equal(24);
    odd.expectNoProblems();
    await odd.close();
  });

  it('are nothing for agents', async () => {
    const { headers } = await addPerson(app, { name: 'Agent' });
    const agent = await signedIn(browser, app, headers.api_access_token, '/console/charts');
    await agent.page.getByText('Only administrators can open this page').waitFor();
    agent.expectNoProblems();
    await agent.close();
  });
});

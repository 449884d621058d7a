import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { finishBulkActions } from '../../src/domain/endpoints/bulk-actions.ts';
import { adminToken } from '../support/app.ts';
import { TestBrowser, type WatchedPage } from '../support/browser.ts';
import { batch, insertDeliveries } from '../support/bulk-actions.ts';
import { expectAtAllWidths, loaded, signedIn } from '../support/console.ts';
import { Sending, type Body } from '../support/sending.ts';

describe('the deliveries that filters select', function () {
  this.timeout(120_000);
  const browser = new TestBrowser();
  // Nothing goes on by itself.
  const sending = Sending.use({ engine: false });
  const opened: WatchedPage[] = [];
  let watched: WatchedPage;
  let page: Page;

  before(async function () {
    await browser.start(this);
    watched = await signedIn(browser, sending.app, adminToken, '/console/webhooks');
    page = watched.page;
  });

  after(() => browser.close());
  // What the test leaves on the screen looks no more for what is deleted behind it.
  afterEach(async () => {
    await page?.goto('about:blank');
    for (const one of opened.splice(0)) await one.close();
    watched?.problems.splice(0);
  });

  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const dialog = () => page.getByRole('dialog');
  const progress = (text: string) => page.getByRole('status').filter({ hasText: text }).waitFor();
  const finish = () => finishBulkActions(sending.app.app.database);
  const isFocused = (name: string) =>
    page.waitForFunction(`document.activeElement?.textContent.trim() === ${JSON.stringify(name)}`);
  const tally = async (webhook: Body): Promise<Record<string, number>> => {
    const rows = await sending.app.query<{ what: string; count: number }>(
      `SELECT trigger || ' ' || state AS what, count(*)::int FROM deliveries WHERE endpoint_id = $1 GROUP BY 1`,
      [webhook.id],
    );
    return Object.fromEntries(rows.map(({ what, count }) => [what, count]));
  };

  /** Deliveries of one state, the last ones of which are in another one that has ended. */
  async function insertMixed(
    webhook: Body,
    all: { of: string; count: number },
    last: { count: number; are: string },
  ): Promise<void> {
    const made = await insertDeliveries(sending, webhook, all.count, all.of);
    const ids = made.slice(-last.count).map(({ id }) => id);
    await sending.app.query('UPDATE deliveries SET state = $1, finished_at = now() WHERE id = ANY ($2)', [
      last.are,
      ids,
    ]);
  }

  async function open(webhook: Body, query = ''): Promise<void> {
    await page.goto(`${sending.app.url}/console/webhooks/${webhook.id}${query}`);
    await button('Resend deliveries').waitFor();
    await loaded(page);
  }

  it('are resent after their number was confirmed, with progress that survives a reload', async () => {
    const webhook = await sending.webhookFor('message_created');
    const count = batch + 50;
    await insertMixed(webhook, { of: 'exhausted', count: count + 5 }, { count: 5, are: 'cancelled' });
    await open(webhook);
    await page.getByLabel('State', { exact: true }).selectOption('exhausted');
    await page.waitForURL(/state=exhausted/);
    await button('Resend deliveries').click();
    await dialog().getByText(`${count} deliveries match these filters.`).waitFor();
    await watched.expectAccessible();
    expect(await tally(webhook)).to.deep.equal({ 'live exhausted': count, 'live cancelled': 5 });

    await dialog()
      .getByRole('button', { name: `Resend ${count} deliveries`, exact: true })
      .click();
    await progress(`Resending: ${batch} of ${count}`);
    await page.getByText(`${batch} resent, 0 failed`).waitFor();
    expect(await dialog().count()).to.equal(0);
    await expectAtAllWidths(watched);
    await page.reload();
    await progress(`Resending: ${batch} of ${count}`);
    expect(await page.getByLabel('State', { exact: true }).inputValue()).to.equal('exhausted');
    await finish();
    await progress(`Resent: ${count} of ${count}`);
    expect(await tally(webhook)).to.deep.equal({
      'live exhausted': count,
      'live cancelled': 5,
      'resend pending': count,
    });
    await button('Close').click();
    await page.getByText(`${count} resent`).waitFor({ state: 'detached' });
    expect(new URL(page.url()).search).to.equal('?state=exhausted');
    watched.expectNoProblems();
  });

  it('are cancelled by keyboard, and what had ended is shown as failed', async () => {
    const webhook = await sending.webhookFor('message_created');
    await insertMixed(webhook, { of: 'pending', count: 5 }, { count: 2, are: 'exhausted' });
    await open(webhook);
    await button('Cancel deliveries').focus();
    await page.keyboard.press('Enter');
    await dialog().getByText('5 deliveries. No filters are set.').waitFor();
    await dialog().getByText('Only pending and failing deliveries can be cancelled.').waitFor();
    await page.keyboard.press('Escape');
    await isFocused('Cancel deliveries');
    expect(await tally(webhook)).to.deep.equal({ 'live pending': 3, 'live exhausted': 2 });

    await page.keyboard.press('Enter');
    await dialog().getByRole('button', { name: 'Cancel 5 deliveries', exact: true }).waitFor();
    await page.keyboard.press('Tab');
    await isFocused('Cancel 5 deliveries');
    await page.keyboard.press('Enter');
    await progress('Cancelled: 5 of 5');
    await page.getByText('3 cancelled, 2 failed').waitFor();
    await page.getByText('Failed: the delivery had ended.').waitFor();
    expect(await tally(webhook)).to.deep.equal({ 'live cancelled': 3, 'live exhausted': 2 });
    await isFocused('Cancel deliveries');
    await page
      .getByRole('row', { name: /cancelled/ })
      .first()
      .waitFor();
    watched.expectNoProblems();
  });

  it('are left alone from the moment at which the action is stopped', async () => {
    const webhook = await sending.webhookFor('message_created');
    await insertDeliveries(sending, webhook, batch + 50);
    await open(webhook);
    await button('Resend deliveries').click();
    await page.getByRole('button', { name: /^Resend \d+ deliveries$/ }).click();
    await button('Stop').focus();
    await page.keyboard.press('Enter');
    await progress(`Stopped: ${batch} of ${batch + 50}`);
    await finish();
    expect(await tally(webhook)).to.deep.equal({ 'live exhausted': batch + 50, 'resend pending': batch });
    // The next key is for the button in its place.
    await isFocused('Close');
    await page.keyboard.press('Enter');
    await button('Close').waitFor({ state: 'detached' });
    watched.expectNoProblems();
  });

  it('are none, too many, or those of another action: the service says so before anything happens', async () => {
    const webhook = await sending.webhookFor('message_created');
    await insertDeliveries(sending, webhook, batch + 50);
    await open(webhook, '?state=delivered');
    await button('Resend deliveries').click();
    await dialog().getByText('No deliveries match these filters.').waitFor();
    expect(await dialog().getByRole('button').count()).to.equal(1);

    await open(webhook, '?q=ab');
    await button('Cancel deliveries').click();
    await dialog().getByRole('alert').waitFor();
    expect(
      await dialog()
        .getByRole('button', { name: /^Cancel/ })
        .count(),
    ).to.equal(0);

    await sending.made(`webhooks/${webhook.id}/deliveries/bulk`, { action: 'resend', filter: {} }, 202);
    await open(webhook);
    await button('Resend deliveries').click();
    await page.getByRole('button', { name: /^Resend \d+ deliveries$/ }).click();
    await dialog()
      .getByRole('alert')
      .filter({ hasText: /Bulk action \d+ of this webhook is running/ })
      .waitFor();
    await watched.expectAccessible();
    await sending.app.patch(`webhooks/${webhook.id}`, { active: false });
    await page.getByRole('button', { name: /^Resend \d+ deliveries$/ }).click();
    await dialog().getByRole('alert').filter({ hasText: 'The webhook is disabled. Enable it first.' }).waitFor();
    watched.expectNoProblems(/status of 4(?:00|09)/);
  });

  it('are not those of a link that shares the webhook', async () => {
    const webhook = await sending.webhookFor('message_created');
    await insertDeliveries(sending, webhook, 2);
    const { url } = await sending.made(`webhooks/${webhook.id}/share`, { expires_in: 3_600 });
    const shared = await browser.open();
    opened.push(shared);
    const { pathname, hash } = new URL(url);
    await shared.page.goto(sending.app.url + pathname + hash);
    await shared.page
      .getByRole('table', { name: /^Deliveries/ })
      .getByRole('link')
      .first()
      .waitFor();
    expect(await shared.page.getByRole('button', { name: /deliveries$/ }).count()).to.equal(0);
    shared.expectNoProblems();
  });
});

import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { adminToken } from '../support/app.ts';
import { TestBrowser, type WatchedPage } from '../support/browser.ts';
import { expectAtAllWidths, signedIn } from '../support/console.ts';
import { Sending } from '../support/sending.ts';

describe('filter, headers, authentication and rate of a webhook in the console', function () {
  this.timeout(180_000);
  const browser = new TestBrowser();
  const sending = Sending.use();
  let watched: WatchedPage;
  let page: Page;

  before(async function () {
    await browser.start(this);
    watched = await signedIn(browser, sending.app, adminToken, '/console/webhooks');
    page = watched.page;
  });

  after(() => browser.close());
  afterEach(() => page?.goto('about:blank'));

  const fact = (name: string) => page.locator('dt').filter({ hasText: name }).locator('xpath=following-sibling::dd[1]');

  it('are set, shown without their secrets, kept by another change, and explain what was not sent', async () => {
    const { id } = await sending.webhookFor('message_created');
    await page.goto(`${sending.app.url}/console/webhooks/${id}`);
    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    const dialog = page.getByRole('dialog');
    const field = (label: string) => dialog.getByLabel(label, { exact: true });
    await field('Send').selectOption('all');
    await field('Attribute 1').selectOption('message_type');
    await field('Values 1').fill('incoming, sideways');
    await dialog.getByRole('button', { name: 'Add header' }).click();
    await field('Header 1').fill('X-Tenant');
    await field('Value 1').fill('tenant-of-ada');
    await field('Type').selectOption('bearer');
    await field('Token').fill('token-of-ada');
    await field('Rate limit').fill('50');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await dialog.getByRole('alert').getByText('must be one of incoming, outgoing').waitFor();
    await field('Values 1').fill('outgoing');
    await watched.expectAccessible();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await fact('Filter').getByText('Message type is one of outgoing').waitFor();
    expect(await fact('Headers').textContent()).to.equal('X-Tenant');
    expect(await fact('Authentication').textContent()).to.equal('Bearer token');
    expect(await fact('Rate limit').textContent()).to.equal('50 per second');
    await expectAtAllWidths(watched);

    await page.getByRole('button', { name: 'Edit', exact: true }).click();
    expect(await field('Value 1').inputValue()).to.equal('••••');
    await field('Name').fill('CRM');
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { level: 1, name: 'CRM' }).waitFor();
    expect(await page.content()).not.to.match(/tenant-of-ada|token-of-ada/);

    const all = await sending.webhookFor('message_created');
    await sending.say(await sending.conversation(), 'incoming');
    const [delivery] = await sending.eventuallyIn(all, 'delivered');
    await page.goto(`${sending.app.url}/console/deliveries/${delivery.id}`);
    await page.getByText('Webhooks that got this event').first().click();
    await page.getByText('Not sent: filter').waitFor();
    expect(sending.receiver.received.every(({ headers }) => headers['x-tenant'] === undefined)).to.equal(true);
    await sending.made(`webhooks/${id}/test`, { event: 'message_created' }, 202);
    await sending.app.eventually(async () =>
      sending.receiver.received.some(
        ({ headers }) => headers['x-tenant'] === 'tenant-of-ada' && headers.authorization === 'Bearer token-of-ada',
      ),
    );
    watched.expectNoProblems(/status of 422/);
  });
});

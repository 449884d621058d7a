import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { adminToken } from '../support/app.ts';
import { TestBrowser, type WatchedPage } from '../support/browser.ts';
import { expectAtAllWidths, signedIn } from '../support/console.ts';
import { fail, Sending, type Body } from '../support/sending.ts';

describe('a webhook that is shared with a developer', function () {
  this.timeout(120_000);
  const browser = new TestBrowser();
  const sending = Sending.use();
  const opened: WatchedPage[] = [];

  before(async function () {
    await browser.start(this);
  });

  afterEach(async () => {
    for (const watched of opened.splice(0)) await watched.close();
  });
  after(() => browser.close());

  const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor();

  async function share(webhook: Body): Promise<Body> {
    return sending.made(`webhooks/${webhook.id}/share`, { expires_in: 3_600 });
  }

  /** Opens the link in a browser in which nobody is signed in. */
  async function open(url: string): Promise<WatchedPage> {
    const watched = await browser.open();
    opened.push(watched);
    await watched.page.goto(here(url));
    return watched;
  }

  // Links have the public URL, which is none of the test's.
  function here(url: string): string {
    const { pathname, hash } = new URL(url);
    return sending.app.url + pathname + hash;
  }

  it('is shared from its page by a link that is shown once, and the link is revoked there', async () => {
    const webhook = await sending.webhookFor('contact_created');
    const watched = await signedIn(browser, sending.app, adminToken, `/console/webhooks/${webhook.id}`);
    opened.push(watched);
    const { page } = watched;
    await page.getByRole('button', { name: 'Share with a developer', exact: true }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Expires after').selectOption({ label: '7 days' });
    await dialog.getByRole('button', { name: 'Create link', exact: true }).click();
    const url = (await dialog.getByLabel('Link', { exact: true }).textContent())?.trim() ?? '';
    expect(url).to.match(/#token=sww_\w{49}$/);
    await watched.expectAccessible();
    await page.keyboard.press('Escape');
    const revoke = page.getByRole('button', { name: `Revoke the link that ends with ${url.slice(-4)}` });
    await revoke.waitFor();
    expect(await page.getByText(url).count()).to.equal(0);
    const [link] = (await sending.app.get(`webhooks/${webhook.id}/shares`)).body.payload;
    expect(link.expires_at - link.created_at).to.be.closeTo(7 * 86_400, 1);

    const developer = await open(url);
    await heading(developer.page, `Webhook ${webhook.id}`);
    await revoke.click();
    await page.getByRole('button', { name: 'Yes', exact: true }).click();
    await page.getByText('No links.').waitFor();
    // The page notices it by itself.
    await heading(developer.page, 'Link ended');
    expect(await developer.page.evaluate('sessionStorage.length')).to.equal(0);
    await developer.expectAccessible();
    watched.expectNoProblems();
    developer.expectNoProblems(/status of 401/);
  });

  it('shows health, deliveries and what was sent, resends and tests, and nothing else of the console', async () => {
    const webhook = await sending.webhookFor('message_created');
    const other = await sending.webhookFor('contact_created');
    sending.receiver.answerWith(fail);
    const conversation = await sending.conversation();
    await sending.say(conversation, 'Where is my parcel?');
    const [delivery] = await sending.eventuallyIn(webhook, 'failing');
    await sending.putOff(webhook);
    const [theirs] = await sending.eventuallyIn(other, 'failing');
    await sending.putOff(other);

    const watched = await open((await share(webhook)).url);
    const { page } = watched;
    await heading(page, `Webhook ${webhook.id}`);
    expect(page.url()).to.equal(`${sending.app.url}/console/shared/1/${webhook.id}`);
    await page.getByText('0 % of the last').waitFor();
    expect(await page.getByRole('navigation', { name: 'Console' }).count()).to.equal(0);
    await expectAtAllWidths(watched);
    // The token outlives a reload.
    await page.reload();
    await page.getByLabel('State').selectOption('delivered');
    await page.getByText('No deliveries match these filters.').waitFor();
    await page.getByLabel('State').selectOption('failing');
    await page.getByRole('link', { name: `Delivery ${delivery.id}`, exact: true }).click();
    await heading(page, `Delivery ${delivery.id}`);
    await page.getByText('Where is my parcel?').first().waitFor();
    await page.getByText('broken').first().waitFor();
    expect(await page.getByRole('link', { name: `Conversation ${conversation}` }).count()).to.equal(0);
    expect(await page.getByText('Webhooks that got this event').count()).to.equal(0);
    await expectAtAllWidths(watched);

    sending.receiver.answerWith((_, response) => response.end());
    const before = sending.receiver.received.length;
    await page.getByRole('button', { name: 'Resend', exact: true }).click();
    await sending.receiver.waitFor(before + 1);
    await page.getByText('Resent as a new delivery.').waitFor();
    await page.getByRole('navigation', { name: 'Breadcrumb' }).getByRole('link').click();
    await heading(page, `Webhook ${webhook.id}`);
    await page.getByRole('button', { name: 'Send test', exact: true }).click();
    await page.getByText('Delivered: response').waitFor();
    watched.expectNoProblems();

    await page.goto(`${sending.app.url}/console/shared/1/${webhook.id}/deliveries/${theirs.id}`);
    await page.getByText('Delivery not found').waitFor();
    watched.expectNoProblems(/status of 404/);
  });

  it('asks for the whole link where the token is missing', async () => {
    const webhook = await sending.webhookFor('contact_created');
    const { url } = await share(webhook);
    const watched = await open(url.replace(/#.*/, ''));
    await heading(watched.page, 'Link incomplete');
    await watched.expectAccessible();
    // Pasted where the page is open, the whole link loads no page.
    await watched.page.evaluate(`location.hash = ${JSON.stringify(new URL(url).hash)}`);
    await heading(watched.page, `Webhook ${webhook.id}`);
    expect(watched.page.url()).to.not.include('sww_');
    watched.expectNoProblems();
  });
});

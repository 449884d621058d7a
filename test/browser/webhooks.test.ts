import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { adminToken } from '../support/app.ts';
import { TestBrowser, type WatchedPage } from '../support/browser.ts';
import { expectAtAllWidths, signedIn } from '../support/console.ts';
import { addPerson } from '../support/people.ts';
import { verify } from '../support/receiver.ts';
import { fail, Sending, type Body } from '../support/sending.ts';
import { xssTexts } from '../support/xss.ts';

describe('webhooks in the console', function () {
  this.timeout(120_000);
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
  // What the test leaves on the screen looks no more for what is deleted behind it.
  afterEach(async () => {
    await page?.goto('about:blank');
    watched?.problems.splice(0);
  });

  const toast = (text: string) => page.locator('.toast').filter({ hasText: text }).first().waitFor();
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const fact = (name: string) => page.locator('dt').filter({ hasText: name }).locator('xpath=following-sibling::dd[1]');

  async function open(path: string, heading: string): Promise<void> {
    await page.goto(sending.app.url + path);
    await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor();
  }

  async function openOwn(webhook: Body): Promise<void> {
    await open(`/console/webhooks/${webhook.id}`, `Webhook ${webhook.id}`);
    await button('Send test').waitFor();
  }

  it('say what to do where there are none, and are made by keyboard, with a secret that is shown once', async () => {
    await open('/console/webhooks', 'Webhooks');
    await page.getByText('No webhooks yet').waitFor();
    await button('New webhook').focus();
    await page.keyboard.press('Enter');
    await page.getByLabel('URL', { exact: true }).fill('ftp://example.com/hook');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByRole('alert').waitFor();
    expect(await page.getByLabel('URL', { exact: true }).getAttribute('aria-invalid')).to.equal('true');
    await page.getByLabel('URL', { exact: true }).fill(sending.receiver.url);
    await page.getByLabel('Name', { exact: true }).fill('CRM');
    await page.getByLabel('contact_created', { exact: true }).focus();
    await page.keyboard.press('Space');
    await page.getByLabel('URL', { exact: true }).focus();
    await page.keyboard.press('Enter');
    const secret = (await page.getByLabel('Signing secret', { exact: true }).textContent()) ?? '';
    expect(secret).to.match(/^whsec_/);
    await watched.expectAccessible();
    await page.keyboard.press('Escape');
    await page.getByRole('link', { name: 'CRM' }).waitFor();
    const [made] = (await sending.app.get('webhooks')).body.payload;
    expect(made).to.include({ name: 'CRM', url: sending.receiver.url, inbox_id: null, active: true });
    expect(made.subscriptions).to.have.members([
      'message_created',
      'conversation_created',
      'conversation_status_changed',
      'contact_created',
    ]);
    await sending.made('contacts', { name: 'Ada' });
    const [post] = await sending.receiver.waitFor(1);
    verify(secret, post!);
    await sending.eventuallyIn(made, 'delivered');
    await page.reload();
    await page.getByText('100 % of 1 attempts delivered').waitFor();
    expect(await page.getByText(secret).count()).to.equal(0);
    await expectAtAllWidths(watched);
    watched.expectNoProblems(/status of 422/);
  });

  it('are changed, switched off and on, and deleted after a question', async () => {
    await sending.webhookFor('message_created');
    await open('/console/webhooks', 'Webhooks');
    await page.getByRole('button', { name: /^Edit/ }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name', { exact: true }).fill('Other');
    await dialog.getByRole('button', { name: 'All' }).click();
    await dialog.getByLabel('Inbox', { exact: true }).selectOption({ label: 'Deliveries' });
    await dialog.getByLabel('Format', { exact: true }).selectOption({ label: 'Chatwoot' });
    await dialog.getByLabel('Active', { exact: true }).uncheck();
    await dialog.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('row', { name: /Other/ }).getByText('disabled', { exact: true }).waitFor();
    const [changed] = (await sending.app.get('webhooks')).body.payload;
    expect(changed).to.include({ name: 'Other', active: false, format: 'chatwoot' });
    expect(changed.inbox_id).to.be.a('number');
    expect(changed.subscriptions).to.have.length(18);
    await page.getByRole('link', { name: 'Other' }).click();
    await button('Send test').click();
    await toast('The webhook is disabled. Enable it first.');
    expect(await fact('Format').textContent()).to.equal('Chatwoot');
    await button('Enable').click();
    await button('Pause').waitFor();
    await button('Delete').click();
    await button('No').click();
    await button('Delete').click();
    await button('Yes').click();
    await page.getByText('No webhooks yet').waitFor();
    expect((await sending.app.get('webhooks')).body.payload).to.deep.equal([]);
    watched.expectNoProblems(/status of 409/);
  });

  it('are tried, and what the receiver answers is seen at once', async () => {
    const webhook = await sending.webhookFor('message_created');
    await openOwn(webhook);
    await page.getByText('No deliveries yet.').first().waitFor();
    await expectAtAllWidths(watched);
    await button('Send test').click();
    await page.getByText(/Delivered: response 200 in \d+ ms/).waitFor();
    const [post] = await sending.receiver.waitFor(1);
    expect(post!.headers).to.include({ 'webhook-test': 'true' });
    expect(post!.body).to.include({ event: 'message_created' });
    sending.receiver.answerWith(fail);
    await page.getByLabel('Test event', { exact: true }).selectOption('contact_deleted');
    await button('Send test').click();
    await page.getByText('Test failed: bad_status').waitFor();
    expect((await sending.receiver.waitFor(2))[1]!.body).to.include({ event: 'contact_deleted' });
    await page.getByRole('row', { name: /contact_deleted.*exhausted/ }).waitFor();
    await expectAtAllWidths(watched);
    watched.expectNoProblems();
  });

  it('pause without a loss, go on in order, and let go of what waits', async () => {
    const webhook = await sending.webhookFor('message_created');
    const id = await sending.conversation();
    await openOwn(webhook);
    await button('Pause').click();
    await toast('Webhook paused');
    expect(await fact('State').textContent()).to.match(/^paused since /);
    await sending.say(id, 'one');
    await sending.say(id, 'two');
    // The page hears of the events, and shows what waits.
    await page
      .getByRole('row', { name: /message_created.*pending/ })
      .nth(1)
      .waitFor();
    expect(sending.contents).to.deep.equal([]);
    await button('Resume').click();
    await sending.receiver.waitFor(2);
    expect(sending.contents).to.deep.equal(['one', 'two']);
    await page
      .getByRole('row', { name: /message_created.*delivered/ })
      .nth(1)
      .waitFor();
    await button('Pause').click();
    await button('Resume').waitFor();
    await sending.say(id, 'three');
    await page.getByRole('row', { name: /message_created.*pending/ }).waitFor();
    await button('Cancel pending').click();
    await button('Yes').click();
    await toast('1 delivery cancelled');
    await sending.eventuallyIn(webhook, 'cancelled');
    expect(sending.contents).to.deep.equal(['one', 'two']);
    watched.expectNoProblems();
  });

  it('retry what is failing at once, and what waits behind it follows in order', async () => {
    sending.receiver.answerWith(fail);
    const webhook = await sending.webhookFor('message_created');
    const id = await sending.conversation();
    await sending.say(id, 'one');
    await sending.eventuallyIn(webhook, 'failing');
    await sending.say(id, 'two');
    await sending.putOff(webhook);
    await openOwn(webhook);
    sending.receiver.answerWith((_, response) => response.end());
    await button('Retry now').click();
    await toast('Retrying 1 delivery.');
    await sending.eventuallyIn(webhook, 'delivered', 2);
    expect(sending.contents).to.deep.equal(['one', 'one', 'two']);
    await page
      .getByRole('row', { name: /message_created.*delivered/ })
      .nth(1)
      .waitFor();
    await button('Retry now').click();
    await toast('No failing deliveries.');
    watched.expectNoProblems();
  });

  it('recover what did not arrive, and count how far that is, also when the page is opened anew', async () => {
    const webhook = await sending.webhookFor('message_created');
    sending.receiver.answerWith((_, response) => response.writeHead(410).end());
    await sending.say(await sending.conversation(), 'lost');
    await sending.eventuallyIn(webhook, 'exhausted');
    await openOwn(webhook);
    await page.getByText('410').first().waitFor();
    await button('Recover').click();
    await page.getByRole('dialog').getByRole('button', { name: 'Recover' }).click();
    await page.getByRole('dialog').getByRole('alert').waitFor();
    await page.keyboard.press('Escape');
    await button('Enable').click();
    await button('Pause').waitFor();
    sending.receiver.answerWith((_, response) => response.end());
    await button('Recover').click();
    await watched.expectAccessible();
    await page.getByLabel('Created after', { exact: true }).fill('');
    await page.getByRole('dialog').getByRole('button', { name: 'Recover' }).click();
    await page.getByLabel('Created after', { exact: true }).and(page.locator('[aria-invalid=true]')).waitFor();
    await page.getByLabel('Created after', { exact: true }).fill('2020-01-01T00:00:00');
    await page.getByRole('dialog').getByRole('button', { name: 'Recover' }).click();
    await page.getByText('Recovered: 1 of 1').waitFor();
    await page.getByText('1 delivered, 0 failing').waitFor();
    expect(sending.contents).to.deep.equal(['lost', 'lost']);
    expect(new URL(page.url()).search).to.match(/recovery=\d+/);
    await page.reload();
    await page.getByText('Recovered: 1 of 1').waitFor();
    await expectAtAllWidths(watched);
    await button('Close').click();
    expect(new URL(page.url()).search).to.equal('');
    watched.expectNoProblems(/status of 4(09|22)/);
  });

  it('recover what happened before they were created', async () => {
    const conversation = await sending.conversation();
    for (const text of ['early', 'earlier than the webhook']) await sending.say(conversation, text);
    const webhook = await sending.webhookFor('conversation_created');
    await sending.made(`webhooks/${webhook.id}/pause`, {}, 200);
    await openOwn(webhook);
    await button('Recover').click();
    await page.getByLabel('Include events from while it was off').check();
    await watched.expectAccessible();
    await page.getByRole('dialog').getByRole('button', { name: 'Recover' }).click();
    await page.getByText(/\d+ pending, .* from while it was off/).waitFor();
    await button('Resume').click();
    await page.getByText(/Recovered: (\d+) of \1/).waitFor();
    await sending.app.eventually(async () =>
      sending.receiver.received.some(
        ({ body }) => body['event'] === 'conversation_created' && body['id'] === conversation,
      ),
    );
    watched.expectNoProblems();
  });

  it('rotate their secret: posts carry signatures of both', async () => {
    const webhook = await sending.webhookFor('contact_created');
    await openOwn(webhook);
    await button('Rotate secret').click();
    await button('Yes').click();
    const secret = (await page.getByLabel('Signing secret', { exact: true }).textContent()) ?? '';
    expect(secret)
      .to.match(/^whsec_/)
      .and.not.equal(webhook.secret);
    await page.getByText('For 24 hours').waitFor();
    await page.keyboard.press('Escape');
    await page.getByLabel('Signing secret', { exact: true }).waitFor({ state: 'detached' });
    await sending.made('contacts', { name: 'Ada' });
    const [post] = await sending.receiver.waitFor(1);
    verify(secret, post!);
    verify(webhook.secret, post!);
    watched.expectNoProblems();
  });

  it('show texts of strangers as texts', async () => {
    const text = xssTexts.join(' ').slice(0, 255);
    await sending.made('webhooks', {
      url: `${sending.receiver.url}?<img/src=x/onerror=alert(1)>"onmouseover="alert(2)`,
      subscriptions: ['contact_created'],
      name: text,
    });
    await open('/console/webhooks', 'Webhooks');
    await page.getByRole('link', { name: text }).waitFor();
    await page.getByRole('link', { name: text }).click();
    await page.getByRole('heading', { level: 1, name: text }).waitFor();
    await page.getByRole('button', { name: 'Edit' }).click();
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).to.equal(text);
    await page.keyboard.press('Escape');
    const query = new URLSearchParams({ event: '<script>alert(3)</script>', state: '"><svg onload=alert(4)>' });
    await open(`/console/deliveries?${query.toString()}`, 'Deliveries');
    await page.getByRole('alert').first().waitFor();
    watched.expectNoProblems(/status of 400/);
  });

  it('are nothing for agents', async () => {
    const webhook = await sending.webhookFor('message_created');
    const { headers } = await addPerson(sending.app, { name: 'Agent' });
    const agent = await signedIn(browser, sending.app, headers.api_access_token, '/console/webhooks');
    const links = await agent.page.getByRole('navigation', { name: 'Console' }).getByRole('link').allTextContents();
    expect(links).to.not.include.members(['Webhooks']).and.not.include.members(['Deliveries']);
    for (const path of ['webhooks', `webhooks/${webhook.id}`, 'deliveries', 'deliveries/1']) {
      await agent.page.goto(`${sending.app.url}/console/${path}`);
      await agent.page.getByText('Only administrators can open this page').waitFor();
    }
    agent.expectNoProblems();
    await agent.close();
  });
});

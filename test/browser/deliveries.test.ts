import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { adminToken } from '../support/app.ts';
import { TestBrowser, type WatchedPage } from '../support/browser.ts';
import { expectAtAllWidths, loaded, signedIn } from '../support/console.ts';
import { Sending, type Body } from '../support/sending.ts';
import { xssTexts } from '../support/xss.ts';

describe('deliveries in the console', function () {
  this.timeout(120_000);
  const browser = new TestBrowser();
  const sending = Sending.use();
  let watched: WatchedPage;
  let page: Page;

  before(async function () {
    await browser.start(this);
    watched = await signedIn(browser, sending.app, adminToken, '/console/deliveries');
    page = watched.page;
  });

  after(() => browser.close());
  // What the test leaves on the screen looks no more for what is deleted behind it.
  afterEach(async () => {
    await page?.goto('about:blank');
    watched?.problems.splice(0);
  });

  const toast = (text: string) => page.locator('.toast').filter({ hasText: text }).first().waitFor();
  const rows = () => page.getByRole('table', { name: /^Deliveries/ }).locator('tbody tr');
  const attempt = (number: number) => page.getByRole('region', { name: `Attempt ${number}` });

  async function open(path: string, heading: string): Promise<void> {
    await page.goto(sending.app.url + path);
    await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor();
    await loaded(page);
  }

  /** A delivery whose first attempt has failed with the answer. */
  async function failing(status: number, headers: Record<string, string>, body: string): Promise<Body> {
    sending.receiver.answerWith((_, response) => response.writeHead(status, headers).end(body));
    const webhook = await sending.webhookFor('message_created');
    await sending.say(await sending.conversation(), 'Where is my order?');
    const [delivery] = await sending.eventuallyIn(webhook, 'failing');
    return delivery;
  }

  it('say that there are none yet', async () => {
    await open('/console/deliveries', 'Deliveries');
    await page.getByText('No deliveries yet').waitFor();
    await expectAtAllWidths(watched);
    watched.expectNoProblems();
  });

  it('show each attempt with what was sent and answered, and when the next one is due', async () => {
    const delivery = await failing(503, { 'x-reason': 'upgrade' }, 'come back later');
    await open(`/console/deliveries/${delivery.id}`, `Delivery ${delivery.id}`);
    const first = attempt(1);
    await first.getByText('Response 503.').waitFor();
    expect(await first.textContent())
      .to.include('bad_status: response was not 2xx')
      .and.include('(503)');
    expect(await first.getByLabel('Request 1 headers', { exact: true }).textContent()).to.match(
      /webhook-signature: v1,[\w+/]+=/,
    );
    const shown = first.getByLabel('Request 1 body', { exact: true });
    expect(JSON.parse((await shown.textContent()) ?? '')).to.include({ content: 'Where is my order?' });
    await first.getByLabel('Pretty-print').first().uncheck();
    expect(await shown.textContent()).to.equal(sending.receiver.received.at(-1)!.text);
    expect(await first.getByLabel('Response 1 headers', { exact: true }).textContent()).to.include('x-reason: upgrade');
    expect(await first.getByLabel('Response 1 body', { exact: true }).textContent()).to.equal('come back later');
    expect(await first.getByRole('list', { name: 'Times' }).textContent()).to.match(/connect \d+ ms.*total \d+ ms/);
    expect(await first.locator('svg.times rect').count()).to.be.at.least(3);
    expect(await page.locator('dl').textContent()).to.match(/Next attemptin /);
    await expectAtAllWidths(watched);
    sending.receiver.answerWith((_, response) => response.writeHead(204).end());
    await sending.app.query('UPDATE deliveries SET next_attempt_at = now() WHERE id = $1', [delivery.id]);
    await sending.app.query('UPDATE lanes SET due_at = now() WHERE due_at IS NOT NULL AND lease_token IS NULL');
    await sending.app.eventually(async () => (await sending.stateOf(delivery.id)) === 'delivered');
    await page.reload();
    await attempt(2).getByText('Response 204.').waitFor();
    // The newest is first, and unfolded.
    expect(await page.getByRole('region').first().getAttribute('aria-label')).to.equal('Attempt 2');
    expect(await page.locator('dl').textContent()).to.not.include('Next attempt');
    watched.expectNoProblems();
  });

  it('are sent again as a new one, or refused with the sentence of the service', async () => {
    const delivery = await failing(500, {}, 'broken');
    sending.receiver.answerWith((_, response) => response.end('thanks'));
    await open(`/console/deliveries/${delivery.id}`, `Delivery ${delivery.id}`);
    await page.getByRole('button', { name: 'Resend', exact: true }).focus();
    await page.keyboard.press('Enter');
    await page.getByText('Resent as a new delivery.').waitFor();
    const id = Number(/deliveries\/(\d+)$/.exec(page.url())?.[1]);
    expect(id).to.be.greaterThan(delivery.id);
    // Followed until it has ended.
    await attempt(1).getByText('Response 200.').waitFor();
    expect(await sending.stateOf(delivery.id)).to.equal('delivered');
    const [first, second] = sending.receiver.received;
    expect(second!.headers['webhook-id']).to.equal(first!.headers['webhook-id']);
    await sending.app.patch(`webhooks/${delivery.webhook_id}`, { active: false });
    await page.getByRole('button', { name: 'Resend', exact: true }).click();
    await toast('The webhook is disabled. Enable it first.');
    watched.expectNoProblems(/status of 409/);
  });

  it('tell why nothing was answered', async () => {
    const { body: webhook } = await sending.app.post('webhooks', {
      url: 'http://127.0.0.1:1/hook',
      subscriptions: ['contact_created'],
    });
    await sending.made('contacts', { name: 'Ada' });
    const [{ id }] = await sending.eventuallyIn(webhook, 'failing');
    await open(`/console/deliveries/${id}`, `Delivery ${id}`);
    await attempt(1).getByText('No response').waitFor();
    expect(await attempt(1).textContent()).to.include('connect: connection failed (ECONNREFUSED)');
    expect(await attempt(1).getByText('Response', { exact: true }).count()).to.equal(0);
    await expectAtAllWidths(watched);
    watched.expectNoProblems();
  });

  it('are found by state, event, conversation and time, by an address that can be kept', async () => {
    const [one, other] = [await sending.webhookFor('message_created'), await sending.webhookFor('contact_created')];
    const id = await sending.conversation();
    const since = Math.floor(Date.now() / 1000);
    await sending.say(id, 'mine');
    await sending.say(await sending.conversation(), 'of somebody else');
    await sending.eventuallyIn(one, 'delivered', 2);
    await sending.eventuallyIn(other, 'delivered', 2);
    await open('/console/deliveries', 'Deliveries');
    await page.getByLabel('Event', { exact: true }).selectOption('message_created');
    await page.getByLabel('State', { exact: true }).selectOption('delivered');
    await page.getByLabel('Conversation', { exact: true }).fill(String(id));
    await page.getByLabel('Conversation', { exact: true }).press('Enter');
    await page.waitForURL(/conversation_id=/);
    await sending.app.eventually(async () => (await rows().count()) === 1);
    expect(await rows().first().textContent()).to.include(`Webhook ${one.id}`);
    await page.reload();
    await sending.app.eventually(async () => (await rows().count()) === 1);
    expect(await page.getByLabel('Event', { exact: true }).inputValue()).to.equal('message_created');
    await page.getByLabel('Until', { exact: true }).fill('2020-01-01T00:00:00');
    await page.getByText('No deliveries match these filters').waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await sending.app.eventually(async () => (await rows().count()) > 3);
    expect(new URL(page.url()).search).to.equal('');
    await open(`/console/webhooks/${one.id}?since=${since}&state=delivered`, `Webhook ${one.id}`);
    await sending.app.eventually(async () => (await rows().count()) === 2);
    await open('/console/deliveries?conversation_id=999999', 'Deliveries');
    await page.getByRole('alert').filter({ hasText: 'Conversation not found' }).waitFor();
    watched.expectNoProblems(/status of 404/);
  });

  it('are shown part by part', async () => {
    const webhook = await sending.webhookFor('contact_created');
    for (let count = 0; count < 30; count++) await sending.made('contacts', { name: `Contact ${count}` });
    await sending.app.eventually(async () => (await sending.receiver.waitFor(30)).length >= 30);
    await open(`/console/webhooks/${webhook.id}`, `Webhook ${webhook.id}`);
    await sending.app.eventually(async () => (await rows().count()) === 25);
    await page.getByRole('button', { name: 'Show more' }).click();
    await sending.app.eventually(async () => (await rows().count()) === 30);
    expect(await page.getByRole('button', { name: 'Show more' }).count()).to.equal(0);
    // What happens meanwhile does not throw whoever has gone on back to the begin.
    await sending.made('contacts', { name: 'One more' });
    await sending.receiver.waitFor(31);
    await page.waitForTimeout(1_000);
    expect(await rows().count()).to.be.at.least(30);
    watched.expectNoProblems();
  });

  it('execute nothing of what receivers and customers say', async () => {
    const headers = Object.fromEntries(
      xssTexts.filter((text) => /^[\x20-\x7e]+$/.test(text)).map((text, index) => [`x-attack-${index}`, text]),
    );
    const delivery = await failing(500, headers, xssTexts.join('\n'));
    const id = delivery.conversation_id as number;
    for (const text of xssTexts) await sending.say(id, text);
    sending.receiver.answerWith((_, response) => response.writeHead(200, headers).end(JSON.stringify(xssTexts)));
    await sending.made(`deliveries/${delivery.id}/resend`, {}, 202);
    const waiting = await sending.app.eventually(async () => {
      const found = await sending.deliveriesOf({ id: delivery.webhook_id }, '?state=delivered');
      return found.length > xssTexts.length && found;
    });
    for (const { id: own } of [delivery, ...waiting.slice(0, 3)]) {
      await open(`/console/deliveries/${own}`, `Delivery ${own}`);
      const answer = (await attempt(1).getByLabel('Response 1 headers', { exact: true }).textContent()) ?? '';
      expect(answer).to.include('x-attack-1: <img src=x onerror=alert(2)>');
      const body = (await attempt(1).getByLabel('Response 1 body', { exact: true }).textContent()) ?? '';
      expect(body).to.include('<script>alert(1)</script>');
      await attempt(1).hover();
    }
    await expectAtAllWidths(watched);
    watched.expectNoProblems();
  });
});

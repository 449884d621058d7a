import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { adminToken, TestApp } from '../support/app.ts';
import { TestBrowser, type WatchedPage } from '../support/browser.ts';
import { HeldAnswers } from '../support/held-answers.ts';
import { paintLate } from '../support/late-paint.ts';
import { addAccount } from '../support/people.ts';
import { failFirst, Receiver } from '../support/receiver.ts';
import { xssTexts } from '../support/xss.ts';

describe('the chat page in a browser', function () {
  this.timeout(120_000);
  const browser = new TestBrowser();
  let app: TestApp;
  let receiver: Receiver;
  let inbox: { id: number; identifier: string };
  let open: WatchedPage[] = [];

  before(async function () {
    await browser.start(this);
    app = await TestApp.start({ config: { widgetSessionsPerMinute: 0 } });
    receiver = await Receiver.start();
    const faq = (await app.post('agent_bots', { name: 'Faq', kind: 'plugin', plugin_id: 'faq' })).body;
    inbox = (await app.post('inboxes', { name: 'The shop', channel_type: 'Channel::WebWidget' })).body;
    await app.post(`inboxes/${inbox.id}/set_agent_bot`, { agent_bot: faq.id });
    const subscriptions = ['message_created', 'conversation_status_changed'];
    await app.post('webhooks', { url: receiver.url, subscriptions });
  });

  after(async () => {
    await browser.close();
    await app?.stop();
    await receiver?.close();
  });

  afterEach(async () => {
    await Promise.all(open.map((watched) => watched.close()));
    open = [];
  });

  async function visit(options: Parameters<TestBrowser['open']>[0] = {}): Promise<WatchedPage> {
    const watched = await browser.open(options);
    open.push(watched);
    await watched.page.goto(`${app.url}/chat/${inbox.identifier}`);
    await watched.page.getByRole('heading', { name: 'The shop', level: 1 }).waitFor();
    return watched;
  }

  async function signIn(page: Page, token = adminToken, name = 'The shop'): Promise<void> {
    const status = await page.evaluate(async (accessToken) => {
      const headers = { 'content-type': 'application/json' };
      const body = JSON.stringify({ access_token: accessToken });
      return (await fetch('/sign_in', { method: 'POST', headers, body })).status;
    }, token);
    expect(status).to.equal(201);
    await page.reload();
    await page.getByRole('heading', { name, level: 1 }).waitFor();
  }

  async function say(page: Page, text: string): Promise<void> {
    await page.getByRole('textbox', { name: 'Message' }).fill(text);
    await page.getByRole('button', { name: 'Send', exact: true }).click();
  }
  const answers = (page: Page) => page.locator('.message:not(.own) .bubble');
  const behind = (page: Page) => page.getByRole('region', { name: 'Behind the chat' });

  it("is the customer's chat for everybody, and no more for who is no member", async () => {
    const watched = await visit();
    const { page } = watched;
    await say(page, 'What are your opening hours?');
    await answers(page).first().waitFor();
    expect(await behind(page).count()).to.equal(0);
    const { administrator } = await addAccount(app, 'Elsewhere');
    const asked = page.waitForResponse('**/inboxes');
    await signIn(page, administrator.headers.api_access_token);
    expect((await asked).status()).to.equal(200);
    await answers(page).first().waitFor();
    expect(await behind(page).count()).to.equal(0);
    watched.expectNoProblems();
  });

  it('says to a member why nothing more is shown, and goes on by itself', async () => {
    const watched = await visit();
    const { page } = watched;
    await signIn(page);
    await page.route('**/events/ticket', (route) =>
      route.fulfill({ status: 429, json: { error: 'The account has as many streams of events open as it may have' } }),
    );
    await say(page, 'What are your opening hours?');
    const problem = behind(page).getByRole('status').filter({ hasText: 'as many streams of events open' });
    await problem.waitFor();
    await page.unrouteAll();
    await problem.waitFor({ state: 'detached' });
    watched.expectNoProblems(/status of 429/);
  });

  it('says to a member that the sign-in has ended', async () => {
    const watched = await visit();
    const { page } = watched;
    await signIn(page);
    await say(page, 'What are your opening hours?');
    await behind(page).getByText('Faq answers (bot of the inbox).').waitFor();
    expect(await behind(page).getByText('Offline: no live updates.').count()).to.equal(0);
    await page.evaluate(`fetch('/sign_in', { method: 'DELETE' })`);
    await behind(page).getByRole('status').filter({ hasText: 'Offline: no live updates.' }).waitFor();
    watched.expectNoProblems(/status of 401/);
  });

  it('shows a member what happens, and lets it take over: the bot falls silent, a failed webhook is retried and recovers', async () => {
    const began = Date.now();
    const watched = await visit();
    const { page } = watched;
    await signIn(page);
    const trace = behind(page);
    await say(page, 'What are your opening hours?');
    await answers(page).first().waitFor();
    await trace.getByText('Faq answers (bot of the inbox).').waitFor();
    await trace
      .getByText(/Run \d+: ok/)
      .first()
      .waitFor();
    await trace.getByText('Faq called (bot of the inbox).').first().waitFor();
    await trace
      .getByText(/Attempt 1 at .*: 200/)
      .first()
      .waitFor();
    await trace.getByRole('button', { name: 'Take over' }).click();
    await trace.getByText('Faq is paused: an agent is assigned.', { exact: true }).first().waitFor();
    const before = await answers(page).count();
    receiver.answerWith(failFirst());
    await say(page, 'Where is my parcel?');
    await trace
      .getByText(/Attempt 1 at .*: 500/)
      .first()
      .waitFor();
    await trace
      .getByText(/failing, next attempt at/)
      .first()
      .waitFor();
    receiver.answerWith((_, response) => response.end());
    await trace.getByRole('textbox', { name: 'Reply to the customer' }).fill('It is on its way');
    await trace.getByRole('button', { name: 'Reply' }).click();
    await answers(page).filter({ hasText: 'It is on its way' }).waitFor();
    expect(await answers(page).count()).to.equal(before + 1);
    // The first answer asks for 10 s, to which the schedule adds up to a fifth, and the page looks a second later.
    await trace
      .getByText(/Attempt 2 at .*: 200/)
      .first()
      .waitFor({ timeout: 60_000 });
    await trace.getByRole('button', { name: 'Resume bot' }).click();
    await trace.getByText('Faq answers (bot of the inbox).').waitFor();
    await trace.getByRole('button', { name: 'Snooze' }).click();
    await trace.getByText('conversation status changed: snoozed').waitFor();
    await trace.getByRole('button', { name: 'Resolve' }).click();
    await page.getByText('This conversation is closed.').waitFor();
    await watched.expectAccessible();
    await trace.getByRole('button', { name: 'New contact' }).click();
    await answers(page).first().waitFor({ state: 'detached' });
    await trace.getByText('Write a message as the customer').waitFor();
    watched.expectNoProblems();
    process.stderr.write(`      from the chat page to a recovered webhook: ${Date.now() - began} ms\n`);
  });

  it('sends a reply once though no answer came, and keeps what is written meanwhile', async () => {
    const watched = await visit();
    const { page } = watched;
    await signIn(page);
    await say(page, 'Hello');
    await behind(page).getByText('message created').first().waitFor();
    const field = behind(page).getByRole('textbox', { name: 'Reply to the customer' });
    const reply = behind(page).getByRole('button', { name: 'Reply' });
    await field.fill('Good morning');
    // The service takes it, and its answer is lost.
    await page.route('**/conversations/*/messages', async (route) => {
      await route.fetch();
      await route.abort();
    });
    await reply.click();
    await behind(page).getByRole('alert').filter({ hasText: 'The service is not responding' }).waitFor();
    expect(await field.inputValue()).to.equal('Good morning');
    await page.unroute('**/conversations/*/messages');
    await page.route('**/conversations/*/messages', async (route) => {
      const response = await route.fetch();
      await field.fill('Good morning, and');
      await route.fulfill({ response });
    });
    await reply.click();
    await page.getByRole('button', { name: 'Reply', disabled: false }).waitFor();
    await answers(page).filter({ hasText: 'Good morning' }).first().waitFor();
    expect(await field.inputValue()).to.equal('Good morning, and');
    expect(await answers(page).filter({ hasText: 'Good morning' }).count()).to.equal(1);
    await page.unroute('**/conversations/*/messages');
    // What is said twice on purpose is two messages.
    await field.fill('Good morning');
    await reply.click();
    await answers(page).filter({ hasText: 'Good morning' }).nth(1).waitFor();
    watched.expectNoProblems(/ERR_FAILED/);
  });

  it('shows what the service has answered, however late the browser paints', async () => {
    const watched = await browser.open();
    open.push(watched);
    await paintLate(watched.page);
    await watched.page.goto(`${app.url}/chat/${inbox.identifier}`);
    await watched.page.getByRole('heading', { name: 'The shop', level: 1 }).waitFor();
    watched.expectNoProblems();
  });

  it('leaves the buttons where they are when the first message makes a conversation', async () => {
    const watched = await visit();
    const { page } = watched;
    await signIn(page);
    const button = behind(page).getByRole('button', { name: 'New contact' });
    await button.focus();
    const pressed = await button.elementHandle();
    await say(page, 'Hello');
    await behind(page).getByText('message created').first().waitFor();
    expect(await pressed?.evaluate((element) => (element as unknown as { isConnected: boolean }).isConnected)).to.equal(
      true,
    );
    watched.expectNoProblems();
  });

  it('shows a new contact nothing of the one before, however late that is answered', async () => {
    const plain = (await app.post('inboxes', { name: 'Plain', channel_type: 'Channel::WebWidget' })).body;
    const watched = await browser.open();
    open.push(watched);
    const { page } = watched;
    await page.goto(`${app.url}/chat/${plain.identifier}`);
    await say(page, 'Of the one before');
    await page.getByText('Sending…').waitFor({ state: 'detached' });
    await signIn(page, adminToken, 'Plain');
    await page.locator('.own .bubble').waitFor();
    const held = new HeldAnswers();
    const isList = ({ pathname }: URL) => pathname.endsWith(`/inboxes/${plain.identifier}/messages`);
    await page.route(isList, held.hold);
    await page.reload();
    await app.eventually(async () => held.count === 1);
    await behind(page).getByRole('button', { name: 'New contact' }).click();
    await app.eventually(async () => held.count === 2);
    held.release();
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await say(page, 'Of somebody new');
    await page.getByText('Sending…').waitFor({ state: 'detached' });
    await behind(page).getByText('message created, incoming: Of somebody new').waitFor();
    expect(await page.locator('.bubble').allTextContents()).to.deep.equal(['Of somebody new']);
    watched.expectNoProblems();
  });

  it('is accessible on a small screen, and shows what anybody wrote as text', async () => {
    const watched = await visit({ viewport: { width: 360, height: 720 }, colorScheme: 'dark' });
    const { page } = watched;
    await signIn(page);
    await say(page, xssTexts.join('\n'));
    await page.getByText('Sending…').waitFor({ state: 'detached' });
    const id = await app.eventually(async () => {
      const { payload } = (await app.get(`conversations?inbox_id=${inbox.id}&sort=created_at`)).body.data;
      return payload[0]?.id;
    });
    const [note] = xssTexts.slice(1);
    await app.post(`conversations/${id}/messages`, { content: note, message_type: 'outgoing', private: true });
    await behind(page).getByText(`message created, private note: ${note}`).waitFor();
    expect(
      await answers(page)
        .filter({ hasText: note ?? '' })
        .count(),
    ).to.equal(0);
    await watched.expectAccessible();
    watched.expectNoProblems();
  });
});

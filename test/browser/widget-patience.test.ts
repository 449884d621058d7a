import { expect } from 'chai';
import type { Page, Route } from 'playwright-core';
import { TestApp } from '../support/app.ts';
import { TestBrowser, type WatchedPage } from '../support/browser.ts';
import { noise } from '../support/files.ts';
import { startForeignPage, type ForeignPage } from '../support/foreign-page.ts';

const file = { name: 'one.bin', mimeType: 'application/octet-stream', buffer: noise(20_000) };

describe('what the widget has not sent yet', function () {
  this.timeout(120_000);
  const browser = new TestBrowser();
  let app: TestApp;
  let shop: ForeignPage;
  let watched: WatchedPage;
  let page: Page;
  let inbox: { id: number; identifier: string };

  before(async function () {
    await browser.start(this);
    app = await TestApp.start({ config: { widgetSessionsPerMinute: 0 } });
    shop = await startForeignPage(app.url);
  });

  beforeEach(async () => {
    const fields = { name: 'The shop', channel_type: 'Channel::WebWidget', allowed_origins: [shop.origin] };
    inbox = (await app.post('inboxes', fields)).body;
    shop.show({ 'data-inbox': inbox.identifier, 'data-name': 'Vera' });
    watched = await browser.open();
    ({ page } = watched);
    await page.goto(shop.url);
  });

  afterEach(() => watched.close());

  after(async () => {
    await browser.close();
    shop?.close();
    await app?.stop();
  });

  const enter = () => page.getByRole('button', { name: /^Open chat/ }).click();
  const waiting = () => page.locator('.waiting');
  const attach = () => page.getByLabel('Attach files').setInputFiles([file]);
  async function say(text: string): Promise<void> {
    await page.getByRole('textbox', { name: 'Message' }).fill(text);
    await page.getByRole('button', { name: 'Send', exact: true }).click();
  }
  /** What the visitor has said, as agents see it. */
  async function heard(): Promise<string[]> {
    const { payload } = (await app.get(`conversations?inbox_id=${inbox.id}`)).body.data;
    const messages = (await app.get(`conversations/${payload[0].id}/messages`)).body.payload;
    return messages
      .filter(({ message_type: type }: { message_type: string }) => type === 'incoming')
      .map(({ content, attachments }: Said) => attachments[0]?.file_name ?? content);
  }
  /** Has every message that is posted go through `act`. */
  const onPost = (act: (route: Route) => Promise<void>) =>
    page.route('**/messages', (route) => (route.request().method() === 'POST' ? act(route) : route.continue()));
  const refuse = (route: Route, status: number, error: string, headers: Record<string, string> = {}) =>
    route.fulfill({
      status,
      headers: { 'access-control-allow-origin': '*', 'access-control-expose-headers': 'retry-after', ...headers },
      json: { error, code: 'refused' },
    });

  it('can be sent again where the line paused for longer than the service waits', async () => {
    let tries = 0;
    await enter();
    await onPost((route) => {
      tries += 1;
      return refuse(route, 408, 'Nothing more of the form arrived for 15 s: send it again');
    });
    await attach();
    await page.getByRole('alert').filter({ hasText: 'Not sent: Nothing more of the form arrived' }).waitFor();
    expect(tries).to.equal(5);
    await page.unroute('**/messages');
    await page.getByRole('button', { name: 'Try again' }).click();
    await waiting().waitFor({ state: 'detached' });
    expect(await heard()).to.deep.equal(['one.bin']);
  });

  it('is not sent where it was removed before there was a session', async () => {
    const opening = Promise.withResolvers<void>();
    let posts = 0;
    await page.route('**/sessions', async (route) => {
      await opening.promise;
      await route.continue();
    });
    await onPost((route) => {
      posts += 1;
      return route.continue();
    });
    await enter();
    await attach();
    await waiting().getByRole('button', { name: 'Remove' }).click();
    await waiting().waitFor({ state: 'detached' });
    await say('Never mind');
    opening.resolve();
    await waiting().waitFor({ state: 'detached' });
    await app.eventually(async () => (await heard()).length > 0);
    // Files go first where both wait for the session.
    expect(await heard()).to.deep.equal(['Never mind']);
    expect(posts).to.equal(1);
  });

  it('is shown until it is said, where two files, or two words, are the same', async () => {
    await enter();
    for (const [write, many] of [
      [attach, 'one.bin'],
      [() => say('ok'), 'ok'],
    ] as const) {
      const taken = Promise.withResolvers<void>();
      const second = Promise.withResolvers<void>();
      let posts = 0;
      await onPost(async (route) => {
        posts += 1;
        if (posts > 1) await second.promise;
        const response = await route.fetch();
        if (posts === 1) await taken.promise;
        await route.fulfill({ response });
      });
      const bubbles = page.locator('.own .bubble').filter({ hasText: many });
      const said = page.locator('.own.message:not(.waiting) .bubble').filter({ hasText: many });
      await write();
      await write();
      // The stream tells of the first before its answer comes: it is shown once, and the second still waits.
      await said.waitFor();
      expect([await bubbles.count(), await waiting().count()]).to.deep.equal([2, 1]);
      taken.resolve();
      await app.eventually(() => Promise.resolve(posts === 2));
      expect([await bubbles.count(), await waiting().count()]).to.deep.equal([2, 1]);
      second.resolve();
      await waiting().waitFor({ state: 'detached' });
      expect(await bubbles.count()).to.equal(2);
      await page.unroute('**/messages');
    }
    expect(await heard()).to.deep.equal(['one.bin', 'one.bin', 'ok', 'ok']);
  });

  it('is tried for as long as the service is away or has no time, and not before it asks for it', async () => {
    await enter();
    const wake = () =>
      (globalThis as unknown as { dispatchEvent: (event: Event) => void }).dispatchEvent(new Event('online'));
    const hurry = setInterval(() => void page.evaluate(wake).catch(() => undefined), 100);
    try {
      const tried: number[] = [];
      const seen = Promise.withResolvers<void>();
      await onPost(async (route) => {
        tried.push(Date.now());
        if (tried.length < 5) return refuse(route, 503, 'The service is busy');
        if (tried.length < 7) return refuse(route, 429, 'Too many messages', { 'retry-after': '3' });
        if (tried.length < 10) return route.fulfill({ status: 502, headers: { 'access-control-allow-origin': '*' } });
        await seen.promise;
        return route.continue();
      });
      await say('Is anybody there?');
      await waiting().getByText('Sending… Too many messages.').waitFor();
      await page.getByText('You are offline.').waitFor();
      seen.resolve();
      await waiting().waitFor({ state: 'detached' });
      expect(await page.getByText('You are offline.').count()).to.equal(0);
      expect(tried).to.have.lengthOf(10);
      const [first = 0, , , , fifth = 0, sixth = 0, seventh = 0] = tried;
      // Four pauses, which are at least so long together where nothing wakes.
      expect(fifth - first, 'woken').to.be.below(7400);
      expect(sixth - fifth, 'asked to wait').to.be.above(2900);
      expect(seventh - sixth, 'asked to wait').to.be.above(2900);
      expect(await heard()).to.deep.equal(['Is anybody there?']);
    } finally {
      clearInterval(hurry);
    }
  });
});

interface Said {
  content: string;
  attachments: { file_name: string }[];
}

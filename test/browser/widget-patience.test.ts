import { expect } from 'chai';
import type { Page, Route } from 'playwright-core';
import { TestApp } from '../support/app.ts';
import { TestBrowser, type WatchedPage } from '../support/browser.ts';
import { noise } from '../support/files.ts';
import { startForeignPage, type ForeignPage } from '../support/foreign-page.ts';

const file = { name: 'one.bin', mimeType: 'application/octet-stream', buffer: noise(20_000) };

describe('what the widget has not sent yet', function () {
  this.timeout(60_000);
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
});

interface Said {
  content: string;
  attachments: { file_name: string }[];
}

import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { adminToken, TestApp } from '../support/app.ts';
import { TestBrowser, type WatchedPage } from '../support/browser.ts';
import { png } from '../support/files.ts';
import { xssTexts } from '../support/xss.ts';

const picture = { name: 'a large picture.png', mimeType: 'image/png', buffer: png(1600, 1200) };
const tall = { name: 'tall.png', mimeType: 'image/png', buffer: png(60, 3000) };
const note = { name: 'how to.txt', mimeType: 'text/plain', buffer: Buffer.from('x'.repeat(12_345)) };

describe('files of messages in pages', function () {
  this.timeout(120_000);
  const browser = new TestBrowser();
  const apps: TestApp[] = [];
  let watched: WatchedPage;
  let page: Page;

  before(function () {
    return browser.start(this);
  });

  after(async () => {
    await browser.close();
    for (const app of apps) await app.stop();
  });

  afterEach(() => watched.close());

  /** Opens the chat page of a new inbox as an administrator, and sends files there as the customer. */
  async function send(app: TestApp, files: (typeof picture)[]): Promise<number> {
    apps.push(app);
    const fields = { name: 'The shop', channel_type: 'Channel::WebWidget' };
    const { id, identifier } = (await app.post('inboxes', fields)).body;
    watched = await browser.open();
    ({ page } = watched);
    await page.goto(`${app.url}/chat/${identifier}`);
    await page.evaluate(async (accessToken) => {
      const headers = { 'content-type': 'application/json' };
      await fetch('/sign_in', { method: 'POST', headers, body: JSON.stringify({ access_token: accessToken }) });
    }, adminToken);
    await page.reload();
    await page.getByLabel('Attach files').setInputFiles(files);
    await page.locator('.waiting').waitFor({ state: 'detached' });
    const { payload } = (await app.get(`conversations?inbox_id=${id}`)).body.data;
    return payload[0].id;
  }

  /** The pictures and links in one place, as people and screen readers get them. */
  async function expectFiles(place: Locator, mostHigh: number): Promise<void> {
    for (const name of [picture.name, tall.name]) {
      const image = place.getByRole('img', { name, exact: true });
      // It has its size before it is there, and is loaded when somebody comes near it.
      await image.scrollIntoViewIfNeeded();
      const [width, height] = await apps[0]!.eventually(() =>
        image.evaluate((element): [number, number] | false => {
          const { naturalWidth, clientWidth = 0, clientHeight = 0 } = element as unknown as Record<string, number>;
          return naturalWidth ? [clientWidth, clientHeight] : false;
        }),
      );
      expect(height, name).to.be.within(1, mostHigh);
      expect(width, name).to.be.within(1, 1600);
      const around = await place.boundingBox();
      expect(width).to.be.at.most(around?.width ?? 0);
    }
    const link = place.getByRole('link', { name: 'how to.txt (12 KB)', exact: true });
    expect(await link.getAttribute('rel')).to.contain('noopener');
    const response = await fetch((await link.getAttribute('href')) ?? '');
    expect(response.headers.get('content-disposition')).to.match(/^attachment; /);
    expect((await response.text()).length).to.equal(12_345);
  }

  it('are shown in the chat, in the trace and in the transcript: pictures in a bounded size, others with name and size', async () => {
    const app = await TestApp.start({ config: { widgetSessionsPerMinute: 0 } });
    const id = await send(app, [picture, tall, note]);
    await page.getByRole('region', { name: 'Behind the chat' }).getByText('message created').waitFor();
    await expectFiles(page.getByRole('region', { name: 'Customer' }), 240);
    await expectFiles(page.getByRole('region', { name: 'Behind the chat' }), 96);
    await watched.expectAccessible();
    await page.goto(`${app.url}/console/conversations/${id}`);
    await expectFiles(page.getByRole('log', { name: 'Messages' }), 240);
    await watched.expectAccessible();
    watched.expectNoProblems();
  });

  it('have any name, and nothing of it runs', async () => {
    const app = await TestApp.start({ config: { widgetSessionsPerMinute: 0 } });
    const files = xssTexts.slice(0, 8).map((text) => ({ ...note, name: `${text.slice(0, 60)}.txt` }));
    const id = await send(app, files);
    await page.goto(`${app.url}/console/conversations/${id}`);
    const links = page.getByRole('log', { name: 'Messages' }).getByRole('link', { name: '.txt (12 KB)' });
    await links.first().waitFor();
    expect(await links.count()).to.equal(files.length);
    for (const link of await links.all())
      expect(await link.getAttribute('href')).to.match(new RegExp(`^${app.url}/files/`));
    watched.expectNoProblems();
  });

  it('are links where the page may not show them, because the links name another origin', async () => {
    const config = { widgetSessionsPerMinute: 0, publicUrl: 'https://elsewhere.example' };
    const app = await TestApp.start({ config });
    const id = await send(app, [picture]);
    const link = (place: Locator) => place.getByRole('link', { name: /^a large picture\.png \(\d+ \w+\)$/ }).waitFor();
    for (const name of ['Customer', 'Behind the chat']) await link(page.getByRole('region', { name }));
    expect(await page.getByRole('img').count()).to.equal(0);
    await page.goto(`${app.url}/console/conversations/${id}`);
    const log = page.getByRole('log', { name: 'Messages' });
    await link(log);
    expect(await log.getByRole('img').count()).to.equal(0);
    watched.expectNoProblems();
  });
});

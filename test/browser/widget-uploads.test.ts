import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { TestApp } from '../support/app.ts';
import { TestBrowser, type WatchedPage } from '../support/browser.ts';
import { noise, storedFiles } from '../support/files.ts';
import { startForeignPage, type ForeignPage } from '../support/foreign-page.ts';
import { SlowLine } from '../support/slow-line.ts';

interface Said {
  content: string;
  message_type: string;
  attachments: { file_name: string; file_size: number }[];
}

// More than systems keep in buffers, so that what has gone has gone.
const film = { name: 'film.bin', mimeType: 'application/octet-stream', buffer: noise(9_600_000) };

describe('large files in the widget on a slow line', function () {
  this.timeout(120_000);
  const browser = new TestBrowser();
  let app: TestApp;
  let line: SlowLine;
  let shop: ForeignPage;
  let watched: WatchedPage;
  let page: Page;
  let inbox: { id: number; identifier: string };

  before(async function () {
    await browser.start(this);
    app = await TestApp.start({ config: { widgetSessionsPerMinute: 0, widgetUploadBytesPerMinute: 0 } });
    line = await SlowLine.start(app.url);
    shop = await startForeignPage(line.url);
  });

  beforeEach(async () => {
    Object.assign(line, { bytesPerSecond: Infinity, breaksAfter: Infinity });
    const fields = { name: 'The shop', channel_type: 'Channel::WebWidget', allowed_origins: [shop.origin] };
    inbox = (await app.post('inboxes', fields)).body;
    shop.show({ 'data-inbox': inbox.identifier, 'data-name': 'Vera' });
    watched = await browser.open();
    ({ page } = watched);
    await page.goto(shop.url);
    await page.getByRole('button', { name: /^Open chat/ }).click();
    await say('Hello');
    await waiting().waitFor({ state: 'detached' });
  });

  afterEach(() => watched.close());

  after(async () => {
    await browser.close();
    shop?.close();
    line?.close();
    await app?.stop();
  });

  const waiting = () => page.locator('.waiting');
  const attach = (...files: (typeof film)[]) => page.getByLabel('Attach files').setInputFiles(files);
  async function say(text: string): Promise<void> {
    await page.getByRole('textbox', { name: 'Message' }).fill(text);
    await page.getByRole('button', { name: 'Send', exact: true }).click();
  }
  async function heard(): Promise<Said[]> {
    const { payload } = (await app.get(`conversations?inbox_id=${inbox.id}`)).body.data;
    const messages = (await app.get(`conversations/${payload[0].id}/messages`)).body.payload as Said[];
    return messages.filter(({ message_type: type }) => type === 'incoming');
  }
  const texts = async () => (await heard()).map(({ content, attachments: [file] }) => file?.file_name ?? content);

  it('arrive, show how much has gone, and hold up for seconds only what is written after them', async () => {
    line.bytesPerSecond = 400_000;
    const began = Date.now();
    await attach(film);
    const bar = page.getByRole('progressbar', { name: 'Sent of film.bin' });
    await bar.waitFor();
    await app.eventually(async () => Number(await bar.getAttribute('value')) > 0.05);
    expect(Number(await bar.getAttribute('value'))).to.be.below(1);
    await watched.expectAccessible();
    await say('Is anybody there?');
    await app.eventually(async () => (await texts()).includes('Is anybody there?'));
    expect(await texts()).to.deep.equal(['Hello', 'Is anybody there?']);
    await waiting().waitFor({ state: 'detached', timeout: 60_000 });
    // Longer than any other request may take.
    expect(Date.now() - began).to.be.above(22_000);
    expect(await texts()).to.deep.equal(['Hello', 'Is anybody there?', 'film.bin']);
    expect((await heard()).at(-1)?.attachments[0]?.file_size).to.equal(film.buffer.length);
    expect(await storedFiles(app)).to.include({ files: 1, unsent: 0 });
    watched.expectNoProblems();
  });

  it('keep their place before what is written after them where they are quick', async () => {
    line.bytesPerSecond = 1_000_000;
    await attach({ ...film, buffer: noise(2_000_000) });
    await say('What do you think of it?');
    await waiting().first().waitFor({ state: 'detached' });
    await app.eventually(async () => (await heard()).length === 3);
    expect(await texts()).to.deep.equal(['Hello', 'film.bin', 'What do you think of it?']);
  });

  it('end with a sentence where they do not get through, hold up nothing, and arrive once when they are sent again', async () => {
    line.breaksAfter = 200_000;
    await attach(film);
    await say('Did you get it?');
    await app.eventually(async () => (await texts()).includes('Did you get it?'));
    const alert = page.getByRole('alert').filter({ hasText: 'Not sent: connection lost.' });
    await alert.waitFor();
    expect(await texts()).to.deep.equal(['Hello', 'Did you get it?']);
    expect(await page.getByText('You are offline.').count()).to.equal(0);
    await watched.expectAccessible();
    line.breaksAfter = Infinity;
    await page.getByRole('button', { name: 'Try again' }).click();
    await waiting().waitFor({ state: 'detached' });
    await app.eventually(async () => (await heard()).length === 3);
    expect(await texts()).to.deep.equal(['Hello', 'Did you get it?', 'film.bin']);
  });

  it('can be taken back, waiting and on their way, and what follows is sent', async () => {
    const before = (await storedFiles(app)).files;
    line.bytesPerSecond = 50_000;
    await attach(film);
    await attach({ ...film, name: 'second.bin' });
    await page.getByRole('progressbar', { name: 'Sent of second.bin' }).waitFor();
    expect(await waiting().count()).to.equal(2);
    await waiting().filter({ hasText: 'second.bin' }).getByRole('button', { name: 'Remove' }).click();
    await waiting().filter({ hasText: 'second.bin' }).waitFor({ state: 'detached' });
    await waiting().filter({ hasText: 'film.bin' }).getByRole('button', { name: 'Remove' }).click();
    await waiting().waitFor({ state: 'detached' });
    await page.getByRole('textbox', { name: 'Message' }).and(page.locator(':focus')).waitFor();
    await attach({ ...film, name: 'small.bin', buffer: noise(10_000) });
    await app.eventually(async () => (await texts()).includes('small.bin'));
    // What is still in the buffers of the line arrives now: the beginning of a form, and then its end.
    line.bytesPerSecond = Infinity;
    await app.eventually(async () => app.app.underWay().requests <= 1);
    expect(await texts()).to.deep.equal(['Hello', 'small.bin']);
    expect(await storedFiles(app)).to.include({ files: before + 1, unsent: 0 });
  });
});

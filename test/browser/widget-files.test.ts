import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { TestApp } from '../support/app.ts';
import { TestBrowser } from '../support/browser.ts';
import { png, sendFiles, storedFiles } from '../support/files.ts';
import { startForeignPage, type ForeignPage } from '../support/foreign-page.ts';

const picture = { name: 'photo.png', mimeType: 'image/png', buffer: png(40, 30) };

describe('files in the widget in a browser', function () {
  this.timeout(120_000);
  const browser = new TestBrowser();
  let app: TestApp;
  let shop: ForeignPage;

  before(async function () {
    await browser.start(this);
    app = await TestApp.start({ config: { widgetSessionsPerMinute: 0 } });
    shop = await startForeignPage(app.url);
  });

  after(async () => {
    await browser.close();
    shop?.close();
    await app?.stop();
  });

  const attach = (page: Page) => page.getByLabel('Attach files');

  it('are sent with what was written, shown as pictures and links, and refused with a sentence', async () => {
    const { body: inbox } = await app.post('inboxes', {
      name: 'The shop',
      channel_type: 'Channel::WebWidget',
      allowed_origins: [shop.origin],
    });
    shop.show({ 'data-inbox': inbox.identifier, 'data-name': 'Vera' });
    const watched = await browser.open();
    const { page } = watched;
    await page.goto(shop.url);
    await page.getByRole('button', { name: /^Open chat/ }).click();
    await page.getByRole('textbox', { name: 'Message' }).fill('It looks so');
    await attach(page).setInputFiles([picture]);
    const shown = page.locator('.bubble img');
    await shown.waitFor();
    expect(await page.locator('.own .bubble').textContent()).to.equal('It looks so');
    expect(await shown.getAttribute('alt')).to.equal('photo.png');
    const widthOf = (image: unknown) => (image as { naturalWidth: number }).naturalWidth;
    await app.eventually(async () => (await shown.evaluate(widthOf)) === 40);
    const src = (await shown.getAttribute('src')) ?? '';
    expect(Buffer.from(await (await fetch(src)).arrayBuffer()).equals(picture.buffer)).to.equal(true);
    expect(await storedFiles(app)).to.include({ files: 1, unsent: 0 });
    const { payload } = (await app.get(`conversations?inbox_id=${inbox.id}`)).body.data;
    await sendFiles(
      app,
      `conversations/${payload[0].id}/messages`,
      { message_type: 'outgoing' },
      { files: [{ name: 'how <b>to.txt', bytes: Buffer.from('Turn it') }] },
    );
    const link = page.getByRole('link', { name: 'how bto.txt' });
    await link.waitFor();
    expect(await link.getAttribute('target')).to.equal('_blank');
    await attach(page).setInputFiles([{ name: 'no.png', mimeType: 'image/png', buffer: Buffer.from('<svg>') }]);
    await page.getByText('Not sent: The content of no.png is not what its name says').waitFor();
    expect(await storedFiles(app)).to.include({ files: 2, unsent: 0 });
    await watched.close();
  });
});

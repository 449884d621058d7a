import { expect } from 'chai';
import type { Locator, Page } from 'playwright-core';
import { adminToken, TestApp } from '../support/app.ts';
import { TestBrowser } from '../support/browser.ts';
import { loaded, signedIn } from '../support/console.ts';
import { Customers } from '../support/conversing.ts';

const long = 'x'.repeat(120);
const names = ['Grandmaison Conversation', 'Priya Shah', long, 'Jonas Berg'];
const widths = [1440, 1024, 390];

describe('the layout of the console', function () {
  this.timeout(240_000);
  const browser = new TestBrowser();
  let app: TestApp;
  let page: Page;
  let conversation = 0;

  before(async function () {
    await browser.start(this);
    app = await TestApp.start({ engine: false });
    const customers = new Customers(app);
    const inbox = await customers.inbox('Shop');
    for (let index = 0; index < 20; index += 1) {
      conversation = await customers.writes(inbox, names[index % names.length] ?? '', `Where is my order? ${long}`);
    }
    const subscriptions = ['message_created', 'conversation_status_changed'];
    await app.post('webhooks', { url: `https://example.com/${long}`, name: 'Ledger of accounting', subscriptions });
    for (let index = 0; index < 15; index += 1) await customers.says(conversation, `Message ${index}`);
    await app.post('labels', { title: 'very-important-customer', color: '#ff0000' });
    await app.post(`conversations/${conversation}/labels`, { labels: ['very-important-customer'] });
    ({ page } = await signedIn(browser, app, adminToken));
  });

  after(async () => {
    await browser.close();
    await app?.stop();
  });

  const open = async (path: string, width: number, height = 900): Promise<void> => {
    await page.setViewportSize({ width, height });
    await page.goto(`${app.url}/console/${path}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await loaded(page);
  };

  it('breaks no word in a table, and needs no scrolling sideways', async () => {
    for (const path of [
      'conversations',
      'webhooks',
      'deliveries',
      'settings/labels',
      'settings/agents',
      'settings/inboxes',
    ]) {
      for (const width of widths) {
        await open(path, width);
        await page.getByRole('table').first().waitFor();
        expect(await page.evaluate(findBrokenWords), `${path} at ${width}`).to.deep.equal([]);
        expect(
          await page.evaluate('document.documentElement.scrollWidth - innerWidth'),
          `${path} at ${width}`,
        ).to.be.at.most(0);
      }
    }
  });

  it('shows at least 14 conversations on a screen of 900 pixels, whatever their names', async () => {
    await open('conversations', 1440);
    await page.getByRole('row').nth(14).waitFor();
    expect(await page.evaluate(countVisibleRows)).to.be.at.least(14);
  });

  it('has the composer in view, on large and small screens', async () => {
    for (const [width, height] of [
      [1440, 900],
      [1280, 720],
      [1024, 768],
      [390, 844],
    ] as const) {
      await open(`conversations/${conversation}`, width, height);
      const text = await edges(page.getByLabel('Reply', { exact: true }));
      const send = await edges(page.getByRole('button', { name: 'Send', exact: true }));
      const newest = await edges(page.getByText('Message 14', { exact: true }));
      expect(send.bottom, `${width}`).to.be.at.most(height);
      // The newest message is above the composer, not behind it.
      expect(newest.top, `${width}`).to.be.within(0, newest.bottom);
      expect(newest.bottom, `${width}`).to.be.at.most(text.top);
    }
  });
});

async function edges(element: Locator): Promise<{ top: number; bottom: number }> {
  const box = await element.boundingBox();
  if (!box) throw new Error('It is not shown');
  return { top: box.y, bottom: box.y + box.height };
}

// The two below run in the page: words of up to 16 letters that lie on two lines, and rows that are wholly in view.

const findBrokenWords = `[...document.querySelectorAll('th, td')].flatMap((cell) => {
  const texts = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT);
  const broken = [];
  for (let node = texts.nextNode(); node; node = texts.nextNode()) {
    for (const { 0: word, index } of node.data.matchAll(/(?<![A-Za-z_/.])[A-Za-z]{2,16}(?![A-Za-z_/.])/g)) {
      const range = document.createRange();
      range.setStart(node, index);
      range.setEnd(node, index + word.length);
      const lines = new Set([...range.getClientRects()].map(({ top }) => Math.round(top)));
      if (lines.size > 1) broken.push(word);
    }
  }
  return broken;
})`;

const countVisibleRows = `[...document.querySelectorAll('tbody tr')]
  .filter((row) => row.getBoundingClientRect().bottom <= innerHeight).length`;

import { expect } from 'chai';
import { setTimeout as pause } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { adminToken, TestApp } from '../support/app.ts';
import { TestBrowser, type WatchedPage } from '../support/browser.ts';
import { SleepingNetwork } from '../support/sleeping-network.ts';

const written = 60;
/** As long as a lid is closed: it is the browser's clock that jumps over it. */
const asleepMs = 60_000;

describe('a page whose computer or network sleeps', function () {
  this.timeout(120_000);
  const browser = new TestBrowser();
  let app: TestApp;
  let network: SleepingNetwork;
  let conversation: number;

  before(async function () {
    await browser.start(this);
    app = await TestApp.start();
    network = await SleepingNetwork.open(app.url);
    const { id: inbox } = (await app.post('inboxes', { name: 'Asleep', channel_type: 'Channel::Api' })).body;
    const { id: contact } = (await app.post('contacts', { name: 'Ada' })).body;
    conversation = (await app.post('conversations', { inbox_id: inbox, contact_id: contact })).body.id;
  });

  after(async () => {
    await browser.close();
    await network?.close();
    await app?.stop();
  });

  async function follow(): Promise<WatchedPage> {
    const watched = await browser.open();
    const { page } = watched;
    await page.clock.install();
    await page.goto(`${network.url}/console/live?type=message_created&conversation_id=${conversation}`);
    await page.getByLabel('Access token').fill(adminToken);
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('status').filter({ hasText: 'Live' }).waitFor();
    return watched;
  }

  async function write(count: number): Promise<number[]> {
    const numbers: number[] = [];
    for (let made = 0; made < count; made += 1) {
      const content = `Message ${made}`;
      const body = { content, message_type: 'incoming' };
      expect((await app.post(`conversations/${conversation}/messages`, body)).status).to.equal(201);
    }
    const rows = await app.query<{ sequence: number }>(
      `SELECT sequence::int AS sequence FROM events WHERE conversation_id = $1 AND name = 'message_created' ORDER BY id DESC LIMIT ${count}`,
      [conversation],
    );
    for (const { sequence } of rows) numbers.push(sequence);
    return numbers;
  }

  /** The numbers of the events that the page shows, newest first. */
  const shown = async (page: Page): Promise<number[]> =>
    (await page.locator('td[data-title=Sequence]').allTextContents()).map(Number);

  async function expectShown(page: Page, expected: readonly number[]): Promise<void> {
    await page.locator('td[data-title=Sequence]').getByText(String(expected[0]), { exact: true }).waitFor();
    expect(await shown(page)).to.deep.equal(expected);
  }

  it('notices after a minute that its stream is dead, and shows everything that happened, once and in order', async () => {
    const watched = await follow();
    const { page } = watched;
    const before = await write(3);
    await expectShown(page, before);
    network.sleep();
    const missed = await write(written);
    await pause(500);
    expect(await shown(page)).to.deep.equal(before);
    network.wake();
    await page.clock.fastForward(asleepMs);
    await expectShown(page, [...missed, ...before]);
    const after = await write(2);
    await expectShown(page, [...after, ...missed, ...before]);
    watched.expectNoProblems();
    await watched.close();
  });

  it('goes on at once where it was when the network is back', async () => {
    const watched = await follow();
    const { page } = watched;
    const before = await write(3);
    await expectShown(page, before);
    network.cut();
    await page.getByRole('status').filter({ hasText: 'Live' }).waitFor({ state: 'detached' });
    const missed = await write(written);
    expect(await shown(page)).to.deep.equal(before);
    network.wake();
    await page.evaluate(`dispatchEvent(new Event('online'))`);
    await expectShown(page, [...missed, ...before]);
    watched.expectNoProblems(/ERR_(?:CONNECTION|INCOMPLETE|EMPTY|SOCKET)/);
    await watched.close();
  });
});

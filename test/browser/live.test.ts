import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { adminToken, TestApp } from '../support/app.ts';
import { TestBrowser, type WatchedPage } from '../support/browser.ts';
import { expectAtAllWidths, signedIn } from '../support/console.ts';
import { addPerson } from '../support/people.ts';
import { addInbox } from '../support/records.ts';
import { xssTexts } from '../support/xss.ts';

describe('the live tail of events in the console', function () {
  this.timeout(120_000);
  const browser = new TestBrowser();
  let app: TestApp;
  let watched: WatchedPage;
  let page: Page;

  before(async function () {
    await browser.start(this);
    app = await TestApp.start();
    watched = await signedIn(browser, app, adminToken, '/console/live');
    page = watched.page;
  });

  // What the test leaves on the screen looks no more for what is deleted behind it.
  afterEach(async () => {
    await page?.goto('about:blank');
    watched?.problems.splice(0);
  });
  after(async () => {
    await browser.close();
    await app?.stop();
  });

  const rows = () => page.locator('tbody tr');
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const shows = (count: number) => app.eventually(async () => (await rows().count()) === count);

  // The mark beside the person's name.
  const isLive = (on: Page) =>
    on
      .getByRole('status')
      .filter({ hasText: /^Live$/ })
      .waitFor();

  async function open(query = ''): Promise<void> {
    await page.goto(`${app.url}/console/live${query}`);
    await page.getByText('No events since you opened this page').waitFor();
    await isLive(page);
  }

  async function conversation(inbox?: number): Promise<number> {
    const { id: contact } = (await app.post('contacts', { name: 'Ada' })).body;
    const at = inbox ?? (await addInbox(app));
    return (await app.post('conversations', { inbox_id: at, contact_id: contact })).body.id;
  }

  const say = (id: number, content: string) =>
    app.post(`conversations/${id}/messages`, { content, message_type: 'incoming' });

  /** So many events at once, as if they had just been committed. */
  const happen = (count: number): Promise<unknown> =>
    app.query(
      `WITH happened AS (
         INSERT INTO events (account_id, name, account_payload)
         SELECT 1, 'contact_created', json_build_object('name', 'Contact ' || g) FROM generate_series(1, $1) g RETURNING id)
       INSERT INTO unplaced_events (event_id, account_id) SELECT id, 1 FROM happened`,
      [count],
    );

  it('shows events as they happen, newest first, and unfolds what they carry', async () => {
    await open();
    await expectAtAllWidths(watched);
    const id = await conversation();
    await say(id, 'Where is my order?');
    const row = rows()
      .filter({ hasText: /message_created.*Where is my order/ })
      .first();
    await row.waitFor();
    expect(await rows().first().textContent()).to.not.include('contact_created');
    await row.locator('summary').focus();
    await page.keyboard.press('Enter');
    const payload = row.getByLabel('Payload of message_created', { exact: true });
    expect(JSON.parse((await payload.textContent()) ?? '')).to.include({ content: 'Where is my order?' });
    expect(await row.getByRole('link', { name: String(id) }).getAttribute('href')).to.equal(
      `/console/conversations/${id}`,
    );
    await expectAtAllWidths(watched);
    watched.expectNoProblems();
  });

  it('keeps events of a pause, counts them, and shows them afterwards', async () => {
    await open();
    await happen(1);
    await shows(1);
    await button('Pause').click();
    await happen(2);
    await page.getByText('Paused: 2 new events.').waitFor();
    expect(await rows().count()).to.equal(1);
    await expectAtAllWidths(watched);
    await button('Resume').click();
    await shows(3);
    expect(await page.getByText('Paused').count()).to.equal(0);
    await happen(1);
    await shows(4);
    await button('Clear').click();
    await page.getByText('No events since').waitFor();
    watched.expectNoProblems();
  });

  it('keeps and shows no more than its bounds, and says how many it dropped', async () => {
    await open();
    await happen(230);
    // They are shown some at a time.
    await app.eventually(async () => (await rows().first().textContent())?.includes('Contact 230'));
    expect(await rows().count()).to.equal(200);
    await button('Pause').click();
    await happen(1_100);
    await page.getByText('Paused: 1000 new events. 100 older events were dropped.').waitFor();
    await button('Resume').click();
    await app.eventually(async () => (await rows().first().textContent())?.includes('Contact 1100'));
    expect(await rows().count()).to.equal(200);
    watched.expectNoProblems();
  });

  it('leaves out what is not wanted, by type and conversation, and keeps the filter in the address', async () => {
    const [mine, other] = [await conversation(), await conversation()];
    await open();
    await page.getByLabel('Event', { exact: true }).selectOption('message_created');
    await page.getByLabel('Conversation', { exact: true }).fill(String(mine));
    await page.getByLabel('Conversation', { exact: true }).press('Enter');
    await page.waitForURL(/type=message_created&conversation_id=/);
    await say(mine, 'first');
    await say(other, 'of another conversation');
    await app.patch(`conversations/${mine}`, { priority: 'high' });
    await say(mine, 'last');
    await rows().filter({ hasText: 'last' }).waitFor();
    expect(await rows().count()).to.equal(2);
    // A stream of others does not push them out.
    await happen(250);
    await say(mine, 'after many');
    await rows().filter({ hasText: 'after many' }).waitFor();
    expect(await rows().count()).to.equal(3);
    await page.reload();
    await page.getByText('No events since').waitFor();
    expect(await page.getByLabel('Event', { exact: true }).inputValue()).to.equal('message_created');
    expect(await page.getByLabel('Conversation', { exact: true }).inputValue()).to.equal(String(mine));
    watched.expectNoProblems();
  });

  it('shows agents the events of conversations that they see, and executes nothing of what strangers write', async () => {
    const agent = await addPerson(app, { name: 'Agent' });
    const seen = await conversation(await addInbox(app, { members: [agent] }));
    const foreign = await conversation(await addInbox(app));
    const own = await signedIn(browser, app, agent.headers.api_access_token, '/console/live');
    await isLive(own.page);
    await say(foreign, 'a secret');
    for (const text of xssTexts) await say(seen, text);
    const found = own.page.locator('tbody tr').filter({ hasText: 'message_created' });
    await app.eventually(async () => (await found.count()) >= xssTexts.length);
    expect(await own.page.getByText('a secret').count()).to.equal(0);
    for (const summary of await own.page.locator('summary').all()) await summary.click();
    expect(await own.page.locator('tbody img, tbody script, tbody iframe, tbody style').count()).to.equal(0);
    await expectAtAllWidths(own);
    own.expectNoProblems();
    await own.close();
  });
});

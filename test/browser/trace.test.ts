import { expect } from 'chai';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Page } from 'playwright-core';
import { deleteOldEvents } from '../../src/domain/upkeep/retention.ts';
import { adminToken, TestApp } from '../support/app.ts';
import { TestBrowser, type WatchedPage } from '../support/browser.ts';
import { failFirst, Receiver } from '../support/receiver.ts';

const traceReads = /\/api\/v1\/accounts\/1\/deliveries\?conversation_id=/;

describe('the trace beside a chat', function () {
  this.timeout(120_000);
  const browser = new TestBrowser();
  let app: TestApp;
  let receiver: Receiver;
  let inbox: { id: number; identifier: string };
  let watched: WatchedPage;
  let page: Page;
  let reads: number[] = [];

  before(async function () {
    await browser.start(this);
    app = await TestApp.start({ config: { widgetSessionsPerMinute: 0 } });
    receiver = await Receiver.start();
    inbox = (await app.post('inboxes', { name: 'The shop', channel_type: 'Channel::WebWidget' })).body;
    await app.post('webhooks', { url: receiver.url, subscriptions: ['message_created'] });
  });

  beforeEach(async () => {
    receiver.answerWith((_, response) => response.end());
    watched = await browser.open();
    ({ page } = watched);
    await page.goto(`${app.url}/chat/${inbox.identifier}`);
    await signIn();
    reads = [];
    page.on('request', (request) => {
      if (traceReads.test(request.url())) reads.push(Date.now());
    });
  });

  afterEach(() => watched.close());

  after(async () => {
    await browser.close();
    await app?.stop();
    await receiver?.close();
  });

  async function signIn(): Promise<void> {
    await page.evaluate(async (accessToken) => {
      const headers = { 'content-type': 'application/json' };
      await fetch('/sign_in', { method: 'POST', headers, body: JSON.stringify({ access_token: accessToken }) });
    }, adminToken);
    await page.reload();
    await behind().waitFor();
  }

  const behind = () => page.getByRole('region', { name: 'Behind the chat' });
  const told = (text: RegExp) => behind().getByText(text).first().waitFor();
  async function say(text: string): Promise<void> {
    await page.getByRole('textbox', { name: 'Message' }).fill(text);
    await page.getByRole('button', { name: 'Send', exact: true }).click();
    await page.getByText('Sending…').waitFor({ state: 'detached' });
  }
  async function conversationId(): Promise<number> {
    const { payload } = (await app.get(`conversations?inbox_id=${inbox.id}&sort=created_at`)).body.data;
    return payload[0].id;
  }
  /** Fails what is sent for the first time; the next attempt is due after so many seconds. */
  const failFor = (seconds: number) => receiver.answerWith(failFirst(seconds));
  /** How often the trace is read within some seconds. */
  async function readsWithin(seconds: number): Promise<number> {
    const before = reads.length;
    await sleep(seconds * 1000);
    return reads.length - before;
  }
  const setHidden = (isHidden: boolean) =>
    page.evaluate((hidden) => {
      const { document, Event } = globalThis as unknown as {
        document: EventTarget;
        Event: new (name: string) => Event;
      };
      Object.defineProperty(document, 'hidden', { configurable: true, value: hidden });
      document.dispatchEvent(new Event('visibilitychange'));
    }, isHidden);

  it('looks for an attempt when it is due, not all the time until then', async () => {
    failFor(15);
    await say('Is anybody there?');
    await told(/Attempt 1 at .*: 500/);
    await told(/failing, next attempt at/);
    expect(await readsWithin(4)).to.be.at.most(1);
    await told(/Attempt 2 at .*: 200/);
    expect(await readsWithin(3)).to.be.at.most(1);
    watched.expectNoProblems();
  });

  it('rests while nobody looks at the page, and shows what has happened when somebody does', async () => {
    await say('First');
    await told(/Attempt 1 at .*: 200/);
    await setHidden(true);
    const id = await conversationId();
    await app.post(`conversations/${id}/messages`, { content: 'From afar', message_type: 'outgoing' });
    expect(await readsWithin(3)).to.equal(0);
    await setHidden(false);
    await told(/message created, outgoing: From afar/);
    watched.expectNoProblems();
  });

  it('ends with a sentence when its conversation is deleted', async () => {
    failFor(3600);
    await say('Soon gone');
    await told(/failing, next attempt at/);
    expect((await app.delete(`conversations/${await conversationId()}`)).status).to.equal(200);
    await behind()
      .getByRole('alert')
      .filter({ hasText: /^Conversation not found.*not followed any more/ })
      .waitFor();
    expect(await readsWithin(4)).to.equal(0);
  });

  it('ends with a sentence when its reader is signed out', async () => {
    failFor(15);
    await say('Who is there?');
    await told(/failing, next attempt at/);
    await page.evaluate(async () => (await fetch('/sign_in', { method: 'DELETE' })).status);
    await behind().getByRole('alert').filter({ hasText: 'not followed any more' }).waitFor();
    expect(await readsWithin(4)).to.equal(0);
  });

  it('begins anew where the feed is not kept as far back as it has read', async () => {
    await say('Long ago');
    await told(/Attempt 1 at .*: 200/);
    // It reads no further while nobody looks.
    await setHidden(true);
    await app.eventually(async () => (await readsWithin(1)) === 0);
    for (const name of ['Ada', 'Bob']) await app.post('contacts', { name });
    await app.eventually(async () => {
      const { payload } = (await app.get('events?types=contact_created&limit=500')).body;
      return payload.at(-1)?.payload.name === 'Bob';
    });
    await app.query(`UPDATE events SET created_at = now() - interval '31 days'`);
    await deleteOldEvents(app.app.database, 30);
    const refused = page.waitForResponse((response) => response.status() === 410);
    await setHidden(false);
    await say('Today');
    expect((await refused).url()).to.include(`/events?conversation_id=${await conversationId()}&`);
    await told(/message created, incoming: Today/);
    expect(await behind().getByRole('alert').count()).to.equal(0);
    // What was delivered a moment ago is still kept.
    for (const text of ['Long ago', 'Today'])
      expect(await behind().getByText(`message created, incoming: ${text}`).count(), text).to.equal(1);
    watched.expectNoProblems(/410/);
  });

  it('asks at growing distances while the service fails, and goes on by itself', async () => {
    await say('Before');
    await told(/Attempt 1 at .*: 200/);
    await page.route(traceReads, (route) => route.fulfill({ status: 500, json: { error: 'It is broken', code: 'x' } }));
    await say('During');
    await behind().getByRole('alert').filter({ hasText: 'It is broken' }).waitFor();
    expect(await readsWithin(8)).to.be.within(1, 4);
    await page.unroute(traceReads);
    await told(/message created, incoming: During/);
    await behind().getByRole('alert').waitFor({ state: 'detached' });
  });
});

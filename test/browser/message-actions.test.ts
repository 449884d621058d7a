import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { adminToken, TestApp } from '../support/app.ts';
import { TestBrowser, type WatchedPage } from '../support/browser.ts';
import { expectAtAllWidths, signedIn } from '../support/console.ts';
import { Customers } from '../support/conversing.ts';
import { noise, png } from '../support/files.ts';
import { addPerson, type User } from '../support/people.ts';
import { xssTexts } from '../support/xss.ts';

const attack = xssTexts[1]!;
const picture = { name: 'photo.png', mimeType: 'image/png', buffer: png(40, 30) };
const note = { name: 'how to.txt', mimeType: 'text/plain', buffer: Buffer.from('Turn it') };

// In the page: the service takes what is sent, and the page hears nothing of its answer.
const loseAnswers = `{
  const { prototype } = XMLHttpRequest;
  const listen = prototype.addEventListener;
  prototype.addEventListener = function (name, heard) {
    listen.call(this, name === 'load' ? 'never' : name === 'error' ? 'load' : name, heard);
  };
}`;
const loseNothing = 'delete XMLHttpRequest.prototype.addEventListener';

describe('messages in the console', function () {
  this.timeout(120_000);
  const browser = new TestBrowser();
  let app: TestApp;
  let customers: Customers;
  let inbox: number;
  let agent: User;
  let watched: WatchedPage;
  let page: Page;

  before(async function () {
    await browser.start(this);
    app = await TestApp.start();
    customers = new Customers(app);
    inbox = await customers.inbox('Plain');
    agent = await addPerson(app, { name: 'Grace' });
    await app.post(`inboxes/${inbox}/members`, { user_ids: [agent.id] });
    watched = await signedIn(browser, app, adminToken);
    page = watched.page;
  });

  beforeEach(() => watched.problems.splice(0));

  after(async () => {
    await browser.close();
    await app?.stop();
  });

  const open = async (id: number, on = page): Promise<void> => {
    await on.goto(`${app.url}/console/conversations/${id}`);
    await on.getByRole('textbox', { name: 'Reply' }).waitFor();
    await on.locator('[aria-label="Loading messages"]').waitFor({ state: 'detached' });
  };
  const said = (text: string, on = page) =>
    on.getByRole('log', { name: 'Messages' }).locator('.said').filter({ hasText: text });
  const button = (name: string, on = page) => on.getByRole('button', { name, exact: true });
  const messages = async (id: number) => (await app.get(`conversations/${id}/messages`)).body.payload;
  async function slowDown(uploadThroughput: number): Promise<void> {
    const session = await page.context().newCDPSession(page);
    const conditions = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput };
    await session.send('Network.emulateNetworkConditions', conditions);
  }
  const says = async (id: number, content: string, headers?: Record<string, string>): Promise<number> =>
    (await app.post(`conversations/${id}/messages`, { content, message_type: 'outgoing' }, headers)).body.id;

  it('are edited and deleted by an administrator, whoever wrote them', async () => {
    const id = await customers.writes(inbox, 'Ada', 'A word too many');
    const own = await says(id, 'We open at nihgt');
    const theirs = await says(id, 'And on Sundays', agent.headers);
    await app.events();
    await open(id);
    await button(`Edit message ${own}`).click();
    await page.getByLabel('Text').fill(' ');
    await button('Save').click();
    await page.getByRole('dialog').getByRole('alert').waitFor();
    await page.getByLabel('Text').fill(`We open at nine ${attack}`);
    await button('Save').click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await said(`We open at nine ${attack}`).waitFor();
    await button(`Edit message ${theirs}`).click();
    await page.getByLabel('Text').fill('Not on Sundays');
    await page.getByRole('dialog').getByRole('button', { name: 'Save' }).press('Enter');
    await said('Not on Sundays').waitFor();
    await button(`Delete message ${theirs}`).click();
    await button('No').click();
    await said('Not on Sundays').waitFor();
    await button(`Delete message ${theirs}`).click();
    await button('Yes').click();
    await said('Message deleted').waitFor();
    expect(await button(`Edit message ${theirs}`).count()).to.equal(0);
    expect(await button(`Delete message ${theirs}`).count()).to.equal(0);
    expect((await messages(id)).map(({ content }: { content: string }) => content)).to.deep.equal([
      'A word too many',
      `We open at nine ${attack}`,
      '',
    ]);
    const events = (await app.eventNames()).filter((name) => name.startsWith('message_'));
    expect(events).to.deep.equal(['message_updated', 'message_updated', 'message_updated', 'message_deleted']);
    await expectAtAllWidths(watched);
    watched.expectNoProblems(/status of 422/);
  });

  it('are edited by agents where they wrote them, and the sentence of a refusal is shown', async () => {
    const id = await customers.writes(inbox, 'Bert', 'Hello');
    const own = await says(id, 'Good mornign', agent.headers);
    const other = await says(id, 'Of the administrator');
    const mine = await signedIn(browser, app, agent.headers.api_access_token, `/console/conversations/${id}`);
    await said('Of the administrator', mine.page).waitFor();
    expect(await button(`Edit message ${other}`, mine.page).count()).to.equal(0);
    await button(`Edit message ${own}`, mine.page).click();
    await mine.page.getByLabel('Text').fill('Good morning');
    // Meanwhile somebody else deletes it.
    await app.delete(`conversations/${id}/messages/${own}`);
    const dialog = mine.page.getByRole('dialog', { name: 'Edit message' });
    await dialog.getByRole('alert').filter({ hasText: 'The message was deleted in the meantime' }).waitFor();
    await button('Save', mine.page).click();
    await mine.page.getByRole('alert').filter({ hasText: 'A deleted message cannot be edited' }).waitFor();
    expect(await mine.page.getByLabel('Text').inputValue()).to.equal('Good morning');
    await button('Close', mine.page).click();
    await button('Discard', mine.page).click();
    await dialog.waitFor({ state: 'detached' });
    expect(await button(`Edit message ${own}`, mine.page).count()).to.equal(0);
    mine.expectNoProblems(/status of 4(?:12|22)/);
    await mine.close();
  });

  it('are not overwritten where somebody else has changed them: that is shown, and the own text kept', async () => {
    const id = await customers.writes(inbox, 'Dan', 'Hello');
    const theirs = await says(id, 'We open at nihgt', agent.headers);
    const path = `conversations/${id}/messages/${theirs}`;
    await open(id);
    await button(`Edit message ${theirs}`).click();
    await page.getByLabel('Text').fill('We open at nine');
    expect((await app.patch(path, { content: `We open at ten ${attack}` }, agent.headers)).status).to.equal(200);
    await app.events();
    await button('Save').click();
    await page.getByRole('alert').filter({ hasText: 'Not saved: someone else changed the message' }).waitFor();
    await page.getByRole('group', { name: 'Current version' }).getByText(`We open at ten ${attack}`).waitFor();
    expect(await page.getByLabel('Text').inputValue()).to.equal('We open at nine');
    expect((await app.get(path)).body.content).to.equal(`We open at ten ${attack}`);
    expect(await app.eventNames()).to.deep.equal([]);
    await watched.expectAccessible();
    // That the customer has read it is no change of its text.
    expect((await app.patch(path, { status: 'read' })).status).to.equal(200);
    await button('Save').click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await said('We open at nine').waitFor();
    expect((await app.get(path)).body).to.include({ content: 'We open at nine', status: 'read' });
    expect(await app.eventNames()).to.deep.equal(['message_updated', 'message_updated']);
    watched.expectNoProblems(/status of 412/);
  });

  it('are edited behind a proxy that writes other tags, too', async () => {
    const id = await customers.writes(inbox, 'Ed', 'Hello');
    const own = await says(id, 'We open at nihgt');
    await open(id);
    await page.route(`**/messages/${own}`, async (route) => {
      if (route.request().method() !== 'GET') return route.continue();
      const response = await route.fetch();
      return route.fulfill({ response, headers: { ...response.headers(), etag: 'W/"of-the-proxy"' } });
    });
    await button(`Edit message ${own}`).click();
    await page.getByLabel('Text').fill('We open at nine');
    await button('Save').click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.unrouteAll();
    await said('We open at nine').waitFor();
    expect((await app.get(`conversations/${id}/messages/${own}`)).body.content).to.equal('We open at nine');
    watched.expectNoProblems(/status of 412/);
  });

  it('go out with files, to the customer or to the team, and what is refused says why and is kept', async () => {
    const id = await customers.writes(inbox, 'Cleo', 'How do I mount it?');
    await open(id);
    await page.getByLabel('Files', { exact: true }).setInputFiles([picture, note]);
    await button('Remove how to.txt').click();
    await page.getByLabel('Files', { exact: true }).setInputFiles([note]);
    await page.getByRole('textbox', { name: 'Reply' }).fill('Like this');
    await expectAtAllWidths(watched);
    await button('Send').click();
    await said('Like this').getByText('how to.txt').waitFor();
    await page.getByRole('list', { name: 'Files to send' }).waitFor({ state: 'detached' });
    expect(await page.getByRole('textbox', { name: 'Reply' }).inputValue()).to.equal('');
    await button('Note').click();
    await page.getByLabel('Files', { exact: true }).setInputFiles([note]);
    await button('Send').click();
    await said('how to.txt').filter({ hasText: 'private' }).waitFor();
    await button('Reply').click();
    await page.getByRole('textbox', { name: 'Reply' }).fill('And this');
    await page.getByLabel('Files', { exact: true }).setInputFiles([{ ...picture, buffer: Buffer.from('<svg>') }]);
    await button('Send').click();
    await page.getByRole('alert').filter({ hasText: 'The content of photo.png is not what its name says' }).waitFor();
    expect(await page.getByRole('textbox', { name: 'Reply' }).inputValue()).to.equal('And this');
    await button('Remove photo.png').click();
    await button('Send').click();
    await said('And this').waitFor();
    const sent = (await messages(id)).slice(1);
    expect(sent.map((one: { content: string; private: boolean }) => [one.content, one.private])).to.deep.equal([
      ['Like this', false],
      ['', true],
      ['And this', false],
    ]);
    const names = sent.map(({ attachments }: { attachments: { file_name: string }[] }) =>
      attachments.map(({ file_name: name }) => name),
    );
    expect(names).to.deep.equal([['photo.png', 'how to.txt'], ['how to.txt'], []]);
    watched.expectNoProblems(/status of 422/);
  });

  it("that are not sent yet wait while somebody looks elsewhere or is signed out, and are nobody else's", async () => {
    const id = await customers.writes(inbox, 'Eve', 'Hello');
    const other = await customers.writes(inbox, 'Fay', 'Hello');
    const own = await signedIn(browser, app, agent.headers.api_access_token, `/console/conversations/${id}`);
    const to = async (name: string): Promise<void> => {
      await own.page.getByRole('navigation').getByRole('link', { name: 'Conversations' }).click();
      await own.page.getByRole('link', { name, exact: true }).click();
      await own.page.getByRole('heading', { level: 1, name }).waitFor();
    };
    /** Nothing is on its way any more that would be refused to somebody who signs out. */
    const settled = async (): Promise<void> => {
      await app.eventually(async () => (await app.get(`conversations/${other}`)).body.unread_count === 0);
      const waiting = own.page.locator('.waiting, [aria-busy=true]').or(own.page.getByText('Loading…'));
      await app.eventually(async () => (await waiting.count()) === 0);
    };
    await own.page.getByRole('button', { name: 'Note', exact: true }).click();
    await own.page.getByRole('textbox', { name: 'Note' }).fill('She is angry');
    await own.page.getByLabel('Files', { exact: true }).setInputFiles([note]);
    await to('Fay');
    expect(await own.page.getByRole('textbox', { name: 'Reply' }).inputValue()).to.equal('');
    await to('Eve');
    expect(await own.page.getByRole('textbox', { name: 'Note' }).inputValue()).to.equal('She is angry');
    await button('Send', own.page).click();
    await said('She is angry', own.page).filter({ hasText: 'how to.txt' }).waitFor();
    await to('Fay');
    await own.page.getByRole('textbox', { name: 'Reply' }).fill('For Fay');
    await to('Eve');
    expect(await own.page.getByRole('textbox', { name: 'Reply' }).inputValue()).to.equal('');
    await to('Fay');
    for (const [token, kept] of [
      [agent.headers.api_access_token, 'For Fay'],
      [adminToken, ''],
    ] as const) {
      await settled();
      await own.page.getByRole('button', { name: 'Sign out', exact: true }).click();
      await own.page.getByLabel('Access token').fill(token);
      await own.page.getByRole('button', { name: 'Sign in' }).click();
      await to('Fay');
      expect(await own.page.getByRole('textbox', { name: 'Reply' }).inputValue()).to.equal(kept);
    }
    expect(await messages(other)).to.have.length(1);
    own.expectNoProblems();
    await own.close();
  });

  it('go out once though no answer came, and show how far their files are', async () => {
    const id = await customers.writes(inbox, 'Dora', 'Hello');
    await open(id);
    await page
      .getByLabel('Files', { exact: true })
      .setInputFiles([{ ...note, name: 'long.txt', buffer: noise(3_000_000) }]);
    await page.getByRole('textbox', { name: 'Reply' }).fill('Read this');
    await slowDown(1_000_000);
    await button('Send').click();
    await page.getByText(/Uploading \(KB\): \d+ of \d+/).waitFor();
    await watched.expectAccessible();
    await button('Cancel').click();
    await page.getByRole('alert').filter({ hasText: 'The upload was cancelled.' }).waitFor();
    expect(await messages(id)).to.have.length(1);
    await slowDown(-1);
    await page.evaluate(loseAnswers);
    await button('Send').click();
    await page.getByRole('alert').filter({ hasText: 'The service is not responding' }).waitFor();
    expect(await messages(id)).to.have.length(2);
    await page.evaluate(loseNothing);
    await button('Send').click();
    await page.getByRole('list', { name: 'Files to send' }).waitFor({ state: 'detached' });
    expect(await messages(id)).to.have.length(2);
    watched.expectNoProblems();
  });
});

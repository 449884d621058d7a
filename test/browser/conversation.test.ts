import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { adminToken, TestApp } from '../support/app.ts';
import { TestBrowser, type WatchedPage } from '../support/browser.ts';
import { signedIn, widths } from '../support/console.ts';
import { Customers } from '../support/conversing.ts';
import { HeldAnswers } from '../support/held-answers.ts';
import { addPerson, type User } from '../support/people.ts';
import { failFirst, Receiver } from '../support/receiver.ts';
import { xssTexts } from '../support/xss.ts';

const question = 'What are your opening hours?';

describe('a conversation in the console', function () {
  this.timeout(120_000);
  const browser = new TestBrowser();
  let app: TestApp;
  let customers: Customers;
  let receiver: Receiver;
  let watched: WatchedPage;
  let page: Page;
  let served: number;
  let plain: number;
  let agent: User;

  before(async function () {
    await browser.start(this);
    app = await TestApp.start();
    customers = new Customers(app);
    receiver = await Receiver.start();
    const faq = (await app.post('agent_bots', { name: 'Faq', kind: 'plugin', plugin_id: 'faq' })).body.id;
    await app.post('agent_bots', { name: 'Second', kind: 'plugin', plugin_id: 'faq' });
    served = await customers.inbox('Served', faq);
    plain = await customers.inbox('Plain');
    agent = await addPerson(app, { name: 'Grace' });
    await app.post(`inboxes/${served}/members`, { user_ids: [agent.id] });
    await app.post('webhooks', { url: receiver.url, subscriptions: ['message_created'] });
    watched = await signedIn(browser, app, adminToken);
    page = watched.page;
  });

  beforeEach(() => {
    watched.problems.length = 0;
  });

  after(async () => {
    await browser.close();
    await app?.stop();
    await receiver?.close();
  });

  const open = async (id: number, name: string): Promise<void> => {
    await page.goto(`${app.url}/console/conversations/${id}`);
    await page.getByRole('heading', { level: 1, name }).waitFor();
    await page.locator('[aria-label="Loading messages"]').waitFor({ state: 'detached' });
  };
  const log = () => page.getByRole('log', { name: 'Messages' });
  const said = (text: string) => log().locator('.said').filter({ hasText: text });
  const lane = (message: number) => page.getByRole('group', { name: `Trace of message ${message}`, exact: true });
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const press = (name: string) => button(name).click();
  const answering = (text: string) => page.getByRole('status').filter({ hasText: text }).waitFor();
  const record = async (id: number) => (await app.get(`conversations/${id}`)).body;
  const messages = async (id: number) => (await app.get(`conversations/${id}/messages`)).body.payload;

  it('shows what is said as it is said, and beside it which bot was called and why, its run, and who was told', async () => {
    const id = await customers.writes(served, 'Ada', question);
    await open(id, 'Ada');
    const first = (await messages(id))[0].id;
    await lane(first).getByText('Faq called (bot of the inbox).').waitFor();
    await said('We are here Monday to Friday').waitFor();
    await lane(first).getByText('reply: We are here').waitFor();
    const [run] = (await app.get(`conversations/${id}/runs`)).body.payload;
    const link = lane(first).getByRole('link', { name: `Run ${run.id}` });
    expect(await link.getAttribute('href')).to.equal(`/console/runs/${run.id}`);
    await lane(first).getByText('Attempt 1: 200').waitFor();
    const told = await lane(first).getByRole('link', { name: 'Webhook' }).getAttribute('href');
    const { body: delivery } = await app.get(`deliveries/${told?.split('/').at(-1)}`);
    expect(delivery).to.include({ event: 'message_created', conversation_id: id, state: 'delivered' });
    await answering('Faq answers (bot of the inbox).');
    const second = await customers.says(id, 'I want to speak to a human');
    await lane(second).getByText('handoff: ').waitFor();
    await answering('Faq is paused: handed off to an agent.');
    await page.getByText('Handed off: requested by the bot').waitFor();
    const third = await customers.says(id, 'Hello?');
    await lane(third).getByText('Faq not called: handed off to an agent.').waitFor();
    receiver.answerWith(failFirst());
    const fourth = await customers.says(id, 'Anybody?');
    await lane(fourth).getByText('Attempt 1: 500').waitFor();
    await lane(fourth)
      .getByText(/failing, again/)
      .waitFor();
    receiver.answerWith((_, response) => response.end());
    await lane(fourth).getByText('Attempt 2: 200').waitFor();
    await app.eventually(async () => (await record(id)).unread_count === 0);
    const other = await customers.writes(plain, 'Bert', 'Hello');
    await open(other, 'Bert');
    await lane((await messages(other))[0].id)
      .getByText('No bot called')
      .waitFor();
    await answering('No bot: agents answer.');
    watched.expectNoProblems();
  });

  it('takes over and gives back: its bot falls silent, and answers again', async () => {
    const id = await customers.writes(served, 'Bob', question);
    await open(id, 'Bob');
    await said('We are here').waitFor();
    await press('Take over');
    await answering('Faq is paused: an agent is assigned.');
    await page.getByText('Assigned to Administrator').waitFor();
    expect(await button('Take over').isDisabled()).to.equal(true);
    const next = await customers.says(id, question);
    await lane(next).getByText('Faq not called: an agent is assigned.').waitFor();
    await press('Resume bot');
    await answering('Faq answers (bot of the inbox).');
    expect(await record(id)).to.deep.include({ status: 'pending' });
    const last = await customers.says(id, question);
    await lane(last).getByText('Faq called').waitFor();
    await said('We are here').nth(1).waitFor();
    watched.expectNoProblems();
  });

  it('gives back what somebody has just taken, though the page is not told yet who', async () => {
    const id = await customers.writes(served, 'Bea', question);
    await open(id, 'Bea');
    await answering('Faq answers (bot of the inbox).');
    const held = new HeldAnswers();
    await page.route(`**/api/v1/accounts/1/conversations/${id}`, held.hold);
    await app.post(`conversations/${id}/assignments`, { assignee_id: agent.id });
    await answering('Faq is paused: an agent is assigned.');
    expect(await page.getByText('Assigned to Grace').count()).to.equal(0);
    await press('Resume bot');
    await answering('Faq answers (bot of the inbox).');
    expect((await record(id)).meta.assignee).to.equal(null);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    held.release();
    watched.expectNoProblems();
  });

  it('lets another bot serve the conversation, and the one of the inbox again', async () => {
    const id = await customers.writes(served, 'Cleo', question);
    await open(id, 'Cleo');
    await page.getByLabel('Bot for this conversation').selectOption('Second');
    await answering('Second answers (bot of the conversation).');
    const next = await customers.says(id, question);
    await lane(next).getByText('Second called (bot of the conversation).').waitFor();
    await page.getByLabel('Bot for this conversation').selectOption('Bot of the inbox');
    await answering('Faq answers (bot of the inbox).');
    expect((await app.get(`conversations/${id}/agent_bot`)).body.chosen_by).to.equal('inbox');
    watched.expectNoProblems();
  });

  it('sends replies and notes, by keyboard too, and once though no answer came', async () => {
    const id = await customers.writes(plain, 'Dora', 'Hello');
    await open(id, 'Dora');
    await press('Send');
    await page.getByRole('alert').waitFor();
    await page.getByRole('textbox', { name: 'Reply' }).fill('Good morning');
    await press('Send');
    await said('Good morning').waitFor();
    // The stream of events may tell of it before the answer.
    await app.eventually(async () => (await page.getByRole('textbox', { name: 'Reply' }).inputValue()) === '');
    await press('Note');
    await page.getByRole('textbox', { name: 'Note' }).fill('She called yesterday');
    await page.keyboard.press('Control+Enter');
    await said('She called yesterday').filter({ hasText: 'private' }).waitFor();
    await press('Reply');
    await page.getByRole('textbox', { name: 'Reply' }).fill('It is on its way');
    // The service takes it, and its answer is lost.
    await page.route('**/messages', async (route) => {
      await route.fetch();
      await route.abort();
    });
    await press('Send');
    await page.getByRole('alert').filter({ hasText: 'The service is not responding' }).waitFor();
    expect(await page.getByRole('textbox', { name: 'Reply' }).inputValue()).to.equal('It is on its way');
    await page.unroute('**/messages');
    await press('Send');
    await app.eventually(async () => (await page.getByRole('textbox', { name: 'Reply' }).inputValue()) === '');
    await said('It is on its way').first().waitFor();
    expect(await said('It is on its way').count()).to.equal(1);
    // What is said twice on purpose is two messages.
    await page.getByRole('textbox', { name: 'Reply' }).fill('It is on its way');
    await press('Send');
    await said('It is on its way').nth(1).waitFor();
    const written = (await messages(id)).map((one: Record<string, unknown>) => [one['content'], one['private']]);
    expect(written).to.deep.equal([
      ['Hello', false],
      ['Good morning', false],
      ['She called yesterday', true],
      ['It is on its way', false],
      ['It is on its way', false],
    ]);
    watched.expectNoProblems(/status of 422|ERR_FAILED/);
  });

  it('assigns, labels, snoozes, resolves and reopens, with what the service says of mistakes', async () => {
    const staffed = await customers.inbox('Staffed');
    await app.post(`inboxes/${staffed}/members`, { user_ids: [agent.id] });
    // Bots have made some.
    for (const label of (await app.get('labels')).body.payload) await app.delete(`labels/${label.id}`);
    const id = await customers.writes(staffed, 'Emil', question);
    await open(id, 'Emil');
    await press('Labels');
    await page.getByRole('dialog').getByText('No labels yet').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await app.post('labels', { title: 'vip', color: '#aa0000' });
    await app.post('labels', { title: 'order' });
    const team = (await app.post('teams', { name: 'Parcels' })).body.id;
    await app.events();
    await press('Labels');
    await page.getByLabel('vip').check();
    await page.getByLabel('order').check();
    // Meanwhile a bot labels it.
    await app.post('labels', { title: 'bulk' });
    await app.post(`conversations/${id}/labels`, { labels: ['bulk'] });
    await page.getByText('bulk', { exact: true }).waitFor();
    await press('Save');
    await page.getByRole('group', { name: 'State' }).getByText('vip').waitFor();
    await press('Assign');
    await page.getByLabel('Agent').waitFor();
    // Meanwhile somebody else gives it to Grace.
    await app.post(`conversations/${id}/assignments`, { assignee_id: agent.id });
    await page.getByLabel('Team').selectOption('Parcels');
    await press('Save');
    await page.getByText('Team Parcels').waitFor();
    expect((await record(id)).meta).to.deep.include({
      assignee: { id: agent.id, name: 'Grace' },
      team: { id: team, name: 'Parcels' },
    });
    await press('Assign');
    await page.getByLabel('Agent').selectOption('Unassigned');
    await press('Save');
    await page.getByRole('group', { name: 'State' }).getByText('Unassigned').waitFor();
    await page.getByLabel('Priority').selectOption('high');
    await page.getByText('high priority').waitFor();
    await press('Snooze');
    await page.getByLabel('Snooze until').selectOption('Date and time');
    await press('Save');
    await page.getByRole('dialog').getByRole('alert').waitFor();
    await page.getByLabel('Date and time').fill('2020-01-01T10:00');
    await press('Save');
    await page.getByRole('dialog').getByRole('alert').filter({ hasText: 'future' }).waitFor();
    await page.getByLabel('Snooze until').selectOption('1 hour');
    await press('Save');
    await page.getByRole('group', { name: 'State' }).getByText('Snoozed').waitFor();
    const { snoozed_until: until } = await record(id);
    expect(until - Date.now() / 1000).to.be.within(3_500, 3_610);
    await press('Reopen');
    await page.getByRole('group', { name: 'State' }).getByText('Open').waitFor();
    await press('Resolve');
    await page.getByRole('group', { name: 'State' }).getByText('Resolved').waitFor();
    await press('Reopen');
    await button('Resolve').waitFor();
    expect(await record(id)).to.deep.include({ status: 'open', labels: ['bulk', 'order', 'vip'], priority: 'high' });
    const names = (await app.events()).filter((event) => event.conversation_id === id).map(({ name }) => name);
    expect(names.filter((name) => name === 'conversation_status_changed')).to.have.length(4);
    await page.getByRole('heading', { name: 'Activity' }).waitFor();
    await page.locator('summary').click();
    await page.getByText('conversation status changed: resolved').waitFor();
    watched.expectNoProblems(/status of 422/);
  });

  it('goes back to the first message, and to what came of it, and shows what is deleted', async () => {
    const id = await customers.writes(served, 'Fiona', question);
    const first = (await messages(id))[0].id;
    await app.eventually(async () => (await app.get(`conversations/${id}/runs`)).body.payload.length > 0);
    for (let count = 2; count <= 60; count += 1) await customers.says(id, `Word ${count} of it`);
    await open(id, 'Fiona');
    while ((await button('Earlier messages').count()) > 0) {
      await press('Earlier messages');
      await page.locator('button[aria-busy=true]').waitFor({ state: 'detached' });
    }
    const customersWords = await log().locator('.said.in .text').allTextContents();
    expect(customersWords).to.deep.equal([question, ...Array.from({ length: 59 }, (_, at) => `Word ${at + 2} of it`)]);
    await lane(first).getByRole('button', { name: 'Load all results' }).click();
    await lane(first).getByText('reply: We are here').waitFor();
    await lane(first).getByText('Attempt 1: 200').waitFor();
    expect(
      await lane(first)
        .getByRole('link', { name: /Run \d/ })
        .count(),
    ).to.equal(1);
    await app.delete(`conversations/${id}/messages/${first}`);
    await said('Message deleted').waitFor();
    await said(question).waitFor({ state: 'detached' });
    await page.context().setOffline(true);
    await customers.says(id, 'Said while nobody heard');
    await page.context().setOffline(false);
    await said('Said while nobody heard').waitFor();
    watched.expectNoProblems(/ERR_INTERNET_DISCONNECTED|ERR_NETWORK/);
  });

  it('is for agents what agents may see and do, and says what is not there', async () => {
    const id = await customers.writes(served, 'Gustav', question);
    const hidden = await customers.writes(plain, 'Henry', question);
    const own = await signedIn(browser, app, agent.headers.api_access_token, `/console/conversations/${id}`);
    const first = (await messages(id))[0].id;
    const its = own.page.getByRole('group', { name: `Trace of message ${first}` });
    await its.getByText('reply: We are here').waitFor();
    expect(await its.getByRole('link', { name: 'Webhook' }).count()).to.equal(0);
    await own.page.getByRole('button', { name: 'Take over' }).click();
    await own.page.getByText('Assigned to Grace').waitFor();
    own.expectNoProblems();
    await own.page.goto(`${app.url}/console/conversations/${hidden}`);
    await own.page.getByRole('alert').filter({ hasText: 'You may not see this conversation' }).waitFor();
    own.expectNoProblems(/status of 403/);
    await own.close();
    await page.goto(`${app.url}/console/conversations/nonsense`);
    await page.getByRole('alert').waitFor();
    watched.expectNoProblems(/status of 4|ERR_INTERNET_DISCONNECTED|ERR_NETWORK/);
  });

  it('shows choices and cards, and which one the customer has chosen', async () => {
    const { body: inbox } = await app.post('inboxes', { name: 'Site', channel_type: 'Channel::WebWidget' });
    const base = `/public/api/v1/inboxes/${inbox.identifier}`;
    const { body: session } = await app.call('POST', `${base}/sessions`, { name: 'Carla' }, { api_access_token: '' });
    const headers = { api_access_token: '', 'x-contact-token': session.contact_token };
    const answer = (body: object) => app.call('POST', `${base}/messages`, body, headers);
    const id = (await answer({ content: 'Hello' })).body.conversation_id;
    const write = (fields: object) => app.post(`conversations/${id}/messages`, { message_type: 'outgoing', ...fields });
    const items = [
      { title: 'The basic plan', value: 'basic' },
      { title: 'The pro plan', value: 'pro' },
    ];
    await write({ content: 'Which plan?', content_type: 'input_select', content_attributes: { items } });
    await answer({ content: 'The pro plan', content_attributes: { submitted_values: [{ value: 'pro' }] } });
    const actions = [
      { type: 'link', text: 'See it', uri: 'https://shop.example/lamp' },
      { type: 'postback', text: 'Order', payload: 'lamp' },
    ];
    const card = { title: 'Lamp', description: 'Bright', media_url: 'https://shop.example/lamp.png', actions };
    await write({ content: 'Our lamps', content_type: 'cards', content_attributes: { items: [card] } });
    await open(id, 'Carla');
    const choices = said('Which plan?').getByRole('listitem');
    expect(await choices.allTextContents()).to.deep.equal(['The basic plan', 'The pro plan chosen']);
    const cards = said('Our lamps').getByRole('list', { name: 'Cards' });
    const links = cards.getByRole('link');
    expect(await links.evaluateAll((all) => all.map((one) => [String(one), one.getAttribute('rel')]))).to.deep.equal([
      ['https://shop.example/lamp.png', 'noopener noreferrer nofollow'],
      ['https://shop.example/lamp', 'noopener noreferrer nofollow'],
    ]);
    expect(await cards.locator('img, button').count()).to.equal(0);
    await answer({ content: 'Order', content_attributes: { submitted_values: [{ value: 'lamp' }] } });
    await cards.getByText('Order chosen').waitFor();
    await watched.expectAccessible();
    watched.expectNoProblems(/conversations\/NaN/);
  });

  it('shows what anybody wrote as text, accessibly, on narrow and wide screens', async () => {
    const [attack = ''] = xssTexts;
    const attributes = Object.fromEntries(xssTexts.map((text, index) => [`fact ${index} ${text}`.slice(0, 60), text]));
    const bot = (await app.post('agent_bots', { name: attack, kind: 'plugin', plugin_id: 'faq' })).body.id;
    const inbox = await customers.inbox(attack, bot);
    const id = await customers.writes(inbox, attack, xssTexts.join('\n'), { custom_attributes: attributes });
    const base = `conversations/${id}/messages`;
    for (const text of xssTexts) {
      await app.post(base, { content: text, message_type: 'outgoing', private: true });
      const items = [{ title: text, value: text }];
      const choice = { content: text, content_type: 'input_select', content_attributes: { items } };
      await app.post(base, { ...choice, message_type: 'outgoing' });
    }
    const team = (await app.post('teams', { name: attack })).body.id;
    const { id: assignee } = await addPerson(app, { name: attack, role: 'administrator' });
    await app.post(`conversations/${id}/assignments`, { team_id: team, assignee_id: assignee });
    await open(id, attack);
    await log()
      .getByText(xssTexts.at(-1) ?? '')
      .first()
      .waitFor();
    await page.getByText(`Assigned to ${attack}`).waitFor();
    for (const width of widths) {
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 900 });
        await watched.expectAccessible();
        expect(await page.getByRole('heading', { level: 1 }).count()).to.equal(1);
        expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), `${width}`).to.be.at.most(0);
      }
    }
    await press('Assign');
    await page.getByLabel('Agent').waitFor();
    await watched.expectAccessible();
    await page.keyboard.press('Escape');
    watched.expectNoProblems(/status of 4|ERR_INTERNET_DISCONNECTED|ERR_NETWORK/);
  });
});

import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { adminToken, TestApp } from '../support/app.ts';
import { TestBrowser, type WatchedPage } from '../support/browser.ts';
import { loaded, signedIn, widths } from '../support/console.ts';
import { Customers } from '../support/conversing.ts';
import { HeldAnswers } from '../support/held-answers.ts';
import { addPerson } from '../support/people.ts';
import { xssTexts } from '../support/xss.ts';

const attack = xssTexts[1]!;

describe('canned responses in the console', function () {
  this.timeout(120_000);
  const browser = new TestBrowser();
  let app: TestApp;
  let customers: Customers;
  let inbox: number;
  let watched: WatchedPage;
  let page: Page;

  before(async function () {
    await browser.start(this);
    app = await TestApp.start({ engine: false });
    customers = new Customers(app);
    inbox = await customers.inbox('Shop');
    watched = await signedIn(browser, app, adminToken);
    page = watched.page;
  });

  beforeEach(async () => {
    watched.problems.length = 0;
    for (const { id } of (await app.get('canned_responses')).body.payload) await app.delete(`canned_responses/${id}`);
  });

  after(async () => {
    await browser.close();
    await app?.stop();
  });

  const make = (short_code: string, content: string) => app.post('canned_responses', { short_code, content });
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const field = () => page.getByLabel('Reply', { exact: true });
  const list = () => page.getByRole('listbox', { name: 'Canned responses' });
  const options = async (): Promise<string[]> => {
    await page.locator('.canned ul[aria-busy=false]').waitFor();
    return list().locator('[role=option] b').allTextContents();
  };
  const text = () => field().inputValue();
  const sent = async (id: number): Promise<string[]> =>
    (await app.get(`conversations/${id}/messages`)).body.payload.map(({ content }: { content: string }) => content);

  async function open(name: string, fields: object = {}): Promise<number> {
    const id = await customers.writes(inbox, name, 'Hello', fields);
    await page.goto(`${app.url}/console/conversations/${id}`);
    await field().click();
    return id;
  }

  it('are created, found, changed and deleted by agents, with what the service says of mistakes', async () => {
    await make('hours', 'We are open from 9 to 17.');
    const { headers } = await addPerson(app, { name: 'Grace' });
    const own = await signedIn(browser, app, headers.api_access_token, '/console/settings/canned-responses');
    await loaded(own.page);
    const press = (name: string) => own.page.getByRole('button', { name, exact: true }).click();
    const dialog = own.page.getByRole('dialog');
    await press('New canned response');
    await own.page.getByLabel('Short code').fill('hours');
    await own.page.getByLabel('Content').fill(attack);
    await press('Create');
    await dialog.getByText('Another canned response of this account has this short code').first().waitFor();
    await own.page.getByLabel('Short code').fill('attack');
    await press('Create');
    await dialog.waitFor({ state: 'detached' });
    await own.page.getByRole('cell', { name: attack, exact: true }).waitFor();
    for (const width of widths) {
      await own.page.setViewportSize({ width, height: 900 });
      await own.expectAccessible();
    }
    await own.page.getByLabel('Search').fill('9 TO');
    await own.page.getByRole('cell', { name: 'attack', exact: true }).waitFor({ state: 'detached' });
    await press('Edit hours');
    await own.page.getByLabel('Content').fill('We are closed.');
    await press('Save');
    await own.page.getByText('No canned responses match your search.').waitFor();
    await own.page.getByLabel('Search').fill('');
    await own.page.getByRole('cell', { name: 'We are closed.' }).waitFor();
    await press('Delete attack');
    await press('Yes');
    await own.page.getByRole('cell', { name: 'attack', exact: true }).waitFor({ state: 'detached' });
    const { payload } = (await app.get('canned_responses')).body;
    expect(payload.map((one: Record<string, string>) => [one['short_code'], one['content']])).to.deep.equal([
      ['hours', 'We are closed.'],
    ]);
    own.expectNoProblems(/status of 422/);
    await own.close();
  });

  it('open at a slash, are found by what is typed, chosen by arrows, and inserted with their variables', async () => {
    await make('hours', 'We are open from 9 to 17.');
    await make('refund', 'About a return');
    await make(
      'return',
      'Dear {{contact.first_name}} {{ contact.last_name }} ({{contact.custom_attribute.plan}}),\nyour no. {{conversation.id}} is at {{inbox.name}}. {{agent.name}}',
    );
    const id = await open('Priya Shah', { custom_attributes: { plan: 'gold' } });
    await page.keyboard.type('Hi /');
    expect(await options()).to.deep.equal(['/hours', '/refund', '/return']);
    expect(await page.getByRole('combobox', { name: 'Reply' }).getAttribute('aria-expanded')).to.equal('true');
    await page.keyboard.type('RETURN');
    await list().getByRole('option', { name: '/hours' }).waitFor({ state: 'detached' });
    expect(await options()).to.deep.equal(['/return', '/refund']);
    const activeIs = async (name: string): Promise<void> => {
      const active = list().getByRole('option', { selected: true });
      expect(await active.locator('b').textContent()).to.equal(name);
      expect(await field().getAttribute('aria-activedescendant')).to.equal(await active.getAttribute('id'));
    };
    await activeIs('/return');
    const filled = `Dear Priya Shah (gold),\nyour no. ${id} is at Shop. Administrator`;
    expect(await page.locator('.preview p').textContent()).to.equal(filled);
    for (const width of widths) {
      await page.setViewportSize({ width, height: 900 });
      await watched.expectAccessible();
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).to.be.at.most(0);
    }
    await page.keyboard.press('ArrowDown');
    await activeIs('/refund');
    await page.keyboard.press('ArrowDown');
    await activeIs('/return');
    await page.keyboard.press('ArrowUp');
    await activeIs('/refund');
    await page.keyboard.press('ArrowUp');
    await page.keyboard.press('Enter');
    await list().waitFor({ state: 'detached' });
    expect(await text()).to.equal(`Hi ${filled}`);
    await page.keyboard.type('! /hou');
    expect(await options()).to.deep.equal(['/hours']);
    await page.keyboard.press('Tab');
    await list().waitFor({ state: 'detached' });
    expect(await text()).to.equal(`Hi ${filled}! We are open from 9 to 17.`);
    expect(await sent(id)).to.deep.equal(['Hello']);
    await page.keyboard.press('Control+Enter');
    await app.eventually(async () => (await sent(id)).length === 2);
    expect((await sent(id))[1]).to.equal(`Hi ${filled}! We are open from 9 to 17.`);
    watched.expectNoProblems();
  });

  it('show variables without a value, which are not sent before the agent is asked', async () => {
    await make('mail', 'Is {{contact.email}} right, {{contact.phone | default: "friend"}}? {{contact.shoe}}');
    const id = await open('Ada');
    await page.keyboard.type('/mail');
    await options();
    expect(await page.locator('.preview mark').allTextContents()).to.deep.equal([
      '{{contact.email}}',
      '{{contact.shoe}}',
    ]);
    await list().getByRole('option').click();
    expect(await text()).to.equal('Is {{contact.email}} right, friend? {{contact.shoe}}');
    await page.getByText('No value for {{contact.email}}, {{contact.shoe}}. Replace it before you send.').waitFor();
    // The first one is selected.
    await page.keyboard.type('a@b.example');
    expect(await text()).to.equal('Is a@b.example right, friend? {{contact.shoe}}');
    await page.keyboard.press('Control+Enter');
    const question = page.getByRole('dialog');
    await question.getByText('The message is sent with {{contact.shoe}} as written.').waitFor();
    await button('No').click();
    await question.waitFor({ state: 'detached' });
    expect(await text()).to.include('{{contact.shoe}}');
    expect(await sent(id)).to.deep.equal(['Hello']);
    await button('Send').click();
    await button('Yes').click();
    await app.eventually(async () => (await sent(id)).length === 2);
    expect((await sent(id))[1]).to.equal('Is a@b.example right, friend? {{contact.shoe}}');
    watched.expectNoProblems();
  });

  it('stay closed after Escape, and where a slash begins no word or nothing matches', async () => {
    await make('hours', 'We are open.');
    await open('Bert');
    await page.keyboard.type('/h');
    await options();
    await page.keyboard.press('Escape');
    await list().waitFor({ state: 'detached' });
    await page.keyboard.type('ou and/or https://x.example');
    expect(await list().count()).to.equal(0);
    await page.keyboard.type(' /zzz');
    await page.getByText('No canned responses match.').first().waitFor();
    await page.keyboard.press('Enter');
    expect(await text()).to.equal('/hou and/or https://x.example /zzz\n');
    expect(await list().count()).to.equal(0);
    await page.keyboard.type('/ho');
    expect(await options()).to.deep.equal(['/hours']);
    await page.getByLabel('Files').focus();
    await list().waitFor({ state: 'detached' });
    watched.expectNoProblems();
  });

  it('are inserted by Enter before they are found, and what the service refuses is shown', async () => {
    await make('hours', 'We are open.');
    await make('other', attack);
    await open('Cleo');
    const held = new HeldAnswers();
    await page.route('**/canned_responses?*', held.hold);
    await page.keyboard.type('/oth');
    await page.keyboard.press('Enter');
    expect(await text()).to.equal('/oth');
    await app.eventually(async () => {
      held.release();
      return (await text()) === attack;
    });
    await page.unroute('**/canned_responses?*');
    await page.route('**/canned_responses?*', (route) =>
      route.fulfill({ status: 500, json: { error: 'It is broken', code: 'internal' } }),
    );
    await page.keyboard.type(' /a');
    await page.locator('.canned .problem').filter({ hasText: 'It is broken' }).waitFor();
    await page.keyboard.press('Enter');
    expect(await text()).to.equal(`${attack} /a\n`);
    watched.expectNoProblems(/status of 500/);
  });
});

import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { adminToken, TestApp } from '../support/app.ts';
import { TestBrowser, type WatchedPage } from '../support/browser.ts';
import { expectAtAllWidths, loaded, signedIn } from '../support/console.ts';
import { Customers } from '../support/conversing.ts';
import { addPerson } from '../support/people.ts';
import { xssTexts } from '../support/xss.ts';

const attack = xssTexts[1]!;
const script = 'javascript:alert(1)';

describe('custom attributes in the console', function () {
  this.timeout(60_000);
  const browser = new TestBrowser();
  let app: TestApp;
  let watched: WatchedPage;
  let page: Page;

  before(async function () {
    await browser.start(this);
    app = await TestApp.start();
    watched = await signedIn(browser, app, adminToken, '/console/settings/attributes');
    page = watched.page;
  });

  beforeEach(() => watched.problems.splice(0));

  after(async () => {
    await browser.close();
    await app?.stop();
  });

  const dialog = () => page.getByRole('dialog');
  const field = (name: string) => dialog().getByLabel(name, { exact: true });
  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const row = (text: string) => page.getByRole('row').filter({ hasText: text });
  const definitions = async () => (await app.get('custom_attribute_definitions')).body.payload;
  const fact = (panel: string, name: string) =>
    page
      .locator('section')
      .filter({ has: page.getByRole('heading', { name: panel, exact: true }) })
      .locator('dt')
      .filter({ hasText: name })
      .locator('+ dd');

  it('are defined, changed and no longer defined by administrators, by keyboard, and a refusal is shown', async () => {
    await page.getByText('No custom attributes yet.').waitFor();
    await button('New attribute').press('Enter');
    await field('Name').fill(`Plan ${attack}`);
    await field('Key').fill(' ');
    await field('Name').press('Enter');
    await dialog().getByRole('alert').waitFor();
    expect(await field('Key').getAttribute('aria-invalid')).to.equal('true');
    await field('Key').fill('plan');
    await field('Type').selectOption('List');
    await field('Values').fill(`basic\n\n ${attack} `);
    await field('Description').fill('What they pay for');
    await watched.expectAccessible();
    await dialog().getByRole('button', { name: 'Create' }).press('Enter');
    await row('plan').waitFor();
    const [made] = await definitions();
    expect(made).to.deep.include({
      attribute_key: 'plan',
      attribute_model: 'contact_attribute',
      attribute_display_name: `Plan ${attack}`,
      attribute_description: 'What they pay for',
      attribute_display_type: 'list',
      attribute_values: ['basic', attack],
    });
    await expectAtAllWidths(watched);
    await button('New attribute').click();
    await field('Name').fill('Another');
    await field('Key').fill('plan');
    await dialog().getByRole('button', { name: 'Create' }).click();
    await dialog().getByRole('alert').filter({ hasText: 'has this key' }).waitFor();
    await field('Applies to').selectOption('Conversation');
    await field('Type').selectOption('Date');
    await dialog().getByRole('button', { name: 'Create' }).click();
    await row('Another').filter({ hasText: 'Conversation' }).waitFor();
    await button(`Edit Plan ${attack}`).click();
    expect(await field('Values').inputValue()).to.equal(`basic\n${attack}`);
    await field('Name').fill('Tariff');
    await field('Type').selectOption('Text');
    await dialog().getByRole('button', { name: 'Save' }).click();
    await row('Tariff').waitFor();
    const changed = (await definitions()).find(({ id }: { id: number }) => id === made.id);
    expect(changed).to.deep.include({ attribute_display_name: 'Tariff', attribute_values: [] });
    await button('Delete Another').click();
    await button('No').click();
    await row('Another').waitFor();
    await button('Delete Another').click();
    await button('Yes').click();
    await row('Another').waitFor({ state: 'detached' });
    expect(await definitions()).to.have.length(1);
    watched.expectNoProblems(/status of 422/);
  });

  it('are listed for agents, who change none', async () => {
    const { headers } = await addPerson(app, { name: 'Grace' });
    const agent = await signedIn(browser, app, headers.api_access_token, '/console/settings/attributes');
    await agent.page.getByRole('row').filter({ hasText: 'Tariff' }).waitFor();
    expect(await agent.page.getByRole('button', { name: /attribute|Edit|Delete/ }).count()).to.equal(0);
    agent.expectNoProblems();
    await agent.close();
  });

  it('are shown beside a conversation by their names, and as what they are', async () => {
    const define = async (model: string, key: string, type: string): Promise<void> => {
      const names = { attribute_key: key, attribute_display_name: `The ${key}` };
      const body = { ...names, attribute_model: `${model}_attribute`, attribute_display_type: type };
      expect((await app.post('custom_attribute_definitions', body)).status).to.equal(201);
    };
    for (const type of ['text', 'number', 'currency', 'percent', 'link', 'date', 'list', 'checkbox']) {
      await define('contact', type, type);
    }
    // So many that they are told in two pages, by key.
    for (let count = 0; count < 25; count += 1) await define('contact', `a-${count}`, 'text');
    await define('contact', 'unsafe', 'link');
    await define('contact', 'said', 'link');
    await define('contact', 'later', 'date');
    await define('conversation', 'order', 'link');
    const values = {
      text: attack,
      number: 12_345.5,
      currency: 12.5,
      percent: 20,
      link: 'https://shop.example/orders/1',
      date: '2026-02-03',
      list: 'basic',
      checkbox: true,
      unsafe: script,
      later: 'soon',
      undefined_one: { deep: [1] },
    };
    const customers = new Customers(app);
    const inbox = await customers.inbox('Plain');
    const id = await customers.writes(inbox, 'Ada', 'Hello', { custom_attributes: values });
    const { contact } = (await app.get(`conversations/${id}`)).body;
    await app.query('UPDATE contacts SET visitor_attributes = $1 WHERE id = $2', [
      JSON.stringify({ said: 'https://elsewhere.example/' }),
      contact.id,
    ]);
    await page.goto(`${app.url}/console/conversations/${id}`);
    await fact('Contact', 'The link').waitFor();
    await loaded(page);
    const shown: Record<string, string> = {
      'The text': attack,
      'The number': '12,345.5',
      'The currency': '12.50',
      'The percent': '20 %',
      'The date': 'Feb 3, 2026',
      'The list': 'basic',
      'The checkbox': 'Yes',
      'The unsafe': script,
      'The later': 'soon',
      undefined_one: '{"deep":[1]}',
      'The said (unverified)': 'https://elsewhere.example/',
    };
    for (const [name, text] of Object.entries(shown)) {
      expect(await fact('Contact', name).textContent(), name).to.equal(text);
    }
    const link = fact('Contact', 'The link').getByRole('link');
    expect(await link.getAttribute('href')).to.equal('https://shop.example/orders/1');
    expect(await link.getAttribute('rel')).to.include('noopener');
    for (const name of ['The unsafe', 'The said']) {
      expect(await fact('Contact', name).getByRole('link').count(), name).to.equal(0);
    }
    expect(await page.getByRole('heading', { name: 'Attributes', exact: true }).count()).to.equal(0);
    await app.patch(`conversations/${id}`, {
      custom_attributes: { order: 'https://shop.example/orders/2', 'no definition': 7 },
    });
    await fact('Attributes', 'The order').getByRole('link', { name: 'https://shop.example/orders/2' }).waitFor();
    expect(await fact('Attributes', 'no definition').textContent()).to.equal('7');
    await expectAtAllWidths(watched);
    watched.expectNoProblems();
  });
});

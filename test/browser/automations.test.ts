import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { adminToken, TestApp } from '../support/app.ts';
import { TestBrowser, type WatchedPage } from '../support/browser.ts';
import { expectAtAllWidths, loaded, signedIn } from '../support/console.ts';
import { Customers } from '../support/conversing.ts';
import { addPerson } from '../support/people.ts';
import { xssTexts } from '../support/xss.ts';

const attack = xssTexts[1]!;

describe('automations in the console', function () {
  this.timeout(150_000);
  const browser = new TestBrowser();
  let app: TestApp;
  let customers: Customers;
  let inbox: number;
  let watched: WatchedPage;
  let page: Page;

  before(async function () {
    await browser.start(this);
    app = await TestApp.start();
    customers = new Customers(app);
    inbox = await customers.inbox('Shop');
    await app.post('labels', { title: 'refund' });
    await app.post('labels', { title: 'vip' });
    watched = await signedIn(browser, app, adminToken, '/console/automations');
    page = watched.page;
    await loaded(page);
  });

  beforeEach(() => {
    watched.problems.length = 0;
  });

  after(async () => {
    await browser.close();
    await app?.stop();
  });

  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const field = (label: string) => page.getByLabel(label, { exact: true });
  const picture = async (name: string): Promise<void> => {
    const folder = process.env['AUTOMATION_SHOTS'];
    if (!folder) return;
    for (const width of [1440, 1024, 390]) {
      await page.setViewportSize({ width, height: 900 });
      await page.screenshot({ path: `${folder}/${name}-${width}.png`, fullPage: true });
    }
    await page.setViewportSize({ width: 1440, height: 900 });
  };

  it('are made of rules by the keyboard alone, tried, and turned on', async () => {
    await customers.writes(inbox, 'Ada', 'I want a refund');
    await customers.writes(inbox, 'Ben', 'Hello');
    await picture('empty');
    await button('New automation').press('Enter');
    await field('Name').fill('Refunds');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Refunds' }).waitFor();
    await loaded(page);
    await button('Add rule').press('Enter');
    await field('Name 1').fill(`Refunds first ${attack}`);
    await button('Add condition').press('Enter');
    await field('Values 1').first().fill('refund');
    await field('Value 1').pressSequentially('ref');
    await page.getByRole('option', { name: 'refund' }).waitFor();
    await picture('combobox');
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Remove refund from Value 1' }).waitFor();
    await button('Add action').press('Enter');
    await field('Action 2').selectOption('Set priority');
    await field('Value 2').press('ArrowDown');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('Enter');
    expect(await field('Value 2').inputValue()).to.equal('High');
    await field('Value 2').press('ArrowDown');
    await page.keyboard.press('Escape');
    expect(await field('Value 2').inputValue(), 'Escape keeps it').to.equal('High');
    await button('Dry run').press('Enter');
    await page.getByText(/^Would have matched 1 of \d+ events\.$/).waitFor();
    await page.getByRole('cell', { name: 'label, priority' }).waitFor();
    await watched.expectAccessible();
    await picture('builder');
    await button('Save').press('Enter');
    await page.getByText('Saved.').waitFor();
    const [automation] = (await app.get('automations')).body.payload;
    expect(automation).to.deep.include({ name: 'Refunds', active: false, inbox_ids: null });
    // From JSON: an object with `then` looks like a promise.
    const stored = JSON.parse(`{"rules":[{"active":true,"on":["message_created"],
      "if":{"all":[{"attribute":"content","operator":"contains","values":["refund"]}]},
      "then":[{"action":"add_labels","labels":["refund"]},{"action":"priority","priority":"high"}]}]}`) as {
      rules: object[];
    };
    expect(automation.config).to.deep.equal({ rules: [{ ...stored.rules[0], name: `Refunds first ${attack}` }] });
    await button('Turn on Refunds').press('Enter');
    await page.getByText('On', { exact: true }).first().waitFor();
    const asked = await customers.writes(inbox, 'Cem', 'A refund please');
    await app.eventually(async () => (await app.get(`conversations/${asked}`)).body.priority === 'high');
    await page.getByRole('table', { name: /^Matches by rule in the last \d+ runs$/ }).waitFor();
    await page.getByRole('link', { name: 'All runs' }).click();
    await page.getByRole('cell', { name: 'Refunds' }).first().waitFor();
    await page.goto(`${app.url}/console/automations`);
    await page.getByRole('link', { name: 'Refunds' }).waitFor();
    await expectAtAllWidths(watched);
    await picture('list');
    watched.expectNoProblems();
  });

  it('keep the order of their rules, and show them as JSON', async () => {
    const { id } = (
      await app.post('automations', { name: 'Two', plugin_id: 'rules', config: { rules: [] }, active: false })
    ).body;
    await page.goto(`${app.url}/console/automations/${id}`);
    await button('Add rule').click();
    await button('Add rule').click();
    for (const rule of [1, 2]) {
      const group = page.getByRole('group', { name: `Then ${rule}` });
      await group.getByLabel('Action 1', { exact: true }).selectOption('Add note');
      await group.getByLabel('Value 1', { exact: true }).fill(`Note ${rule}`);
    }
    await button('Move rule 2 up').click();
    await field('Inboxes').click();
    await page.getByRole('option', { name: 'Shop' }).click();
    await expectAtAllWidths(watched);
    await button('Edit as JSON').click();
    const json = field('Settings as JSON');
    const shown = JSON.parse(await json.inputValue()) as { rules: { name: string }[] };
    expect(shown.rules.map(({ name }) => name)).to.deep.equal(['Rule 2', 'Rule 1']);
    await json.fill('{');
    await page.getByText('Invalid JSON. Correct it to save.').waitFor();
    await button('Save').click();
    await page.getByRole('alert').getByText('The settings are invalid JSON. Correct them first.').waitFor();
    expect((await app.get(`automations/${id}`)).body.config).to.deep.equal({ rules: [] });
    await button('Dry run').click();
    await page.getByText('The settings are invalid JSON. Correct them first.').nth(1).waitFor();
    expect(await page.getByText(/^Would have matched/).count()).to.equal(0);
    await json.fill(JSON.stringify({ rules: shown.rules.slice(0, 1) }));
    await button('Edit as form').click();
    await page.getByRole('group', { name: 'Rule 1: Rule 2' }).waitFor();
    await button('Save').click();
    await page.getByText('Saved.').waitFor();
    const { body } = await app.get(`automations/${id}`);
    expect([body.config.rules.length, body.inbox_ids]).to.deep.equal([1, [inbox]]);
    await button('Remove rule 1').click();
    await button('Add rule').click();
    await button('Save').click();
    await page.getByRole('alert').waitFor();
    await button('Delete Two').click();
    await button('Yes').click();
    await page.getByRole('heading', { level: 1, name: 'Automations' }).waitFor();
    expect((await app.get(`automations/${id}`)).status).to.equal(404);
    watched.expectNoProblems(/status of 422/);
  });

  it('are dry-run with the inboxes in the form, saved or not', async () => {
    const other = await customers.inbox('Beside');
    await customers.writes(other, 'Dora', 'Only here');
    const config = JSON.parse(
      `{"rules":[{"name":"All","on":["message_created"],"then":[{"action":"note","content":"x"}]}]}`,
    ) as object;
    const made = await app.post('automations', { name: 'Beside', plugin_id: 'rules', config, active: false });
    await page.goto(`${app.url}/console/automations/${made.body.id}`);
    await button('Dry run').click();
    await page.getByText(/^Would have matched ([2-9]|\d\d+) of \d+ events\.$/).waitFor();
    await field('Inboxes').click();
    await page.getByRole('option', { name: 'Beside' }).click();
    await button('Dry run').click();
    await page.getByText(/^Would have matched 1 of \d+ events\.$/).waitFor();
    expect((await app.get(`automations/${made.body.id}`)).body.inbox_ids).to.equal(null);
    await app.delete(`automations/${made.body.id}`);
    watched.expectNoProblems();
  });

  it('are shown to agents, who change nothing', async () => {
    const agent = await addPerson(app, { name: 'Agent' });
    const other = await signedIn(browser, app, agent.headers.api_access_token, '/console/automations');
    await loaded(other.page);
    await other.page.getByRole('link', { name: 'Refunds' }).click();
    await other.page.getByRole('heading', { level: 1, name: 'Refunds' }).waitFor();
    await loaded(other.page);
    for (const name of ['Turn off Refunds', 'Save', 'Dry run', 'Delete Refunds'])
      expect(await other.page.getByRole('button', { name, exact: true }).count(), name).to.equal(0);
    await other.expectAccessible();
    other.expectNoProblems();
  });
});

import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { BotHouse } from '../runs/house.ts';
import { adminToken, type TestApp } from '../support/app.ts';
import { TestBrowser, type WatchedPage } from '../support/browser.ts';
import { expectAtAllWidths, loaded, signedIn } from '../support/console.ts';
import { HeldAnswers } from '../support/held-answers.ts';
import { walkByKeyboard } from '../support/keyboard.ts';
import { xssTexts } from '../support/xss.ts';

const attack = xssTexts[1]!;
const talk = `const { content } = ctx.message;
  if (/days/.test(content)) ctx.reply('Within 30 days.');
  if (/human/.test(content)) ctx.handoff({ reason: 'asked' });
  if (/repeat/.test(content)) ctx.reply(content);`;

describe('the page of evals', function () {
  this.timeout(120_000);
  const browser = new TestBrowser();
  let house: BotHouse;
  let app: TestApp;
  let watched: WatchedPage;
  let page: Page;
  let bot: number;

  before(async function () {
    await browser.start(this);
    const permissions = { conversation: ['reply', 'handoff'] };
    house = await BotHouse.open(
      { talker: { on: { message_created: talk }, permissions } },
      { config: { burstQuietMs: 0 } },
    );
    ({ app } = house);
    bot = house.botOf('talker');
    watched = await signedIn(browser, app, adminToken, `/console/bots/${bot}`);
    page = watched.page;
  });

  after(async () => {
    await browser.close();
    await house?.close();
  });

  afterEach(() => watched.expectNoProblems());

  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const dialog = () => page.getByRole('dialog');
  const row = (question: string) => page.getByRole('row').filter({ hasText: question });
  const heading = (name: string) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
  const kept = async () => (await app.get(`agent_bots/${bot}/usage`)).body.last_evals;

  async function open(): Promise<void> {
    await page.goto(`${app.url}/console/bots/${bot}/evals`);
    await heading('Evals');
    await loaded(page);
  }

  async function paste(cases: readonly (object | string)[], { replaces = false } = {}): Promise<void> {
    await button('Import cases').click();
    const lines = cases.map((one) => (typeof one === 'string' ? one : JSON.stringify(one)));
    await dialog().getByLabel('Cases', { exact: true }).fill(lines.join('\n'));
    if (replaces) await dialog().getByLabel('Replace the present').check();
    await dialog().getByRole('button', { name: 'Import' }).click();
  }

  it('is reached from the bot, and cases are written by keyboard alone', async () => {
    await page.getByRole('navigation', { name: 'Pages of talker' }).getByRole('link', { name: 'Evals' }).press('Enter');
    await heading('Evals');
    await page.getByText('No cases yet.').waitFor();
    expect(await button('Run 0 cases').isDisabled()).to.equal(true);
    await expectAtAllWidths(watched);
    await button('New case').press('Enter');
    await dialog().getByRole('button', { name: 'Add case' }).press('Enter');
    await dialog().getByRole('alert').filter({ hasText: 'Enter a question.' }).waitFor();
    await dialog().getByLabel('Question').fill('Within how many days may I return goods?');
    await dialog().getByLabel('Expected').selectOption('Contains texts');
    await dialog().getByLabel('Texts').fill('30 days\nwithin');
    await dialog().getByRole('button', { name: 'Add case' }).press('Enter');
    await dialog().waitFor({ state: 'detached' });
    await row('Within how many days').getByText('Contains “30 days”, “within”').waitFor();
    await row('Within how many days').getByText('Not run').waitFor();
  });

  it('runs the cases, shows what the bot did, and keeps them as the last run, without a word in conversations', async () => {
    const before = await app.query('SELECT FROM messages');
    await paste([
      { question: 'A human, please', expect: { handoff: true } },
      { question: 'Nothing', history: [{ role: 'user', content: 'Hi' }], expect: { contains: ['something'] } },
    ]);
    await dialog().waitFor({ state: 'detached' });
    await button('Run 3 cases').press('Enter');
    await row('Within how many days').getByText('Passed').waitFor();
    await row('A human, please').getByText('handed off: plugin').waitFor();
    await row('Nothing').getByText('Failed').waitFor();
    await row('Nothing').getByText('no reply').waitFor();
    await row('Nothing').getByText('After 1 message').waitFor();
    await page.locator('.figures').getByText('66 %').waitFor();
    expect((await kept()).results).to.deep.equal([
      { question: 'Within how many days may I return goods?', passed: true, got: 'replied: "Within 30 days."' },
      { question: 'A human, please', passed: true, got: 'handed off: plugin' },
      { question: 'Nothing', passed: false, got: 'no reply' },
    ]);
    expect(await app.query('SELECT FROM messages')).to.have.length(before.length);
    await page.getByRole('radio', { name: 'All 3' }).press('ArrowRight');
    await row('A human, please').waitFor({ state: 'detached' });
    expect(await page.getByRole('row').count()).to.equal(1 + 1);
    await expectAtAllWidths(watched);
    expect(await walkByKeyboard(page)).to.deep.equal([]);
  });

  it('has the cases of this person and bot, and the last results, after a reload', async () => {
    await open();
    await row('Nothing').getByText('Failed').waitFor();
    await row('Nothing').getByText('Contains “something”').waitFor();
    const [file] = await Promise.all([page.waitForEvent('download'), button('Download').click()]);
    expect(file.suggestedFilename()).to.equal('talker-evals.jsonl');
    const lines = readFileSync(await file.path(), 'utf8')
      .trimEnd()
      .split('\n');
    expect(lines.map((line) => JSON.parse(line).expect)).to.deep.equal([
      { contains: ['30 days', 'within'] },
      { handoff: true },
      { contains: ['something'] },
    ]);
  });

  it('shows what has changed since the last run', async () => {
    await open();
    await button('Edit case: Nothing').press('Enter');
    await dialog().getByLabel('Expected').selectOption('Does not answer');
    await dialog().getByRole('button', { name: 'Save' }).press('Enter');
    await dialog().waitFor({ state: 'detached' });
    await button('Delete case: A human, please').press('Enter');
    await row('A human, please').waitFor({ state: 'detached' });
    await paste([{ question: 'repeat this', expect: { small_talk: true } }]);
    await button('Run 3 cases').click();
    await row('Nothing').getByText('Fixed').waitFor();
    await row('repeat this').getByText('replied: "repeat this"').waitFor();
    const figure = (name: string) =>
      page.locator('.figures dt').filter({ hasText: name }).locator('+ dd').textContent();
    expect([await figure('Passed'), await figure('Fixed'), await figure('Broken')]).to.deep.equal([
      '100 % 3 of 3',
      '1',
      '0',
    ]);
    await page.getByRole('radio', { name: 'Changed 1' }).click({ force: true });
    await row('repeat this').waitFor({ state: 'detached' });
  });

  it('says which lines are no cases, shows what the service refuses at its case, and executes nothing', async () => {
    await open();
    await paste(['{', { question: 'x', expect: { answer: 1 } }]);
    await dialog().getByRole('alert').filter({ hasText: 'Line 1: not a JSON object.' }).waitFor();
    await dialog().getByRole('alert').filter({ hasText: 'Line 2: `expect` must be an object with one of' }).waitFor();
    await dialog().getByRole('button', { name: 'Close' }).click();
    await dialog().getByRole('button', { name: 'Discard' }).click();
    await dialog().waitFor({ state: 'detached' });
    const cases = [
      { question: `repeat ${attack}`, expect: { contains: [attack] } },
      { question: 'wrong', expect: { handoff: 'yes' } },
    ];
    await paste(cases, { replaces: true });
    await button('Run 2 cases').click();
    await row('repeat').getByText('Passed').waitFor();
    await row('wrong').getByText('not asked: `expect.handoff` must be true or false').waitFor();
    await expectAtAllWidths(watched);
    watched.problems.splice(
      0,
      watched.problems.length,
      ...watched.problems.filter((problem) => !/status of 422/.test(problem)),
    );
  });

  it('can be stopped, goes on while its page is left, and keeps nothing of what was stopped', async () => {
    await open();
    const before = await kept();
    const held = new HeldAnswers();
    await page.route('**/try', held.hold);
    await button('Run 2 cases').click();
    await app.eventually(async () => held.count === 2);
    await page.getByRole('progressbar', { name: 'Asked' }).waitFor();
    await row('wrong').getByText('Waiting').waitFor();
    await page.getByRole('navigation', { name: 'Console' }).getByRole('link', { name: 'Runs' }).click();
    await heading('Runs');
    await page.goBack();
    await heading('Evals');
    await button('Stop').press('Enter');
    await page.getByRole('alert').filter({ hasText: 'Stopped. The results are not kept.' }).waitFor();
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    held.release();
    await button('Run 2 cases').waitFor();
    expect(await kept()).to.deep.equal(before);
    watched.problems.splice(0);
  });
});

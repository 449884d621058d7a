import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { openConversation } from '../faults/plugins.ts';
import { adminToken, TestApp } from '../support/app.ts';
import { TestBrowser, type WatchedPage } from '../support/browser.ts';
import { expectAtAllWidths, loaded, signedIn } from '../support/console.ts';
import { walkByKeyboard } from '../support/keyboard.ts';
import { addPerson } from '../support/people.ts';
import { xssTexts } from '../support/xss.ts';

const attack = xssTexts[1]!;

describe('the page of unanswered questions', function () {
  this.timeout(120_000);
  const browser = new TestBrowser();
  let app: TestApp;
  let bot: number;
  let inbox: number;
  let watched: WatchedPage;
  let page: Page;

  before(async function () {
    await browser.start(this);
    app = await TestApp.start({ config: { burstQuietMs: 0 } });
    await app.post('articles', { title: 'Returns', content: 'You may return goods within 30 days.' });
    bot = (await app.post('agent_bots', { kind: 'ai', name: 'Ada' })).body.id;
    inbox = (await app.post('inboxes', { name: 'Shop', channel: { type: 'api' } })).body.id;
    await app.post(`inboxes/${inbox}/set_agent_bot`, { agent_bot: bot });
    watched = await signedIn(browser, app, adminToken, `/console/bots/${bot}`);
    page = watched.page;
  });

  after(async () => {
    await browser.close();
    await app?.stop();
  });

  afterEach(() => watched.expectNoProblems());

  const heading = (name: string) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
  const tab = (name: string) => page.getByRole('navigation', { name: 'Pages of Ada' }).getByRole('link', { name });
  const table = () => page.getByRole('table', { name: /^Unanswered questions/ });

  /** The customer asks, in a new conversation, and the bot's run is recorded. */
  async function ask(content: string): Promise<number> {
    const id = await openConversation(app, inbox);
    await app.post(`conversations/${id}/messages`, { content, message_type: 'incoming' });
    await app.eventually(
      async () => (await app.query('SELECT FROM bot_runs WHERE conversation_id = $1', [id])).length > 0,
    );
    return id;
  }

  async function open(query = ''): Promise<void> {
    await page.goto(`${app.url}/console/bots/${bot}/unanswered${query}`);
    await heading('Unanswered questions');
    await loaded(page);
  }

  it('is reached from the bot by keyboard, and says so while there are none', async () => {
    await tab('Unanswered questions').press('Enter');
    await heading('Unanswered questions');
    await page.getByText('No unanswered questions in the last 30 days.').waitFor();
    await page.getByRole('link', { name: 'View articles' }).waitFor();
    await expectAtAllWidths(watched);
    await page.getByRole('navigation', { name: 'Breadcrumb' }).getByRole('link', { name: 'Ada' }).press('Enter');
    await heading('Ada');
    expect(await tab('Overview').getAttribute('aria-current')).to.equal('page');
  });

  it('lists what no article answered, the most frequent first, with the conversations', async () => {
    const first = await ask('Do penguins like glaciers?');
    const second = await ask('do penguins like GLACIERS');
    await ask(`Are walruses friendly? ${attack}`);
    await ask('Within how many days may I return goods?');
    await open();
    const rows = table().getByRole('row');
    expect(await rows.count()).to.equal(1 + 2);
    expect(await rows.nth(1).textContent()).to.match(/^do penguins like GLACIERS2×/);
    expect(await rows.nth(2).textContent()).to.include(attack);
    await page.getByText('2 questions · asked 3 times').waitFor();
    const links = await rows.nth(1).getByRole('link', { name: /^#/ }).allTextContents();
    expect(links).to.deep.equal([`#${second}`, `#${first}`]);
    await expectAtAllWidths(watched);
    expect(await walkByKeyboard(page)).to.deep.equal([]);
    await rows
      .nth(1)
      .getByRole('link', { name: `#${first}` })
      .press('Enter');
    await page.waitForURL(`**/console/conversations/${first}`);
  });

  it('is for a period, which the address keeps and arrow keys choose', async () => {
    await app.query(`UPDATE bot_runs SET created_at = created_at - interval '10 days'
      WHERE conversation_id IN (SELECT conversation_id FROM messages WHERE content LIKE 'Are walruses%')`);
    await open();
    await table().getByText('Are walruses friendly?').waitFor();
    await page.getByRole('radio', { name: '30 days' }).press('ArrowLeft');
    await page.waitForURL('**/unanswered?days=7');
    await page.getByText('1 question · asked 2 times').waitFor();
    await page.reload();
    await page.getByText('1 question · asked 2 times').waitFor();
    expect(await page.getByRole('radio', { name: '7 days' }).isChecked()).to.equal(true);
    await page.getByRole('radio', { name: '7 days' }).press('ArrowRight');
    await page.getByRole('radio', { name: '30 days' }).press('ArrowRight');
    await page.waitForURL('**/unanswered?days=90');
    await page.getByText('2 questions · asked 3 times').waitFor();
  });

  it('opens the article editor with the question as the title of a draft', async () => {
    await open();
    await page.getByRole('link', { name: 'Write article: do penguins like GLACIERS' }).press('Enter');
    await heading('New article');
    const title = page.getByLabel('Title');
    expect(await title.inputValue()).to.equal('do penguins like GLACIERS');
    expect(await page.getByLabel('Published').isChecked()).to.equal(false);
    await page.getByLabel('Content').fill('They do.');
    await page.reload();
    await page.getByText('Your unsaved changes were restored.').waitFor();
    expect(await title.inputValue()).to.equal('do penguins like GLACIERS');
    // A text for one question is not the text for another.
    await open();
    await page.getByRole('link', { name: 'Write article: Are walruses friendly?' }).click();
    await heading('New article');
    expect([await title.inputValue(), await page.getByLabel('Content').inputValue()]).to.deep.equal([
      `Are walruses friendly? ${attack}`.replace(/\s+/g, ' ').trim(),
      '',
    ]);
    await page.goBack();
    await page.getByRole('link', { name: 'Write article: do penguins like GLACIERS' }).click();
    await page.getByRole('button', { name: 'Create' }).click();
    await heading('do penguins like GLACIERS');
    const { payload } = (await app.get('articles')).body;
    const made = payload.find((one: { title: string }) => one.title === 'do penguins like GLACIERS');
    expect(made).to.include({ content: 'They do.', published: false });
  });

  it('stands beside the figure of answers from each article', async () => {
    await page.goto(`${app.url}/console/knowledge/articles`);
    const row = page.getByRole('row').filter({ hasText: 'Returns' });
    expect(await row.locator('[data-title="Answers (7 days)"]').textContent()).to.equal('1');
    await row.getByRole('link', { name: 'Returns' }).click();
    await heading('Returns');
    const fact = page.locator('dt').filter({ hasText: 'Answers, last 7 days' }).locator('+ dd');
    expect(await fact.textContent()).to.equal('1');
  });

  it('is for administrators, and has no tab at bots of other kinds', async () => {
    const { headers } = await addPerson(app, { name: 'Katherine' });
    const agent = await signedIn(browser, app, headers.api_access_token, `/console/bots/${bot}`);
    await agent.page.getByRole('heading', { level: 1, name: 'Ada' }).waitFor();
    await loaded(agent.page);
    expect(await agent.page.getByRole('navigation', { name: 'Pages of Ada' }).count()).to.equal(0);
    await agent.page.goto(`${app.url}/console/bots/${bot}/unanswered`);
    await agent.page.getByText('Only administrators can open this page.').waitFor();
    agent.expectNoProblems();
    await agent.close();
    const other = (await app.post('agent_bots', { name: 'Elsewhere', outgoing_url: 'https://127.0.0.1:9/' })).body.id;
    await page.goto(`${app.url}/console/bots/${other}`);
    await heading('Elsewhere');
    expect(await page.getByRole('navigation', { name: 'Pages of Elsewhere' }).count()).to.equal(0);
  });
});

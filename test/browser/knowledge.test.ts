import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { adminToken, TestApp } from '../support/app.ts';
import { TestBrowser, type WatchedPage } from '../support/browser.ts';
import { loaded, signedIn, widths } from '../support/console.ts';
import { HeldAnswers } from '../support/held-answers.ts';
import { addPerson } from '../support/people.ts';
import { xssTexts } from '../support/xss.ts';

const refused = /status of (?:400|422)/;

describe('the knowledge base in the console', function () {
  this.timeout(120_000);
  const browser = new TestBrowser();
  let app: TestApp;
  let watched: WatchedPage;
  let page: Page;

  before(async function () {
    await browser.start(this);
    app = await TestApp.start({ engine: false });
    watched = await signedIn(browser, app, adminToken, '/console/knowledge/articles');
    page = watched.page;
  });

  after(async () => {
    await browser.close();
    await app?.stop();
  });

  afterEach(() => watched.expectNoProblems(refused));

  const toast = (text: string) => page.locator('.toast').filter({ hasText: text }).first().waitFor();
  const heading = (name: string) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
  const button = (name: string) => page.getByRole('button', { name, exact: true });

  async function open(path: string, on = page): Promise<void> {
    await on.goto(`${app.url}/console/knowledge/${path}`);
    await on.getByRole('heading', { level: 1 }).waitFor();
    await loaded(on);
  }

  async function make(fields: object): Promise<number> {
    const { status, body } = await app.post('articles', { title: 'Untitled', content: 'Nothing.', ...fields });
    expect(status, JSON.stringify(body)).to.equal(201);
    return body.id;
  }

  async function choose(name: string, content: string | Buffer): Promise<void> {
    await page
      .getByLabel('File')
      .setInputFiles({ name, mimeType: 'application/octet-stream', buffer: Buffer.from(content) });
    await button('Import').click();
  }

  it('says what to do while there is nothing, and lets an article be written, published, changed and deleted', async () => {
    await page.getByText('No articles yet.').waitFor();
    await page.getByRole('link', { name: 'New article' }).click();
    await heading('New article');
    await page.getByLabel('Title').fill('Returns');
    await page.getByLabel('Public URL').fill('no address');
    await page.getByLabel('Content').fill('# Returns\n\nWithin **30 days**.');
    await button('Create').click();
    await page.getByText('must be').first().waitFor();
    await page.getByLabel('Public URL').fill('https://help.example.com/returns');
    await page.getByLabel('Tags').fill('shop\n\n returns ');
    await page.getByLabel('Published').uncheck();
    await button('Create').click();
    await heading('Returns');
    const [made] = (await app.get('articles')).body.payload;
    expect(made).to.deep.include({ title: 'Returns', published: false, tags: ['shop', 'returns'], language: 'en' });
    expect(await page.getByLabel('Content').textContent()).to.equal('# Returns\n\nWithin **30 days**.');
    await button('Publish').click();
    await page.getByText('Published', { exact: true }).waitFor();
    expect((await app.get(`articles/${made.id}`)).body.published).to.equal(true);
    await button('Edit').click();
    await page.getByLabel('Content').fill('Within 14 days.');
    await page.getByLabel('Public URL').fill('');
    await button('Save').click();
    await toast('Saved.');
    expect((await app.get(`articles/${made.id}`)).body).to.deep.include({ content: 'Within 14 days.', url: null });
    await button('Edit').click();
    await page.getByLabel('Title').fill('Not kept');
    await button('Cancel').click();
    await page.getByLabel('Content').filter({ hasText: 'Within 14 days.' }).waitFor();
    await button('Delete Returns').click();
    await button('No').click();
    expect((await app.get(`articles/${made.id}`)).status).to.equal(200);
    await button('Delete Returns').click();
    await button('Yes').click();
    await heading('Articles');
    await page.getByText('No articles yet.').waitFor();
    expect((await app.get(`articles/${made.id}`)).status).to.equal(404);
    await open(`articles/${made.id}`);
    await page.getByRole('alert').filter({ hasText: 'not' }).waitFor();
    watched.problems.length = 0;
  });

  it('finds articles by state, tag and language, page by page, and keeps that in the address', async () => {
    for (let number = 0; number < 27; number += 1) await make({ title: `Guide ${number}`, tags: ['guide'] });
    await make({ title: 'Anleitung', language: 'de', tags: ['guide & more'], published: false });
    await open('articles');
    await page.getByText('Page 1 of 2 (28 total)').waitFor();
    await button('Next').click();
    await page.getByText('Page 2 of 2').waitFor();
    expect(await page.getByRole('row').count()).to.equal(1 + 3);
    await page.getByLabel('State').selectOption('Drafts');
    await page.getByRole('link', { name: 'Anleitung' }).waitFor();
    await page.getByRole('link', { name: 'guide & more' }).click();
    await page.waitForURL('**/articles?tag=guide%20%26%20more');
    const tag = page.getByLabel('Tag', { exact: true });
    await app.eventually(async () => (await tag.inputValue()) === 'guide & more');
    await page.getByLabel('Language').fill('de');
    await page.keyboard.press('Enter');
    await page.waitForURL('**/articles?tag=guide+%26+more&language=de');
    await page.reload();
    await page.getByRole('link', { name: 'Anleitung' }).waitFor();
    expect(await page.getByRole('row').count()).to.equal(2);
    await page.getByLabel('Language').fill('Klingon');
    await button('Filter').click();
    await page.getByRole('alert').filter({ hasText: 'language' }).waitFor();
    await page.getByLabel('Language').fill('fr');
    await button('Filter').click();
    await page.getByText('No articles match these filters.').waitFor();
    await page.getByRole('link', { name: 'Clear filters' }).click();
    await page.getByText('28 total').waitFor();
  });

  it('shows what the search finds for a question, with its score, its marks, and whether a bot would answer', async () => {
    await make({ title: 'Watering orchids', content: '## How often\n\nWater orchids once a week & "a bit" < 5 cl.' });
    await make({ title: 'Hidden', content: 'Orchids that nobody may see.', published: false });
    await open('search');
    const held = new HeldAnswers();
    await page.route('**/articles/search?*', held.hold);
    await page.getByLabel('Question').fill('How often do I water orchids?');
    await page.keyboard.press('Enter');
    await app.eventually(async () => held.count > 0);
    await page.getByRole('status', { name: 'Loading' }).waitFor();
    expect(await page.getByText('No results for').count()).to.equal(0);
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    held.release();
    const found = page.getByRole('list', { name: 'Results' }).getByRole('listitem');
    await found.first().waitFor();
    expect(await found.count()).to.equal(1);
    await found.getByText('Good match').waitFor();
    await found.getByText('How often').waitFor();
    const [{ score }] = (await app.get('articles/search?q=How+often+do+I+water+orchids%3F')).body.payload;
    await found.getByText(`Score ${Math.round(score * 100)} %`).waitFor();
    expect(await found.locator('mark').allTextContents()).to.include.members(['orchids']);
    expect(await found.textContent()).to.include('a week & "a bit" < 5 cl.');
    await page.getByLabel('Question').fill('cardamom');
    await button('Search').click();
    await page.getByText('No results for “cardamom”').waitFor();
    expect(new URL(page.url()).searchParams.get('q')).to.equal('cardamom');
  });

  it('imports lines in parts, shows how far it is, and tells each line that was left out by its number', async () => {
    const lines = Array.from({ length: 450 }, (_, index) =>
      JSON.stringify({ title: `Imported ${index}`, content: 'Text.', path: `imported/${index}.md` }),
    );
    lines[2] = 'no JSON';
    lines[310] = JSON.stringify({ title: ' ', content: 'x' });
    lines[431] = lines[430] ?? '';
    lines.splice(100, 0, '', '');
    await open('import');
    await button('Import').click();
    await page.getByRole('alert').filter({ hasText: 'Choose a file first.' }).waitFor();
    const parts: number[] = [];
    await page.route('**/articles/import', async (route) => {
      await page.getByRole('progressbar', { name: 'Lines' }).waitFor();
      parts.push(Number(await page.getByRole('progressbar', { name: 'Lines' }).getAttribute('value')));
      await route.continue();
    });
    await choose('help.jsonl', lines.join('\n'));
    await page.getByRole('heading', { level: 2, name: 'Imported' }).waitFor();
    await page.unroute('**/articles/import');
    expect(parts).to.deep.equal([0, 200, 400]);
    const left = page.getByRole('table', { name: 'Skipped lines' }).getByRole('row');
    expect(await left.allTextContents()).to.satisfy(([, one, two, three]: string[]) => {
      return /^3.*JSON/.test(one!) && /^313.*title/.test(two!) && three!.startsWith('434Line 433 is the same');
    });
    const { meta } = (await app.get('articles')).body;
    const made = await app.query(`SELECT FROM articles WHERE path LIKE 'imported/%'`);
    expect([made.length, meta.count >= 447]).to.deep.equal([447, true]);
    await choose('help.jsonl', lines.join('\n'));
    await page.getByText('Unchanged').waitFor();
    await page.locator('dd').filter({ hasText: '447' }).waitFor();
  });

  it('says why a file cannot be imported, and goes on where an import was cut off', async () => {
    await open('import');
    await choose('help.docx', 'PK');
    await page.getByRole('alert').filter({ hasText: 'The file must be JSON lines' }).waitFor();
    await choose('help.zip', 'no archive');
    await page.getByRole('alert').filter({ hasText: 'archive' }).waitFor();
    const lines = Array.from({ length: 250 }, (_, index) =>
      JSON.stringify({ title: `Cut ${index}`, content: 'Text.', path: `cut/${index}.md` }),
    );
    let calls = 0;
    await page.route('**/articles/import', (route) => {
      calls += 1;
      return calls === 2 ? route.abort() : route.continue();
    });
    await choose('cut.jsonl', lines.join('\n'));
    await page.getByRole('alert').filter({ hasText: 'Import the file again to continue' }).waitFor();
    await page.locator('dd').filter({ hasText: '200' }).waitFor();
    await button('Import').click();
    await page.locator('dt').filter({ hasText: 'Created' }).locator('+ dd').filter({ hasText: '50' }).waitFor();
    await page.unroute('**/articles/import');
    watched.problems.splice(0);
  });

  it('executes nothing of what an article, its tags, a search or a broken line says', async () => {
    for (const [index, text] of xssTexts.entries())
      await make({ title: text, content: `orchestra ${text}`, tags: [text.slice(0, 60).trim()], path: `xss-${index}` });
    for (const width of widths) {
      await page.setViewportSize({ width, height: 900 });
      await open('articles?tag=' + encodeURIComponent(xssTexts[0]!.slice(0, 60)));
      await page.getByRole('link', { name: xssTexts[0]!, exact: true }).first().click();
      await heading(xssTexts[0]!);
      expect(await page.getByLabel('Content').textContent()).to.equal(`orchestra ${xssTexts[0]}`);
      await open('search?q=orchestra');
      expect(await page.locator('.found li').count()).to.equal(10);
      expect(await page.locator('.found').locator('img, script, svg, iframe, b, style, math').count()).to.equal(0);
    }
    await open('import');
    const broken = xssTexts.map((text) =>
      JSON.stringify({ title: 'x', content: 'x', path: `../${text}`, language: text }),
    );
    await choose('broken.jsonl', [...xssTexts.map((text) => text.replaceAll('\n', ' ')), ...broken].join('\n'));
    await page.getByRole('table', { name: 'Skipped lines' }).waitFor();
  });

  it('opens by its links, accessibly, on narrow and wide screens', async () => {
    for (const name of ['Articles', 'Import articles', 'Test search'])
      for (const width of widths) {
        await page.setViewportSize({ width, height: 900 });
        await page.getByRole('navigation', { name: 'Console' }).getByRole('link', { name, exact: true }).click();
        await heading(name);
        await loaded(page);
        await watched.expectAccessible();
        expect(await page.getByRole('heading', { level: 1 }).count()).to.equal(1);
        expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), name).to.be.at.most(0);
      }
    for (const path of ['articles/new', `articles/${await make({ title: 'Accessible' })}`, 'search?q=orchestra'])
      for (const width of widths) {
        await page.setViewportSize({ width, height: 900 });
        await open(path);
        await watched.expectAccessible();
      }
  });

  it('is for agents to read and to search, and for administrators to write', async () => {
    const { headers } = await addPerson(app, { name: 'Katherine' });
    const id = await make({ title: 'For all to read', content: 'A fortnight.', tags: ['agents'] });
    const agent = await signedIn(browser, app, headers.api_access_token, '/console/knowledge/articles');
    const links = await agent.page.getByRole('navigation', { name: 'Console' }).getByRole('link').allTextContents();
    expect(links).to.include.members(['Articles', 'Test search']).and.not.include('Import articles');
    await open('articles?tag=agents', agent.page);
    await agent.page.getByRole('link', { name: 'For all to read' }).click();
    await agent.page.getByRole('heading', { level: 1, name: 'For all to read' }).waitFor();
    expect(await agent.page.getByRole('button', { name: /Edit|Delete|Publish|Unpublish/ }).count()).to.equal(0);
    await open('search?q=fortnight', agent.page);
    await agent.page.getByRole('link', { name: 'For all to read' }).click();
    await agent.page.waitForURL(`**/articles/${id}`);
    for (const path of ['import', 'articles/new']) {
      await open(path, agent.page);
      await agent.page.getByText('Only administrators can open this page.').waitFor();
    }
    agent.expectNoProblems();
    await agent.close();
  });
});

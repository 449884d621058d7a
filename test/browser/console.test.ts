import { expect } from 'chai';
import { adminToken, TestApp } from '../support/app.ts';
import { TestBrowser } from '../support/browser.ts';
import { loaded, signedIn, widths } from '../support/console.ts';
import { paintLate } from '../support/late-paint.ts';
import { addPerson } from '../support/people.ts';

describe('the console', function () {
  this.timeout(120_000);
  const browser = new TestBrowser();
  let app: TestApp;

  before(async function () {
    await browser.start(this);
    app = await TestApp.start({ engine: false });
  });

  after(async () => {
    await browser.close();
    await app?.stop();
  });

  it('lets in who has an access token, and nobody else, and out again', async () => {
    const watched = await browser.open();
    const { page } = watched;
    await page.goto(`${app.url}/console/settings/labels`);
    await watched.expectAccessible();
    await page.getByLabel('Access token').fill('nobody-has-this');
    await page.getByRole('button', { name: 'Sign in' }).click();
    expect(await page.getByRole('alert').textContent()).to.include('not valid');
    await page.getByLabel('Access token').fill(adminToken);
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Labels' }).waitFor();
    expect(await page.evaluate('[localStorage.length, sessionStorage.length, document.cookie]')).to.deep.equal([
      0,
      0,
      '',
    ]);
    await page.reload();
    await page.getByRole('heading', { level: 1, name: 'Labels' }).waitFor();
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Access token').waitFor();
    await page.reload();
    await page.getByLabel('Access token').waitFor();
    // The browser itself reports the answer 401.
    watched.expectNoProblems(/status of 401/);
    await watched.close();
  });

  it('shows, makes, changes and deletes labels, by keyboard too', async () => {
    const watched = await signedIn(browser, app, adminToken, '/console/settings/labels');
    const { page } = watched;
    await page.getByText('No labels yet').waitFor();
    await page.getByRole('button', { name: 'New label' }).focus();
    await page.keyboard.press('Enter');
    await page.getByLabel('Title').fill('Urgent');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByRole('alert').waitFor();
    expect(await page.getByLabel('Title').getAttribute('aria-invalid')).to.equal('true');
    await page.getByLabel('Title').fill('urgent');
    await page.keyboard.press('Enter');
    await page.getByRole('cell', { name: 'urgent', exact: true }).waitFor();
    await watched.expectAccessible();
    await page.getByRole('button', { name: 'Edit urgent' }).click();
    await page.getByLabel('Description').fill('<img src=x onerror=alert(1)>');
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('cell', { name: '<img src=x onerror=alert(1)>' }).waitFor();
    await page.getByRole('button', { name: 'Delete urgent' }).click();
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'hidden' });
    await page.getByRole('button', { name: 'Delete urgent' }).click();
    await page.getByRole('button', { name: 'Yes' }).click();
    await page.getByText('No labels yet').waitFor();
    expect((await app.get('labels')).body.payload).to.deep.equal([]);
    watched.expectNoProblems(/status of 422/);
    await watched.close();
  });

  it('leaves the focus and the text to somebody who writes into a field as soon as it is there', async () => {
    const watched = await signedIn(browser, app, adminToken, '/console/settings/labels');
    const { page } = watched;
    await page.addInitScript(`new MutationObserver((_, observer) => {
      const field = document.querySelector('main input');
      if (!field) return;
      observer.disconnect();
      field.focus();
      field.value = '12';
      field.dispatchEvent(new InputEvent('input', { bubbles: true }));
    }).observe(document, { childList: true, subtree: true })`);
    for (const path of ['knowledge/search', 'knowledge/articles', 'runs']) {
      await page.goto(`${app.url}/console/${path}`);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await loaded(page);
      // Effects run once the page was painted.
      await page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done, 200)))');
      const [focused, text] = (await page.evaluate(`(() => {
        const field = document.querySelector('main input');
        return [document.activeElement === field, field.value];
      })()`)) as [boolean, string];
      expect({ path, focused, text }).to.deep.equal({ path, focused: true, text: '12' });
    }
    watched.expectNoProblems();
    await watched.close();
  });

  it('goes where somebody wants to who does not wait for its first page', async () => {
    const watched = await signedIn(browser, app, adminToken, '/console/settings/labels');
    const { page } = watched;
    await paintLate(page);
    await page.goto(`${app.url}/console`);
    await page.getByRole('navigation', { name: 'Console' }).getByRole('link', { name: 'Teams' }).click();
    await page.getByRole('heading', { level: 1, name: 'Teams' }).waitFor();
    await page.getByText('No teams yet.').waitFor();
    watched.expectNoProblems();
    await watched.close();
  });

  it('fits narrow and wide screens', async () => {
    const watched = await signedIn(browser, app, adminToken, '/console/settings/labels');
    const { page } = watched;
    for (const width of widths) {
      for (const colorScheme of ['light', 'dark'] as const) {
        await page.emulateMedia({ colorScheme });
        await page.setViewportSize({ width, height: 800 });
        await watched.expectAccessible();
        const overflow = await page.evaluate('document.documentElement.scrollWidth - innerWidth');
        expect(overflow, `${width} px`).to.be.at.most(0);
      }
    }
    watched.expectNoProblems();
    await watched.close();
  });

  it('shows agents what agents may, and says so elsewhere', async () => {
    const agent = await addPerson(app, { name: 'Ada', role: 'agent' });
    const watched = await signedIn(browser, app, agent.headers.api_access_token, '/console/settings/labels');
    const { page } = watched;
    await page.getByText('Administrators create them').waitFor();
    expect(await page.getByRole('button', { name: 'New label' }).count()).to.equal(0);
    await page.goto(`${app.url}/console/nowhere`);
    await page.getByRole('heading', { level: 1, name: 'Not found' }).waitFor();
    watched.expectNoProblems();
    await watched.close();
  });
});

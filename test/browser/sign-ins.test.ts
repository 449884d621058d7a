import { expect } from 'chai';
import { adminToken, TestApp } from '../support/app.ts';
import { TestBrowser } from '../support/browser.ts';
import { expectAtAllWidths, signedIn } from '../support/console.ts';
import { addPerson } from '../support/people.ts';
import { ownPage, signInAt } from '../support/sign-in.ts';

const path = '/console/settings/sign-ins';

interface Held {
  id: number;
  kind: string;
  current: boolean;
}

describe('sign-ins and access tokens in the console', function () {
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

  it('are shown with the browser that each is in, and end when their person ends them, agents too', async () => {
    const { headers } = await addPerson(app, { name: 'Ada' });
    const watched = await signedIn(browser, app, headers.api_access_token, path);
    const { page } = watched;
    const own = page.getByRole('row', { name: /Chrome on Linux this browser/ });
    await own.waitFor();
    const response = await fetch(`${app.url}/sign_in`, {
      method: 'POST',
      headers: { ...ownPage, 'content-type': 'application/json', 'user-agent': '<img src=x onerror=alert(1)>' },
      body: JSON.stringify({ access_token: headers.api_access_token }),
    });
    const cookie = response.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    await page.reload();
    const stranger = page.getByRole('row', { name: '<img src=x onerror=alert(1)>' });
    await stranger.waitFor();
    await expectAtAllWidths(watched);
    await stranger.getByRole('button', { name: /^Sign out/ }).press('Enter');
    await stranger.waitFor({ state: 'detached' });
    expect((await fetch(`${app.url}/api/v1/profile`, { headers: { ...ownPage, cookie } })).status).to.equal(401);
    await own.getByRole('button').click();
    await page.getByRole('button', { name: 'No' }).click();
    await own.getByRole('button').click();
    await page.getByRole('button', { name: 'Yes' }).click();
    await page.getByLabel('Access token').waitFor();
    await page.reload();
    await page.getByLabel('Access token').waitFor();
    expect((await app.get('/api/v1/profile', headers)).status).to.equal(200);
    watched.expectNoProblems();
    await watched.close();
  });

  it('end open pages: what is read next says that one has been signed out', async () => {
    const { headers } = await addPerson(app, { name: 'Bob' });
    const watched = await signedIn(browser, app, headers.api_access_token, '/console/conversations');
    await watched.page
      .locator('.person')
      .getByRole('status')
      .filter({ hasText: /^Live$/ })
      .waitFor();
    const other = await signInAt(app.url, { access_token: headers.api_access_token });
    const url = `${app.url}/api/v1/profile/access_tokens`;
    const { payload } = (await (await fetch(url, { headers: other })).json()) as { payload: Held[] };
    const theirs = payload.find(({ kind, current }) => kind === 'sign_in' && !current);
    expect((await fetch(`${url}/${theirs?.id}`, { method: 'DELETE', headers: other })).status).to.equal(200);
    await watched.page.getByText('You were signed out. Sign in again to continue.').waitFor();
    watched.expectNoProblems(/status of 401/);
    await watched.close();
  });

  it('the access token is listed by its end, and revoked', async () => {
    const { headers } = await addPerson(app, { name: 'Cleo', role: 'administrator' });
    const token = headers.api_access_token;
    const watched = await signedIn(browser, app, token, '/console/settings/tokens');
    const { page } = watched;
    await page.getByRole('row', { name: token.slice(-4) }).waitFor();
    expect(await page.content()).to.not.include(token);
    await page.getByRole('button', { name: `Revoke …${token.slice(-4)}` }).click();
    await page.getByRole('button', { name: 'Yes' }).click();
    await page.getByText('No access token.').waitFor();
    expect((await app.get('/api/v1/profile', headers)).status).to.equal(401);
    await page.getByRole('button', { name: 'Reset access token' }).click();
    await page.getByRole('button', { name: 'Yes' }).click();
    const made = (await page.locator('pre').textContent()) ?? '';
    await page.getByRole('row', { name: made.slice(-4) }).waitFor();
    expect((await app.get('/api/v1/profile', { api_access_token: made })).status).to.equal(200);
    await expectAtAllWidths(watched);
    watched.expectNoProblems();
    await watched.close();
  });

  it('are known by few letters where nobody was told more', async () => {
    await fetch(`${app.url}/sign_in`, {
      method: 'POST',
      headers: { ...ownPage, 'content-type': 'application/json', 'user-agent': '' },
      body: JSON.stringify({ access_token: adminToken }),
    });
    const watched = await signedIn(browser, app, adminToken, path);
    await watched.page.getByRole('row', { name: 'Unknown browser' }).waitFor();
    await watched.close();
  });
});

import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { adminToken, TestApp } from '../support/app.ts';
import { TestBrowser } from '../support/browser.ts';
import { loaded, signedIn } from '../support/console.ts';
import { Customers } from '../support/conversing.ts';
import { addPerson } from '../support/people.ts';
import { ownPage } from '../support/sign-in.ts';

describe('text that is not saved in the console', function () {
  this.timeout(240_000);
  const browser = new TestBrowser();
  let app: TestApp;
  let page: Page;

  before(async function () {
    await browser.start(this);
    app = await TestApp.start({ engine: false });
    ({ page } = await signedIn(browser, app, adminToken));
  });

  after(async () => {
    await browser.close();
    await app?.stop();
  });

  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const link = (name: string) => page.getByRole('link', { name, exact: true });
  const field = (name: string) => page.getByLabel(name, { exact: true });
  const question = () => page.getByRole('dialog', { name: 'Discard your changes?' });
  const open = async (path: string): Promise<void> => {
    await page.goto(`${app.url}/console/${path}`);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await loaded(page);
  };

  it('is kept in a form over a click elsewhere and a reload, for the person alone, until it is discarded', async () => {
    await open('knowledge/articles/new');
    await field('Title').fill('Half written');
    await field('Content').fill('A long text');
    await link('Labels').click();
    await page.getByRole('heading', { level: 1, name: 'Labels' }).waitFor();
    await page.goBack();
    expect(await field('Title').inputValue()).to.equal('Half written');
    await page.reload();
    await page.getByText('Your unsaved changes were restored.').waitFor();
    expect(await field('Content').inputValue()).to.equal('A long text');
    const { headers } = await addPerson(app, { name: 'Grace', role: 'administrator' });
    const signIn = (token: string) =>
      page.context().request.post(`${app.url}/sign_in`, { headers: ownPage, data: { access_token: token } });
    const other = await signIn(headers.api_access_token);
    expect(other.status()).to.equal(201);
    await open('knowledge/articles/new');
    await page.getByRole('banner').getByText('Grace').waitFor();
    expect(await field('Title').inputValue()).to.equal('');
    await signIn(adminToken);
    await open('knowledge/articles/new');
    expect(await field('Title').inputValue()).to.equal('Half written');
    await button('Discard changes').click();
    expect(await field('Title').inputValue()).to.equal('');
    await page.reload();
    await field('Title').waitFor();
    expect(await field('Title').inputValue()).to.equal('');
  });

  it('takes back nothing that somebody else has changed since', async () => {
    const { id } = (await app.post('articles', { title: 'Returns', content: 'Within 30 days.', language: 'en' })).body;
    await open(`knowledge/articles/${id}`);
    await button('Edit').click();
    await field('Content').fill('Within 60 days.');
    await app.patch(`articles/${id}`, { title: 'Returns and refunds' });
    await page.reload();
    await button('Edit').click();
    expect(await field('Title').inputValue()).to.equal('Returns and refunds');
    expect(await field('Content').inputValue()).to.equal('Within 60 days.');
    await button('Save').click();
    await page.locator('.toast').filter({ hasText: 'Saved.' }).waitFor();
    expect((await app.get(`articles/${id}`)).body).to.include({
      title: 'Returns and refunds',
      content: 'Within 60 days.',
    });
    await button('Edit').click();
    expect(await page.getByText('Your unsaved changes were restored.').count()).to.equal(0);
  });

  it('has a dialog ask before it closes, and is there again after a reload', async () => {
    await open('settings/labels');
    await button('New label').click();
    await page.keyboard.press('Escape');
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await button('New label').click();
    await field('Title').fill('vip');
    await page.keyboard.press('Escape');
    await question().waitFor();
    await button('Keep editing').click();
    expect(await field('Title').inputValue()).to.equal('vip');
    await page.reload();
    await button('New label').click();
    expect(await field('Title').inputValue()).to.equal('vip');
    await button('Close').click();
    await button('Discard').click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await button('New label').click();
    expect(await field('Title').inputValue()).to.equal('');
  });

  it('is asked for before a page is left that has a secret, which the browser does not keep', async () => {
    await open('settings/labels');
    await link('Account').click();
    await field('API key').fill('sk-very-secret');
    expect(await page.evaluate('JSON.stringify(localStorage)')).not.to.include('very-secret');
    for (const leave of [() => link('Labels').click(), () => page.goBack()]) {
      await leave();
      await question().waitFor();
      await button('Keep editing').click();
      expect(await field('API key').inputValue()).to.equal('sk-very-secret');
      expect(new URL(page.url()).pathname).to.equal('/console/settings/account');
    }
    await page.goBack();
    await question().getByRole('button', { name: 'Discard' }).click();
    await page.getByRole('heading', { level: 1, name: 'Labels' }).waitFor();
    await link('Account').click();
    expect(await field('API key').inputValue()).to.equal('');
    await link('Labels').click();
    await page.getByRole('heading', { level: 1, name: 'Labels' }).waitFor();
  });

  it('is kept of a reply over a reload, until it is sent', async () => {
    const customers = new Customers(app);
    const id = await customers.writes(await customers.inbox('Shop'), 'Ada', 'Hello');
    await open(`conversations/${id}`);
    await field('Reply').fill('Dear Ada');
    await page.reload();
    expect(await field('Reply').inputValue()).to.equal('Dear Ada');
    await button('Send').click();
    await page.getByText('Dear Ada').first().waitFor();
    await page.reload();
    await field('Reply').waitFor();
    expect(await field('Reply').inputValue()).to.equal('');
  });
});

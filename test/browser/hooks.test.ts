import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { BotHouse } from '../runs/house.ts';
import { adminToken } from '../support/app.ts';
import { TestBrowser, type WatchedPage } from '../support/browser.ts';
import { expectAtAllWidths, signedIn } from '../support/console.ts';
import { byGithub, makeHook, send } from '../support/hook-senders.ts';
import { xssTexts } from '../support/xss.ts';

const secret = 'a-secret-of-github';
const hooks = {
  orders: { verify: 'none', id: '/id', key: '/order' },
  pushes: { verify: 'github', secret: 'GITHUB' },
};

describe('hooks in the console', function () {
  this.timeout(180_000);
  const browser = new TestBrowser();
  let house: BotHouse;
  let watched: WatchedPage;
  let page: Page;

  before(async function () {
    await browser.start(this);
    house = await BotHouse.open(
      { shop: { on: { hook_received: '' }, events: [], hooks, permissions: { hooks: true } } },
      { bodies: { shop: { secrets: { GITHUB: secret } } } },
    );
    watched = await signedIn(browser, house.app, adminToken, '/console/hooks');
    page = watched.page;
  });
  after(async () => {
    await browser.close();
    await house?.close();
  });

  const button = (name: string) => page.getByRole('button', { name, exact: true });
  const shownUrl = async () => (await page.getByLabel('Hook URL', { exact: true }).last().textContent()) ?? '';
  async function open(path: string, heading: string): Promise<void> {
    await page.goto(house.app.url + path);
    await page.getByRole('heading', { level: 1, name: heading, exact: true }).waitFor();
  }

  it('are made by keyboard, with a URL that is shown once, and deleted', async () => {
    await page.getByText('No hooks yet').waitFor();
    await button('New hook').focus();
    await page.keyboard.press('Enter');
    await page.getByLabel('Name', { exact: true }).fill('Shop');
    await page.getByLabel('Handled by', { exact: true }).selectOption({ label: 'shop' });
    await page.getByLabel('Handler', { exact: true }).fill('nothing');
    await page.keyboard.press('Enter');
    // The service names the handlers that there are.
    await page.getByRole('dialog').getByText('`orders`').first().waitFor();
    await page.getByLabel('Handler', { exact: true }).fill('orders');
    await page.keyboard.press('Enter');
    await page.getByRole('dialog').getByText('Shown only once').waitFor();
    const url = await shownUrl();
    await page.keyboard.press('Escape');
    expect((await send(url, '{"id":1}')).status).to.equal(202);
    await page.getByRole('link', { name: 'Shop' }).waitFor();
    expect(await page.content()).to.not.include(url);
    await expectAtAllWidths(watched);
    const other = await makeHook(house.app, house.botOf('shop'), 'pushes');
    await open('/console/hooks', 'Incoming');
    await button('Delete pushes').click();
    await page.getByRole('dialog').locator('button.danger').click();
    await page.locator('.toast').filter({ hasText: 'deleted' }).first().waitFor();
    expect((await send(other.url, '{}')).status).to.equal(404);
  });

  it('list their requests, and rotate their URL', async () => {
    const hook = await makeHook(house.app, house.botOf('shop'), 'pushes');
    const body = JSON.stringify({ text: 'pushed' });
    await send(hook.url, body, byGithub(body, secret, 'one'));
    await send(hook.url, body, byGithub(body, secret, 'one'));
    await send(hook.url, body, byGithub(body, 'another', 'two'));
    await open(`/console/hooks/${hook.id}`, 'pushes');
    for (const text of ['accepted', 'duplicate', 'refused', 'done', 'The signature is not valid'])
      await page.getByRole('cell', { name: text, exact: true }).first().waitFor();
    await expectAtAllWidths(watched);
    await button('Rotate URL').click();
    await page.getByRole('dialog').getByText('another 24 hours').waitFor();
    await page.getByRole('dialog').locator('button.danger').click();
    await page.getByRole('dialog').getByText('Shown only once').waitFor();
    expect((await send(await shownUrl(), body, byGithub(body, secret, 'three'))).status).to.equal(202);
  });

  it('show a request as it came, without what is secret, and have it handled again', async () => {
    const hook = await makeHook(house.app, house.botOf('shop'), 'orders');
    const headers = { 'content-type': 'application/json', authorization: 'Bearer canary', 'x-shop': 'mine' };
    const body = JSON.stringify({ id: 1, order: 'A-17', text: xssTexts[0] });
    const { body: reply } = await send(hook.url, body, headers);
    await open(`/console/hooks/${hook.id}/requests/${reply.id}`, `Request ${reply.id}`);
    await page.getByText('A-17', { exact: true }).waitFor();
    const shown = (await page.getByLabel('Request headers', { exact: true }).textContent()) ?? '';
    expect(shown).to.include('x-shop: mine').and.include('authorization: [redacted]');
    expect(await page.content()).to.not.include('canary');
    await page.getByLabel('Pretty-print').uncheck();
    expect(await page.getByLabel('Request body', { exact: true }).textContent()).to.equal(body);
    await expectAtAllWidths(watched);
    const runs = async () => (await house.app.get('runs')).body.payload.length;
    const before = await runs();
    await button('Resend').focus();
    await page.keyboard.press('Enter');
    await page.locator('.toast').filter({ hasText: 'gets the request again' }).first().waitFor();
    await house.app.eventually(async () => (await runs()) > before);
    const { body: duplicate } = await send(hook.url, body, headers);
    expect(duplicate.duplicate).to.equal(true);
    const { payload } = (await house.app.get(`hooks/${hook.id}/requests`)).body;
    await open(`/console/hooks/${hook.id}/requests/${payload[0].id}`, `Request ${payload[0].id}`);
    await page.getByText('Headers and body are not kept.').waitFor();
    expect(await button('Resend').count()).to.equal(0);
  });
});

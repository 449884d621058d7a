import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { pluginRootOf } from '../faults/plugins.ts';
import { adminToken, TestApp } from '../support/app.ts';
import { pluginArchive } from '../support/archives.ts';
import { TestBrowser, type WatchedPage } from '../support/browser.ts';
import { signedIn, widths } from '../support/console.ts';
import { addPerson } from '../support/people.ts';
import { xssTexts } from '../support/xss.ts';

const attack = xssTexts[1]!;
const base = '/platform/api/v1/plugins';
const code = `export default { on: { message_created(ctx) { ctx.reply('hello') } } };`;
const hosts = ['shop.example'];

const first = {
  id: 'seller',
  name: `Seller ${attack}`,
  description: xssTexts.join(' ').slice(0, 500),
  permissions: { conversation: ['reply', 'label'], network: { hosts }, secrets: [{ name: 'SHOP_KEY', hosts }] },
  config: {
    type: 'object',
    properties: { greeting: { title: attack, description: attack, type: 'string', default: attack } },
  },
};
// It may read more, change no labels, and refuses the greeting that was the default.
const second = {
  ...first,
  version: '2.0.0',
  permissions: { ...first.permissions, conversation: ['reply'], contact: ['email'] },
  config: {
    type: 'object',
    properties: { greeting: { title: 'Greeting', type: 'string', maxLength: 5 } },
  },
};

describe('the pages of plugins', function () {
  this.timeout(120_000);
  const browser = new TestBrowser();
  let app: TestApp;
  let root: { path: string; remove: () => void };
  let watched: WatchedPage;
  let page: Page;

  before(async function () {
    await browser.start(this);
    root = pluginRootOf({});
    app = await TestApp.start({ engine: false, pluginRoot: root.path });
    watched = await signedIn(browser, app, adminToken, '/console/plugins');
    ({ page } = watched);
  });

  after(async () => {
    await browser.close();
    await app?.stop();
    root?.remove();
  });

  const toast = (text: string) => page.locator('.toast').filter({ hasText: text }).first().waitFor();
  const yes = () => page.getByRole('button', { name: 'Yes' }).click();
  const plugin = async () => (await app.get(`${base}/seller`)).body;
  const choose = (manifest: { id: string } & Record<string, unknown>, source = code) =>
    page
      .getByLabel('Plugin package')
      .setInputFiles({ name: 'plugin.tgz', mimeType: 'application/gzip', buffer: pluginArchive(manifest, source) });
  const install = () => page.getByRole('button', { name: 'Install' }).click();
  const visit = async (path: string): Promise<void> => {
    await page.goto(`${app.url}/console/${path}`);
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
    await page.locator('[aria-label=Loading]').first().waitFor({ state: 'detached' });
  };

  it('say what to do where there are none', async () => {
    await page.getByText('No plugins installed. Choose a package above.').waitFor();
    await page.getByText('No plugins available. Install one above.').waitFor();
    await install();
    await page.getByRole('alert').filter({ hasText: 'Choose a file: the .tgz' }).waitFor();
    await watched.expectAccessible();
    watched.expectNoProblems();
  });

  it('refuse what is no package, with every problem', async () => {
    await choose({ id: 'seller', version: 'x', main: 'bot.sh' });
    await install();
    const problems = page.getByRole('list', { name: 'Package problems' });
    await problems.waitFor();
    expect((await problems.textContent()) ?? '')
      .to.include('`version`')
      .and.include('`main`');
    await choose({ id: 'seller' }, `import 'fs';`);
    await install();
    await page.getByRole('alert').filter({ hasText: '"fs"' }).waitFor();
    await problems.waitFor({ state: 'detached' });
    expect((await app.get(base)).body.payload).to.deep.equal([]);
    watched.expectNoProblems(/status of 422/);
  });

  it('install a package by keyboard, show how far that is, and what it asks for', async () => {
    // Slow enough for somebody to see.
    const { promise: seen, resolve: see } = Promise.withResolvers<void>();
    await page.route(`**${base}`, async (route) => {
      if (route.request().method() === 'POST') await seen;
      await route.continue();
    });
    await choose(first);
    await page.getByRole('button', { name: 'Install' }).focus();
    await page.keyboard.press('Enter');
    await page.getByRole('progressbar').waitFor();
    see();
    await page.getByRole('progressbar').waitFor({ state: 'detached' });
    await page.unroute(`**${base}`);
    await toast('1.0.0 installed');
    const row = page.getByRole('row', { name: /Seller/ });
    await row.getByText('Enabled').waitFor();
    expect((await plugin()).version).to.equal('1.0.0');
    await row.getByRole('link', { name: 'Seller' }).click();
    await page.getByRole('heading', { level: 2, name: 'Permissions' }).waitFor();
    const text = (await page.locator('main').textContent()) ?? '';
    expect(text).to.include('Write to customers').and.include('Send the secret SHOP_KEY to shop.example');
    await watched.expectAccessible();
    watched.expectNoProblems(/status of 422/);
  });

  it('list what was installed, whatever else was done while it was on its way', async () => {
    await visit('plugins');
    const { promise: seen, resolve: see } = Promise.withResolvers<void>();
    await page.route(`**${base}`, async (route) => {
      if (route.request().method() === 'POST') await seen;
      await route.continue();
    });
    await choose({ id: 'slow-one', name: 'Slow one' });
    await install();
    await page.getByRole('progressbar').waitFor();
    const seller = page.getByRole('row', { name: /Seller/ });
    await seller.getByRole('button', { name: /^Disable/ }).click();
    await yes();
    const enable = seller.getByRole('button', { name: /^Enable/ });
    await enable.waitFor();
    see();
    await page.getByRole('row', { name: /Slow one/ }).waitFor();
    await enable.click();
    await seller.getByRole('button', { name: /^Disable/ }).waitFor();
    await page.unroute(`**${base}`);
    expect((await app.delete(`${base}/slow-one`)).status).to.equal(200);
    watched.expectNoProblems(/status of 422/);
  });

  it('show accounts what it may do, in words, and its settings', async () => {
    await visit('plugins');
    const panel = page.getByRole('article', { name: 'Seller' });
    const text = (await panel.textContent()) ?? '';
    expect(text).to.include('Add and remove labels').and.include('SHOP_KEY').and.include('Default: "');
    for (const one of xssTexts.slice(0, 5)) expect(text).to.include(one);
    await panel.getByText('Settings').click();
    await watched.expectAccessible();
    watched.expectNoProblems(/status of 422/);
  });

  it('show of a version that waits what is otherwise, and whose settings it refuses', async () => {
    const bot = { name: `Bot ${attack}`, kind: 'plugin', plugin_id: 'seller', config: { greeting: 'Good morning' } };
    expect((await app.post('agent_bots', bot)).status).to.equal(201);
    await choose(second);
    await install();
    await toast('2.0.0 installed, pending approval');
    await page.getByRole('link', { name: 'Seller' }).click();
    const waiting = page.getByRole('region', { name: 'Version 2.0.0' });
    await waiting.getByText('Version 1.0.0 keeps running until you approve').waitFor();
    const listed = (name: string) => waiting.getByRole('list', { name }).textContent();
    expect(await listed('New permissions')).to.equal("+ Read the customer's e-mail address (contact.email)");
    expect(await listed('Permissions removed')).to.include('Add and remove labels of conversations');
    expect(await listed('Incompatible bots'))
      .to.include(`Bot ${attack} (account 1)`)
      .and.include('/config/greeting');
    for (const width of widths) {
      await page.setViewportSize({ width, height: 900 });
      await watched.expectAccessible();
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).to.be.at.most(0);
    }
    watched.expectNoProblems(/status of 422/);
  });

  it('reject it, choose it again, approve what was looked at and nothing else, and roll back', async () => {
    await page.getByRole('button', { name: 'Reject version 2.0.0' }).click();
    await toast('Version 2.0.0 rejected');
    await page.getByRole('region', { name: 'Version 2.0.0' }).waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Run 2.0.0' }).click();
    await yes();
    await page.getByRole('region', { name: 'Version 2.0.0' }).waitFor();
    // Somebody else withdraws it meanwhile.
    const { pending } = await plugin();
    await app.post(`${base}/seller/reject`, { version: pending.version, hash: pending.hash });
    await page.getByRole('button', { name: 'Approve version 2.0.0' }).click();
    await yes();
    await page.getByRole('alert').filter({ hasText: 'waits' }).waitFor();
    expect((await plugin()).version).to.equal('1.0.0');
    await app.patch(`${base}/seller`, { version: '2.0.0' });
    await visit('plugins/seller');
    await page.getByRole('button', { name: 'Approve version 2.0.0' }).click();
    await yes();
    await toast('runs version 2.0.0');
    expect((await plugin()).version).to.equal('2.0.0');
    expect((await app.get('agent_bots')).body.payload[0].disabled_reason).to.equal('config_invalid');
    await page.getByRole('row', { name: /Bot/ }).getByText('Invalid settings').waitFor();
    await page.getByRole('button', { name: 'Roll back to 1.0.0' }).click();
    await yes();
    await page.getByRole('region', { name: 'Version 1.0.0' }).waitFor();
    expect((await plugin()).pending.version).to.equal('1.0.0');
    await page.getByRole('button', { name: 'Approve version 1.0.0' }).click();
    await yes();
    await toast('runs version 1.0.0');
    expect((await plugin()).version).to.equal('1.0.0');
    watched.expectNoProblems(/status of 4(?:09|22)/);
  });

  it('show the reason of a quarantine, disable and enable, and uninstall when no bot uses it', async () => {
    const [bot] = (await app.get('agent_bots')).body.payload;
    await app.query('UPDATE agent_bots SET quarantined_at = now(), quarantine_reason = $1', [attack]);
    await visit('plugins/seller');
    expect(await page.getByRole('row', { name: /Bot/ }).textContent())
      .to.include('Quarantined')
      .and.include(attack);
    await page.getByRole('button', { name: 'Disable' }).click();
    await yes();
    await page.getByRole('button', { name: 'Enable' }).waitFor();
    expect((await plugin()).enabled).to.equal(false);
    await page.getByRole('button', { name: 'Enable' }).click();
    await page.getByRole('button', { name: 'Disable' }).waitFor();
    expect((await plugin()).enabled).to.equal(true);
    await page.getByRole('button', { name: 'Uninstall' }).click();
    await yes();
    await page.getByRole('alert').filter({ hasText: 'use' }).waitFor();
    await app.delete(`agent_bots/${bot.id}`);
    await page.getByRole('button', { name: 'Uninstall' }).click();
    await yes();
    await page.getByRole('heading', { level: 1, name: 'Plugins' }).waitFor();
    expect((await app.get(base)).body.payload).to.deep.equal([]);
    watched.expectNoProblems(/status of 4(?:09|22)/);
  });

  it('fit narrow and wide screens', async () => {
    for (const width of widths) {
      await page.setViewportSize({ width, height: 900 });
      await visit('plugins');
      await watched.expectAccessible();
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).to.be.at.most(0);
    }
    await visit('plugins/nothing');
    await page.getByRole('alert').filter({ hasText: 'not found' }).waitFor();
    watched.expectNoProblems(/status of 4(?:04|09|22)/);
  });

  it('are for administrators, and those of the platform for its own alone', async () => {
    const { headers } = await addPerson(app, { name: 'Margaret', role: 'administrator' });
    const other = await signedIn(browser, app, headers.api_access_token, '/console/plugins');
    await other.page.getByText('Platform administrators install them').waitFor();
    expect(await other.page.getByRole('button', { name: 'Install' }).count()).to.equal(0);
    await other.page.goto(`${app.url}/console/plugins/seller`);
    await other.page.getByText('Only platform administrators can open this page').waitFor();
    other.expectNoProblems();
    await other.close();
    const agent = await addPerson(app, { name: 'Katherine' });
    const token = agent.headers.api_access_token;
    const seen = await signedIn(browser, app, token, '/console/plugins');
    await seen.page.getByText('Only administrators can open this page').waitFor();
    const links = () => seen.page.getByRole('navigation', { name: 'Console' }).getByRole('link').allTextContents();
    expect(await links())
      .to.include('Bots')
      .and.include('Runs')
      .and.not.include('Plugins');
    // The platform's work is no matter of a role in the account.
    await app.query('UPDATE users SET platform_admin = true WHERE id = $1', [agent.id]);
    await seen.page.reload();
    await seen.page.getByRole('button', { name: 'Install' }).waitFor();
    expect(await links()).to.include('Plugins');
    seen.expectNoProblems();
    await seen.close();
  });
});

import { expect } from 'chai';
import { adminToken, type TestApp } from '../support/app.ts';
import { TestBrowser, type WatchedPage } from '../support/browser.ts';
import { startDemo } from '../demo/demo-app.ts';

/** What a stranger may put into a post. */
const hostile = [
  '<img src=x onerror="window.hit=1">',
  '<script>window.hit=1</script>',
  '"><svg onload=window.hit=1>',
  'javascript:window.hit=1',
];
/** The console of a browser tells of each refusal. */
const refused = /^console: Failed to load resource: .* 401/;

describe('the page of the built-in receiver', () => {
  const browser = new TestBrowser();
  let app: TestApp;

  before(async function () {
    await browser.start(this);
    app = await startDemo('the page of the built-in receiver');
  });

  after(async () => {
    await browser.close();
    await app?.stop();
  });

  async function enter(width: number): Promise<WatchedPage> {
    const watched = await browser.open({ viewport: { width, height: 800 } });
    await watched.page.goto(`${app.url}/play`);
    await watched.page.getByLabel('Access token').fill(adminToken);
    await watched.page.keyboard.press('Enter');
    await watched.page.getByRole('heading', { name: 'Requests' }).waitFor();
    return watched;
  }

  for (const width of [360, 1440])
    it(`shows posts as they arrive, verified or not, at ${width} px`, async () => {
      const watched = await enter(width);
      const { page } = watched;
      await page.getByText('contact_created').first().waitFor();
      await page.getByText('verified', { exact: true }).first().waitFor();
      await fetch(`${app.url}/play/hooks/page`, { method: 'POST', body: '{"event": "forged"}' });
      const forged = page.getByRole('listitem').filter({ hasText: 'forged' }).first();
      await forged.getByText('not verified').waitFor();
      await forged.locator('summary').press('Enter');
      await forged.getByText('It has no header webhook-signature').waitFor();
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).to.equal(true);
      await watched.expectAccessible();
      watched.expectNoProblems(refused);
      await watched.close();
    });

  it('tells the receiver how to answer, by the keyboard', async () => {
    const watched = await enter(1440);
    const { page } = watched;
    await page.getByLabel('Answer 200').focus();
    await page.keyboard.press('ArrowDown');
    await app.eventually(async () => (await app.get('/play/requests')).body.mode === 'fail');
    await page.keyboard.press('ArrowUp');
    await app.eventually(async () => (await app.get('/play/requests')).body.mode === 'ok');
    await watched.close();
  });

  it('executes nothing of what strangers post', async () => {
    const watched = await enter(1440);
    const { page } = watched;
    for (const text of hostile) {
      const body = JSON.stringify({ event: text, content: text, account: text });
      const headers = { 'webhook-id': text, 'webhook-signature': text, 'webhook-timestamp': text };
      await fetch(`${app.url}/play/hooks/${encodeURIComponent(text)}`, { method: 'POST', body, headers });
    }
    for (const text of hostile) {
      const entry = page.getByRole('listitem').filter({ hasText: text }).first();
      await entry.locator('summary').click();
    }
    expect(await page.evaluate('window.hit')).to.equal(undefined);
    watched.expectNoProblems(refused);
    await watched.close();
  });

  it('says what is wrong with a token, and asks again', async () => {
    const watched = await browser.open();
    const { page } = watched;
    await page.goto(`${app.url}/play`);
    await page.getByLabel('Access token').fill('swu_of-nobody');
    await page.getByRole('button', { name: 'Sign in' }).click();
    await page.getByRole('alert').getByText('missing or not valid').waitFor();
    expect(await page.getByLabel('Access token').isVisible()).to.equal(true);
    expect(await page.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])')).to.equal('[{},{}]');
    await watched.expectAccessible();
    await watched.close();
  });
});

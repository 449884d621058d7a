import { expect } from 'chai';
import { adminToken, type TestApp } from '../support/app.ts';
import { TestBrowser, type WatchedPage } from '../support/browser.ts';
import { signedIn } from '../support/console.ts';
import { HeldAnswers } from '../support/held-answers.ts';
import { addPerson } from '../support/people.ts';
import { startDemo } from '../demo/demo-app.ts';

// In the page: counts how often the page itself goes back to the first choice.
const countReturns = `{
  window.returns = 0;
  const first = document.querySelector('input[type=radio]');
  const { get, set } = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'checked');
  Object.defineProperty(first, 'checked', {
    get() { return get.call(this); },
    set(checked) { if (checked) window.returns += 1; set.call(this, checked); },
  });
}`;

/** What a stranger may put into a post. */
const hostile = [
  '<img src=x onerror="window.hit=1">',
  '<script>window.hit=1</script>',
  '"><svg onload=window.hit=1>',
  'javascript:window.hit=1',
];
describe('the page of the built-in receiver', function () {
  this.timeout(120_000);
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
      watched.expectNoProblems();
      await watched.close();
    });

  it('tells the receiver how to answer, by the keyboard', async () => {
    const watched = await enter(1440);
    const { page } = watched;
    await page.getByLabel('Respond 200').focus();
    await page.keyboard.press('ArrowDown');
    await app.eventually(async () => (await app.get('/play/requests')).body.mode === 'fail');
    await page.keyboard.press('ArrowUp');
    await app.eventually(async () => (await app.get('/play/requests')).body.mode === 'ok');
    await watched.close();
  });

  it('shows what was chosen last, whatever was asked before it was taken, and goes on from there by the keyboard', async () => {
    const watched = await enter(1440);
    const { page } = watched;
    const [ok, fail] = [page.getByLabel('Respond 200'), page.getByLabel('Respond 500')];
    const mode = async () => (await app.get('/play/requests')).body.mode;
    const looked = async (times: number): Promise<void> => {
      for (let look = 0; look < times; look += 1) await page.waitForResponse('**/play/requests?*');
    };
    const { promise: taken, resolve: take } = Promise.withResolvers<void>();
    await page.route('**/play/mode', async (route) => {
      await taken;
      await route.continue();
    });
    await fail.check();
    // A look is shown before the next one.
    await looked(3);
    expect(await fail.isChecked()).to.equal(true);
    await page.keyboard.press('ArrowUp');
    await looked(3);
    expect(await ok.isChecked()).to.equal(true);
    let answered = 0;
    page.on('response', (response) => (answered += response.url().endsWith('/play/mode') ? 1 : 0));
    take();
    await app.eventually(() => Promise.resolve(answered === 2));
    expect(await mode()).to.equal('ok');
    await page.unrouteAll();
    // What was read before the choice arrives after it.
    const held = new HeldAnswers();
    await page.route('**/play/requests?*', held.hold);
    await app.eventually(async () => held.count > 0);
    await page.evaluate(countReturns);
    await fail.check();
    await app.eventually(async () => (await mode()) === 'fail');
    held.release();
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await looked(2);
    expect(await page.evaluate('window.returns')).to.equal(0);
    expect(await fail.isChecked()).to.equal(true);
    await ok.check();
    await app.eventually(async () => (await mode()) === 'ok');
    watched.expectNoProblems();
    await watched.close();
  });

  it('says why it is not known who is signed in, in place of asking for a token, and asks again', async () => {
    const watched = await enter(1440);
    const { page } = watched;
    const signIns = ({ pathname }: URL) => pathname === '/sign_in';
    await page.route(signIns, (route) => route.fulfill({ status: 503, json: { error: 'The service is busy' } }));
    await page.reload();
    await page.getByRole('alert').getByText('The service is busy').waitFor();
    expect(await page.getByLabel('Access token').count()).to.equal(0);
    await watched.expectAccessible();
    await page.unrouteAll();
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByRole('heading', { name: 'Requests' }).waitFor();
    expect(await page.getByRole('alert').getByText('The service is busy').count()).to.equal(0);
    watched.expectNoProblems(/status of 503/);
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
    watched.expectNoProblems();
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

  it('knows who is signed in already, shows agents a sentence alone, and lets people sign out', async () => {
    const { headers } = await addPerson(app, { name: 'Ann' });
    const agent = await signedIn(browser, app, headers.api_access_token);
    await agent.page.goto(`${app.url}/play`);
    await agent.page.getByRole('alert').getByText('Only administrators may do this').waitFor();
    expect(await agent.page.getByRole('heading', { name: 'Requests' }).count()).to.equal(0);
    agent.expectNoProblems(/status of 403/);
    await agent.close();
    const watched = await signedIn(browser, app, adminToken);
    const { page } = watched;
    await page.goto(`${app.url}/play`);
    await page.getByRole('heading', { name: 'Requests' }).waitFor();
    // Nothing is asked for meanwhile, which would be refused.
    await page.route('**/sign_in', async (route) => {
      const response = await route.fetch();
      await new Promise((resolve) => setTimeout(resolve, 1_500));
      await route.fulfill({ response });
    });
    await page.getByRole('button', { name: 'Sign out' }).click();
    await page.getByLabel('Access token').waitFor();
    await page.unrouteAll();
    expect(await page.getByRole('heading', { name: 'Requests' }).count()).to.equal(0);
    expect(await page.getByRole('alert').count()).to.equal(0);
    await page.goto(`${app.url}/console`);
    await page.getByRole('heading', { name: 'Sign in to Switchboard' }).waitFor();
    watched.expectNoProblems();
    await watched.close();
  });

  it('goes on by itself after the service was away, keeps what is open, and asks again when the sign-in ends', async () => {
    const watched = await enter(1440);
    const { page } = watched;
    const post = (event: string) =>
      fetch(`${app.url}/play/hooks/away`, { method: 'POST', body: JSON.stringify({ event }) });
    await post('before');
    const before = page.getByRole('listitem').filter({ hasText: 'before' });
    await before.locator('summary').click();
    await page.context().setOffline(true);
    await page.getByRole('alert').getByText('is not responding. Retrying').waitFor();
    await post('meanwhile');
    await page.context().setOffline(false);
    await page.getByRole('listitem').filter({ hasText: 'meanwhile' }).waitFor();
    expect(await before.locator('pre').isVisible()).to.equal(true);
    expect(await page.getByRole('alert').count()).to.equal(0);
    await app.query('DELETE FROM access_tokens WHERE expires_at IS NOT NULL');
    await page.getByLabel('Access token').waitFor();
    await watched.close();
  });
});

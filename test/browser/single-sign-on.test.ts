import { expect } from 'chai';
import { TestApp } from '../support/app.ts';
import { TestBrowser } from '../support/browser.ts';
import { expectAtAllWidths } from '../support/console.ts';
import { IdentityProvider } from '../support/identity-provider.ts';
import { addPerson } from '../support/people.ts';

describe('single sign-on in the console', function () {
  this.timeout(120_000);
  const browser = new TestBrowser();
  let provider: IdentityProvider;
  let app: TestApp;

  before(async function () {
    await browser.start(this);
    provider = await IdentityProvider.start();
    const { issuer: oidcIssuer, clientId: oidcClientId, clientSecret: oidcClientSecret } = provider;
    app = await TestApp.start({ engine: false, config: { oidcIssuer, oidcClientId, oidcClientSecret } });
    provider.register(`${app.url}/sign_in/oidc/callback`, { inIdToken: true });
  });

  after(async () => {
    await browser.close();
    await app?.stop();
    await provider?.close();
  });

  it('leads to the provider and back to the console by keyboard; who is not invited reads why', async () => {
    const { email } = await addPerson(app, { name: 'Ada' });
    provider.people.set('ada', { email, email_verified: true });
    provider.people.set('stranger', { email: 'stranger@example.com', email_verified: true });
    const watched = await browser.open();
    const { page } = watched;
    const signInAs = async (name: string) => {
      await page.goto(`${app.url}/console`);
      await page.getByRole('button', { name: 'Continue with single sign-on' }).press('Enter');
      await page.getByPlaceholder('Enter any login').fill(name);
      await page.getByPlaceholder('and password').fill('any');
      await page.keyboard.press('Enter');
      await page.getByRole('button', { name: 'Continue' }).click();
    };
    await page.goto(`${app.url}/console`);
    await page.getByRole('button', { name: 'Continue with single sign-on' }).waitFor();
    await expectAtAllWidths(watched);
    await signInAs('stranger');
    await page.getByText('Nobody has invited stranger@example.com').waitFor();
    expect(new URL(page.url()).origin).to.equal(app.url);
    await expectAtAllWidths(watched);
    await page.getByRole('link', { name: 'Open the console' }).click();
    await page.context().clearCookies();
    await signInAs('ada');
    await page.getByRole('button', { name: 'Sign out', exact: true }).waitFor();
    expect(new URL(page.url()).pathname).to.match(/^\/console/);
    await page.reload();
    await page.getByRole('button', { name: 'Sign out', exact: true }).waitFor();
    await watched.close();
  });
});

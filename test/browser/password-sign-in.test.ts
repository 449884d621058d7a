import { expect } from 'chai';
import { adminToken, TestApp } from '../support/app.ts';
import { TestBrowser, type WatchedPage } from '../support/browser.ts';
import { expectAtAllWidths, signedIn } from '../support/console.ts';
import { MailServer } from '../support/mail-server.ts';
import { addPerson } from '../support/people.ts';

const security = '/console/settings/security';
const password = 'correct horse battery';

describe('signing in as a person', function () {
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

  async function enter({ page }: WatchedPage, email: string, text: string): Promise<void> {
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password', { exact: true }).fill(text);
    await page.keyboard.press('Enter');
  }

  const isIn = ({ page }: WatchedPage) => page.getByRole('button', { name: 'Sign out', exact: true }).waitFor();

  it('by a password that was set in the settings, and changed there', async () => {
    const { email, headers } = await addPerson(app, { name: 'Ada' });
    const own = await signedIn(browser, app, headers.api_access_token, security);
    await own.page.getByLabel('New password').fill('short');
    await own.page.getByRole('button', { name: 'Set password' }).click();
    await own.page.getByText('must have at least 10 characters').first().waitFor();
    await own.page.getByLabel('New password').fill(password);
    await own.page.keyboard.press('Enter');
    await own.page.getByRole('button', { name: 'Change password' }).waitFor();
    await expectAtAllWidths(own);
    const other = await browser.open();
    await other.page.goto(`${app.url}/console`);
    await expectAtAllWidths(other);
    expect(await other.page.getByRole('button', { name: 'Email me a link' }).count()).to.equal(0);
    await enter(other, email, 'not the password');
    await other.page.getByText('The email address or the password is wrong').waitFor();
    expect(await other.page.getByLabel('Email').inputValue()).to.equal(email);
    await enter(other, email, password);
    await isIn(other);
    await own.page.getByLabel('Current password').fill(password);
    await own.page.getByLabel('New password').fill('another long password');
    await own.page.getByRole('button', { name: 'Change password' }).click();
    await own.page.locator('.toast').filter({ hasText: 'Password saved' }).first().waitFor();
    await other.page.reload();
    await other.page.getByLabel('Access token').waitFor();
    await own.page.getByLabel('Current password').fill('another long password');
    await own.page.getByText('Remove the password').click();
    await own.page.getByRole('button', { name: 'Remove password' }).click();
    await own.page.getByRole('button', { name: 'Set password' }).waitFor();
    own.expectNoProblems(/status of 422/);
    other.expectNoProblems(/status of 401/);
    await own.close();
    await other.close();
  });

  it('by the link that an administrator copies, and by an invitation', async () => {
    await addPerson(app, { name: 'Bob' });
    const lead = await signedIn(browser, app, adminToken, '/console/settings/agents');
    await lead.page.getByRole('button', { name: 'Send sign-in link to Bob' }).click();
    const link = (await lead.page.getByLabel('Sign-in link', { exact: true }).textContent())?.trim() ?? '';
    await expectAtAllWidths(lead);
    const bob = await browser.open();
    await bob.page.goto(link);
    await isIn(bob);
    await bob.page.locator('.person').getByText('Bob').waitFor();
    await lead.page.getByRole('button', { name: 'Invite an agent' }).click();
    await lead.page.getByLabel('Name').fill('Cleo');
    await lead.page.getByLabel('Email').fill('cleo@example.com');
    await lead.page.getByRole('button', { name: 'Invite', exact: true }).click();
    const invitation = (await lead.page.getByLabel('Invitation link', { exact: true }).textContent())?.trim() ?? '';
    const cleo = await browser.open();
    await cleo.page.goto(invitation);
    await expectAtAllWidths(cleo);
    await cleo.page.getByRole('button', { name: 'Accept and sign in' }).click();
    await isIn(cleo);
    expect(new URL(cleo.page.url()).pathname).to.match(/^\/console\//);
    await cleo.page.goto(app.url + security);
    await cleo.page.getByLabel('New password').fill(password);
    expect(await cleo.page.getByLabel('Current password').count()).to.equal(0);
    await cleo.page.keyboard.press('Enter');
    await cleo.page.getByRole('button', { name: 'Change password' }).waitFor();
    for (const watched of [lead, bob, cleo]) {
      watched.expectNoProblems();
      await watched.close();
    }
  });

  it('ends all other sign-ins by one button', async () => {
    const { headers } = await addPerson(app, { name: 'Dora' });
    const other = await signedIn(browser, app, headers.api_access_token);
    const own = await signedIn(browser, app, headers.api_access_token, '/console/settings/sign-ins');
    await own.page.getByRole('button', { name: 'Sign out everywhere else' }).click();
    await own.page.getByRole('button', { name: 'Yes' }).click();
    await own.page.locator('.toast').filter({ hasText: 'Signed out everywhere else.' }).first().waitFor();
    await other.page.reload();
    await other.page.getByLabel('Access token').waitFor();
    await own.page.reload();
    await isIn(own);
    own.expectNoProblems();
    await own.close();
    await other.close();
  });
});

describe('signing in by a mailed link', function () {
  this.timeout(120_000);
  const browser = new TestBrowser();
  let app: TestApp;
  let mail: MailServer;

  before(async function () {
    await browser.start(this);
    mail = await MailServer.start();
    app = await TestApp.start({ engine: false, config: { smtpUrl: mail.url, mailFrom: 'desk@example.com' } });
  });

  after(async () => {
    await browser.close();
    await app?.stop();
    await mail?.close();
  });

  it('leads a person who forgot the password to a new one', async () => {
    const { email } = await addPerson(app, { name: 'Ada' });
    const own = await browser.open();
    await own.page.goto(`${app.url}/console`);
    await own.page.getByRole('button', { name: 'Forgot password?' }).click();
    await own.page.getByText('Enter your email address first.').waitFor();
    await own.page.getByLabel('Email').fill(email);
    await own.page.getByRole('button', { name: 'Forgot password?' }).click();
    await own.page.getByText('a link is on its way').waitFor();
    await expectAtAllWidths(own);
    const sent = await app.eventually(async () => mail.received[0]);
    const text = sent.message.replaceAll('=\n', '').replaceAll('=3D', '=');
    await own.page.goto(/http:\S+#link=[\w-]+/.exec(text)?.[0] ?? '');
    await own.page.getByLabel('New password').fill('forgotten no more');
    await own.page.keyboard.press('Enter');
    await own.page.getByRole('button', { name: 'Change password' }).waitFor();
    expect(own.page.url()).to.not.include('link=');
    own.expectNoProblems();
    await own.close();
  });
});

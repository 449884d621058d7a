import { TestApp } from '../support/app.ts';
import { TestBrowser } from '../support/browser.ts';
import { expectAtAllWidths, signedIn } from '../support/console.ts';
import { codeOf } from '../support/one-time-codes.ts';
import { addPerson } from '../support/people.ts';

const security = '/console/settings/security';

describe('a second factor in the console', function () {
  this.timeout(120_000);
  const browser = new TestBrowser();
  let app: TestApp;
  let aheadMs = 0;
  const now = () => new Date(Date.now() + aheadMs);

  before(async function () {
    await browser.start(this);
    app = await TestApp.start({ engine: false, clock: { now } });
  });

  after(async () => {
    await browser.close();
    await app?.stop();
  });

  it('is set up by a code, asked for at the next sign-in, and removed by a recovery code', async () => {
    const { email, headers } = await addPerson(app, { name: 'Ada' });
    const watched = await signedIn(browser, app, headers.api_access_token, security);
    const { page } = watched;
    await page.getByLabel('New password').fill('correct horse battery');
    await page.getByRole('button', { name: 'Set password' }).click();
    await page.getByRole('button', { name: 'Change password' }).waitFor();
    await page.getByRole('button', { name: 'Set up second factor' }).click();
    const secret = (await page.getByLabel('Secret', { exact: true }).textContent())?.trim() ?? '';
    await page.getByRole('img', { name: 'Secret as a QR code' }).waitFor();
    await expectAtAllWidths(watched);
    await page.getByLabel('Code', { exact: true }).fill('000000');
    await page.getByRole('button', { name: 'Turn on' }).click();
    await page.getByText('The code is wrong, or was used already').first().waitFor();
    await page.getByLabel('Code', { exact: true }).fill(codeOf(secret, now()));
    await page.keyboard.press('Enter');
    const codes = (await page.getByLabel('Recovery codes', { exact: true }).textContent())?.trim().split('\n') ?? [];
    await expectAtAllWidths(watched);
    await page.getByRole('button', { name: 'Sign out', exact: true }).click();
    await page.getByLabel('Email').fill(email);
    await page.getByLabel('Password', { exact: true }).fill('correct horse battery');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { name: 'Enter your code' }).waitFor();
    await expectAtAllWidths(watched);
    await page.getByLabel('Code').fill('000000');
    await page.keyboard.press('Enter');
    await page.getByText('The code is wrong, or was used already').waitFor();
    aheadMs += 60_000;
    await page.getByLabel('Code').fill(codeOf(secret, now()));
    await page.keyboard.press('Enter');
    await page.getByRole('button', { name: 'Sign out', exact: true }).waitFor();
    await page.goto(app.url + security);
    await page.getByText('Renew the recovery codes').click();
    await page
      .getByLabel('Code', { exact: true })
      .last()
      .fill(codes[1] ?? '');
    await page.getByRole('button', { name: 'Renew recovery codes' }).click();
    await page.getByLabel('Recovery codes', { exact: true }).waitFor();
    const renewed = (await page.getByLabel('Recovery codes', { exact: true }).textContent())?.trim().split('\n') ?? [];
    await expectAtAllWidths(watched);
    await page
      .getByLabel('Code', { exact: true })
      .first()
      .fill(renewed[0] ?? '');
    await page.getByRole('button', { name: 'Remove second factor' }).click();
    await page.getByRole('button', { name: 'Set up second factor' }).waitFor();
    watched.expectNoProblems(/status of 4(01|22)/);
    await watched.close();
  });
});

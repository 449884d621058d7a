import { expect } from 'chai';
import { adminToken, TestApp } from '../support/app.ts';
import { TestBrowser } from '../support/browser.ts';
import { signedIn, widths } from '../support/console.ts';
import { addPerson } from '../support/people.ts';
import { xssTexts } from '../support/xss.ts';

describe('the platform in the console', function () {
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

  it('lists, makes, renames and deletes accounts, and checks the ledger', async () => {
    const watched = await signedIn(browser, app, adminToken, '/console/settings/platform');
    const { page } = watched;
    const button = (name: string) => page.getByRole('button', { name, exact: true });
    const accounts = async () =>
      (await app.get('/platform/api/v1/accounts')).body.payload.map(({ name }: { name: string }) => name);
    const [own] = await accounts();
    await page.getByRole('row', { name: own }).waitFor();
    await button('New account').click();
    await page.getByLabel('Name', { exact: true }).fill(' ');
    await button('Create').click();
    await page.getByRole('dialog').getByRole('alert').waitFor();
    await page.getByLabel('Name', { exact: true }).fill(xssTexts[1]!);
    await button('Create').click();
    await button(`Rename ${xssTexts[1]}`).click();
    await page.getByLabel('Name', { exact: true }).fill('Tenant two');
    await button('Save').click();
    await button('Delete Tenant two').waitFor();
    expect(await accounts()).to.have.members([own, 'Tenant two']);
    // The account in which one stands is not deleted by a slip.
    expect(await button(`Delete ${own}`).count()).to.equal(0);
    await button('Check ledger').click();
    await page.getByText('No violations').waitFor();
    for (const width of widths) {
      await page.setViewportSize({ width, height: 900 });
      await watched.expectAccessible();
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).to.be.at.most(0);
    }
    await button('Delete Tenant two').click();
    await button('Yes').click();
    await button('Delete Tenant two').waitFor({ state: 'detached' });
    expect(await accounts()).to.deep.equal([own]);
    watched.expectNoProblems(/status of 422/);
    await watched.close();
  });

  it('is not for administrators of an account alone, who are told so', async () => {
    const { headers } = await addPerson(app, { name: 'Grace', role: 'administrator' });
    const watched = await signedIn(browser, app, headers.api_access_token, '/console/settings/platform');
    await watched.page.getByText('Only platform administrators can open this page.').waitFor();
    const links = watched.page.getByRole('navigation', { name: 'Console' }).getByRole('link');
    expect(await links.allTextContents())
      .to.include('Account')
      .and.not.include('Platform');
    expect(await watched.page.getByRole('button', { name: 'New account' }).count()).to.equal(0);
    watched.expectNoProblems();
    await watched.close();
  });
});

import { expect } from 'chai';
import { adminToken, TestApp } from '../support/app.ts';
import { TestBrowser, type WatchedPage } from '../support/browser.ts';
import { expectAtAllWidths, loaded, signedIn } from '../support/console.ts';
import { addPerson } from '../support/people.ts';
import { addConversation, addInbox } from '../support/records.ts';

const path = '/console/contacts';
const attack = '<img src=x onerror=alert(1)>';

describe('contacts in the console', function () {
  this.timeout(120_000);
  const browser = new TestBrowser();
  let app: TestApp;
  let watched: WatchedPage;

  before(async function () {
    await browser.start(this);
    app = await TestApp.start();
    watched = await signedIn(browser, app, adminToken, path);
  });

  after(async () => {
    await browser.close();
    await app?.stop();
  });

  const make = async (contact: object): Promise<number> => (await app.post('contacts', contact)).body.id;
  const search = () => watched.page.getByLabel('Name, email, phone or identifier');
  const rows = () => watched.page.getByRole('table').getByRole('row');
  const open = async (id: number): Promise<void> => {
    await watched.page.goto(`${app.url}${path}/${id}`);
    await watched.page.getByRole('heading', { level: 2, name: 'About' }).waitFor();
    await loaded(watched.page);
  };
  const toast = (text: string) => watched.page.locator('.toast').getByText(text, { exact: true }).first().waitFor();

  it('are listed, searched, filtered by label, and led to from a conversation', async () => {
    const { page } = watched;
    const ada = await make({ name: `Ada ${attack}`, email: 'ada@example.com', phone_number: '+4930901820' });
    await make({ name: 'Bob Brown', identifier: 'crm-7' });
    await app.post('labels', { title: 'vip' });
    await app.post(`contacts/${ada}/labels`, { labels: ['vip'] });
    await page.reload();
    await page.getByRole('link', { name: 'Bob Brown' }).waitFor();
    await expectAtAllWidths(watched);
    await search().fill('crm-7');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Ada' }).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Bob Brown' }).waitFor();
    expect(await rows().count()).to.equal(2);
    await page.reload();
    expect(await search().inputValue()).to.equal('crm-7');
    await search().fill('nobody at all');
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Clear the search' }).click();
    await page.getByLabel('Label').selectOption('vip');
    await page.getByRole('link', { name: 'Bob Brown' }).waitFor({ state: 'detached' });
    await page.getByRole('link', { name: 'Ada' }).waitFor();
    expect(await rows().count()).to.equal(2);
    await page.getByLabel('Name', { exact: true }).fill('bob');
    await page.keyboard.press('Enter');
    await page.getByText('No contacts match.').waitFor();
    const id = await addConversation(app, await addInbox(app), { contactId: ada });
    await page.goto(`${app.url}/console/conversations/${id}`);
    await page.getByRole('link', { name: `Ada ${attack}` }).click();
    await page.getByRole('heading', { level: 1, name: `Ada ${attack}` }).waitFor();
    await page.getByRole('link', { name: `Conversation ${id}` }).waitFor();
    await expectAtAllWidths(watched);
    watched.expectNoProblems(/status of 4(04|22)/);
  });

  it('are created and edited by keyboard; what is wrong is said at its field, and unsaved text stays', async () => {
    const { page } = watched;
    await page.goto(app.url + path);
    await page.getByRole('link', { name: 'New contact' }).press('Enter');
    await page.getByLabel('Name').fill('Cleo');
    await page.getByLabel('Phone').fill('030 901820');
    await page.keyboard.press('Enter');
    await page.getByText('must be an international number').first().waitFor();
    await expectAtAllWidths(watched);
    await page.reload();
    expect(await page.getByLabel('Name').inputValue()).to.equal('Cleo');
    await page.getByLabel('Phone').fill('+4930901821');
    await page.keyboard.press('Enter');
    await page.getByRole('heading', { level: 1, name: 'Cleo' }).waitFor();
    await page.getByRole('button', { name: 'Edit' }).press('Enter');
    await page.getByLabel('Email').fill('cleo@example.com');
    await page.getByLabel('Phone').fill('');
    await page.keyboard.press('Enter');
    await toast('Saved.');
    const [cleo] = (await app.get('contacts/search?q=cleo')).body.payload;
    expect(cleo).to.include({ name: 'Cleo', email: 'cleo@example.com', phone_number: null });
    await app.patch(`contacts/${cleo.id}`, { name: 'Cleopatra' });
    await page.getByRole('heading', { level: 1, name: 'Cleopatra' }).waitFor();
    watched.expectNoProblems(/status of 4(04|22)/);
  });

  it('get notes and labels, are blocked and unblocked', async () => {
    const { page } = watched;
    const id = await make({ name: 'Dora' });
    await open(id);
    await page.getByLabel('Note', { exact: true }).fill(`Prefers mail\n${attack}`);
    await page.getByRole('button', { name: 'Add note' }).press('Enter');
    await page.getByText('Prefers mail').waitFor();
    expect(await page.getByLabel('Note', { exact: true }).inputValue()).to.equal('');
    expect((await app.get(`contacts/${id}/notes`)).body.payload[0].content).to.equal(`Prefers mail\n${attack}`);
    await page.getByRole('button', { name: 'Labels' }).click();
    await page.getByLabel('vip').check();
    await expectAtAllWidths(watched);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    expect((await app.get(`contacts/${id}/labels`)).body.payload).to.deep.equal(['vip']);
    await page.getByRole('button', { name: 'Block' }).click();
    await page.getByText('Blocked', { exact: true }).waitFor();
    expect((await app.get(`contacts/${id}`)).body.blocked).to.equal(true);
    await page.getByRole('button', { name: 'Unblock' }).click();
    await page.getByRole('button', { name: 'Block', exact: true }).waitFor();
    expect((await app.get(`contacts/${id}`)).body.blocked).to.equal(false);
    watched.expectNoProblems(/status of 4(04|22)/);
  });

  it('are written to in an inbox that reaches them', async () => {
    const { page } = watched;
    const id = await make({ name: 'Emil' });
    await open(id);
    await page.getByRole('button', { name: 'Write' }).click();
    await page.getByLabel('Message').fill('Good morning');
    await expectAtAllWidths(watched);
    await page.getByRole('button', { name: 'Send' }).click();
    await page.waitForURL(/\/console\/conversations\/\d+$/);
    await page.locator('.said').getByText('Good morning').waitFor();
    const [conversation] = (await app.get(`contacts/${id}/conversations`)).body.payload;
    expect(page.url()).to.match(new RegExp(`/${conversation.id}$`));
    watched.expectNoProblems(/status of 4(04|22)/);
  });

  it('are merged and deleted after a question; agents may not delete', async () => {
    const { page } = watched;
    const kept = await make({ name: 'Fritz' });
    const other = await make({ name: 'Fritz from mail', email: 'fritz@example.com' });
    await open(kept);
    await page.getByRole('button', { name: 'Merge' }).click();
    await page.getByLabel('Other contact').fill('fritz');
    await page.keyboard.press('Enter');
    const merge = page.getByRole('button', { name: 'Merge Fritz from mail' });
    await merge.waitFor();
    await expectAtAllWidths(watched);
    await merge.click();
    await page.getByRole('button', { name: 'Yes' }).click();
    await toast('Contacts merged.');
    expect((await app.get(`contacts/${kept}`)).body.email).to.equal('fritz@example.com');
    expect((await app.get(`contacts/${other}`)).status).to.equal(404);
    await page.getByText('fritz@example.com').waitFor();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'No', exact: true }).click();
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Yes' }).click();
    await toast('Contact deleted.');
    expect(new URL(page.url()).pathname).to.equal(path);
    expect((await app.get(`contacts/${kept}`)).status).to.equal(404);
    watched.expectNoProblems(/status of 4(04|22)/);
    const { headers } = await addPerson(app, { name: 'Gerd' });
    const agent = await signedIn(browser, app, headers.api_access_token, `${path}/${await make({ name: 'Hans' })}`);
    await agent.page.getByRole('button', { name: 'Write' }).waitFor();
    expect(await agent.page.getByRole('button', { name: 'Delete' }).count()).to.equal(0);
    agent.expectNoProblems();
    await agent.close();
  });

  it('with many conversations show how far their deletion is', async () => {
    const { page } = watched;
    const id = await make({ name: 'Ida' });
    const inboxId = await addInbox(app);
    await app.query(
      `INSERT INTO conversations (account_id, inbox_id, contact_id, status)
       SELECT 1, $1, $2, 'resolved' FROM generate_series(1, 2500)`,
      [inboxId, id],
    );
    await open(id);
    await page.getByRole('button', { name: 'Delete' }).click();
    await page.getByRole('button', { name: 'Yes' }).click();
    await page.getByText(/This contact is being deleted|Conversations still to be deleted/).waitFor();
    await page.getByRole('link', { name: 'New contact' }).waitFor();
    expect((await app.get(`contacts/${id}`)).status).to.equal(404);
    watched.expectNoProblems(/status of 4(04|22)/);
  });
});

import { expect } from 'chai';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { startDemo } from '../demo/demo-app.ts';
import { adminToken, type Answer, type TestApp } from '../support/app.ts';
import { TestBrowser } from '../support/browser.ts';
import { signedIn } from '../support/console.ts';
import { images, pictureBytes, takePicture } from '../support/picture.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const names = ['chat', 'conversations', 'conversation', 'run', 'delivery', 'charts'];
const size = { width: 1280, height: 800 };

/** What customers of a shop write, in which inbox. */
const questions: readonly [name: string, inbox: 1 | 2, words: string[]][] = [
  ['Mia Novak', 2, ['How much is express delivery?', 'Great, and can I return it?']],
  ['Jonas Berg', 1, ['What are your opening hours?']],
  ['Priya Shah', 2, ['My lamp is broken, is there a warranty?', 'Can I talk to a person, please?']],
  ['Tomás Ribeiro', 1, ['I want to speak to a human']],
  ['Lena Vogt', 2, ['When do I get my money back?']],
  ['Amara Okafor', 1, ['Can I pay by card?']],
];

describe('the pictures of the documentation', function () {
  this.timeout(170_000);

  it('are there, small, and shown', () => {
    expect(readdirSync(images).toSorted()).to.deep.equal(names.map((name) => `${name}.webp`).toSorted());
    const shown = ['README.md', 'docs/console.md'].map((page) => readFileSync(join(root, page), 'utf8')).join('');
    for (const name of names) {
      expect(statSync(join(images, `${name}.webp`)).size, name).to.be.within(1_000, pictureBytes);
      expect(shown).to.include(`images/${name}.webp`);
    }
  });

  describe('are taken', () => {
    const browser = new TestBrowser();
    let app: TestApp;
    let page: Page;

    before(async function () {
      if (process.env['SCREENSHOTS'] !== 'true') this.skip();
      await browser.start(this);
      app = await startDemo('the pictures');
    });

    after(async () => {
      await browser.close();
      await app?.stop();
    });

    it('of pages on which something has happened', async () => {
      const conversations = new Map<string, number>();
      for (const [name, inbox, words] of questions) {
        const found = (await app.get(`contacts/search?q=${encodeURIComponent(name)}`)).body.payload[0];
        const contact = found ?? (await app.post('contacts', { name })).body;
        const { id } = (await app.post('conversations', { inbox_id: inbox, contact_id: contact.id })).body;
        conversations.set(name, id);
        for (const content of words) {
          await app.post(`conversations/${id}/messages`, { content, message_type: 'incoming' });
          await app.eventually(async () => isAnswered(await messagesOf(id)), 20_000);
        }
      }
      const delivery = await fail(conversations.get('Jonas Berg')!);
      await people(conversations);
      await past();
      const watched = await signedIn(browser, app, adminToken);
      ({ page } = watched);
      await page.setViewportSize(size);
      const [run] = (await app.get(`conversations/${conversations.get('Mia Novak')}/runs`)).body.payload;
      await show('conversations', '/console/conversations');
      await show('conversation', `/console/conversations/${conversations.get('Priya Shah')}`);
      await show('run', `/console/runs/${run.id}`);
      await show('delivery', `/console/deliveries/${delivery}`);
      await show('charts', '/console/charts');
      await chat();
      watched.expectNoProblems();
    });

    const messagesOf = async (id: number): Promise<Answer['body'][]> =>
      (await app.get(`conversations/${id}/messages`)).body.payload;
    const isAnswered = (messages: Answer['body'][]): boolean =>
      messages.filter(({ private: isPrivate }) => !isPrivate).at(-1)?.message_type === 'outgoing';

    /** A message that the receiver refuses at first; the delivery. */
    async function fail(conversation: number): Promise<number> {
      await app.call('PUT', '/play/mode', { mode: 'fail' });
      await app.post(`conversations/${conversation}/messages`, { content: 'Thank you!', message_type: 'incoming' });
      const id = await app.eventually(async () => {
        const { payload } = (await app.get(`deliveries?conversation_id=${conversation}&state=failing`)).body;
        return payload[0]?.id as number | undefined;
      });
      await app.call('PUT', '/play/mode', { mode: 'ok' });
      await app.eventually(async () => (await app.get(`deliveries/${id}`)).body.state === 'delivered', 20_000);
      return id;
    }

    /** What people do: they take over, reply, label and resolve. */
    async function people(conversations: ReadonlyMap<string, number>): Promise<void> {
      const of = (name: string): string => `conversations/${conversations.get(name)}`;
      const { agent_id: me } = (await app.get('/api/v1/profile')).body.accounts[0];
      await app.post(`${of('Priya Shah')}/assignments`, { assignee_id: me });
      const reply =
        'Hello Priya, I am sorry about your lamp. Please send us a photo of the defect, then we repair or replace it.';
      await app.post(`${of('Priya Shah')}/messages`, { content: reply, message_type: 'outgoing' });
      await app.post(`${of('Priya Shah')}/labels`, { labels: ['complaint'] });
      await app.post(`${of('Lena Vogt')}/labels`, { labels: ['returns'] });
      await app.post(`${of('Amara Okafor')}/toggle_status`, { status: 'resolved' });
    }

    /** Two days of figures, as a shop has them: the charts are empty in the first hour. */
    async function past(): Promise<void> {
      await app.query(
        `INSERT INTO report_hours (account_id, hour, measure, count)
         SELECT 1, date_trunc('hour', now()) - g * interval '1 hour', m.measure,
           ceil(m.most * (0.35 + 0.65 * abs(sin(g * 0.26))) * (0.8 + 0.2 * abs(sin(g * 1.7))))
         FROM generate_series(1, 47) g, (VALUES ('messages:customers', 60), ('messages:bots', 44), ('messages:people', 15),
           ('handoffs:keyword', 5), ('handoffs:no_answer', 3), ('attempts', 130), ('delivered', 126), ('ms:18', 110), ('ms:26', 6),
           ('oldest_pending', 9)) AS m (measure, most)
         ON CONFLICT DO NOTHING`,
      );
    }

    async function show(name: string, path: string): Promise<void> {
      await page.goto(app.url + path);
      await page.getByRole('heading', { level: 1 }).waitFor();
      await page.waitForLoadState('load');
      await page.locator('.waiting').first().waitFor({ state: 'detached' });
      // What is loaded after what was loaded.
      await page.waitForTimeout(1_500);
      await takePicture(page, name);
    }

    async function chat(): Promise<void> {
      const shop = (await app.get('inboxes')).body.payload.find(({ id }: { id: number }) => id === 2);
      await page.goto(`${app.url}/chat/${shop.identifier}`);
      const answers = page.locator('.message:not(.own) .bubble');
      for (const [index, question] of ['How much is express delivery?', 'Can I talk to a person, please?'].entries()) {
        await page.getByRole('textbox', { name: 'Message' }).fill(question);
        await page.getByRole('button', { name: 'Send', exact: true }).click();
        await answers.nth(index).waitFor();
      }
      await page.getByRole('button', { name: 'Take over' }).click();
      await page.getByText('Shop assistant is paused: an agent is assigned.', { exact: true }).first().waitFor();
      await page.waitForTimeout(1_500);
      await takePicture(page, 'chat');
    }
  });
});

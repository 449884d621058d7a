import { expect } from 'chai';
import { existsSync } from 'node:fs';
import type { Page } from 'playwright-core';
import { newFolder, removeFolders } from '../boot/helpers.ts';
import { TestBrowser, WatchedPage } from '../support/browser.ts';
import { freePort } from '../support/service.ts';
import { endAtTerminal, shown, startAtTerminal, terminal, type Shown } from '../support/terminal.ts';

describe('the first minute', function () {
  this.timeout(170_000);
  const browser = new TestBrowser();
  let started: Shown | null = null;

  before(async function () {
    await browser.start(this);
    if (existsSync(terminal)) return;
    process.stderr.write(`  Skipped without ${terminal}\n`);
    this.skip();
  });

  after(async () => {
    if (started) await endAtTerminal(started);
    await browser.close();
    removeFolders();
  });

  const answers = (page: Page) => page.locator('.message:not(.own) .bubble');
  const say = async (page: Page, text: string): Promise<void> => {
    await page.getByRole('textbox', { name: 'Message' }).fill(text);
    await page.getByRole('button', { name: 'Send', exact: true }).click();
  };

  it('leads from npm start in an empty folder over an answer, a handoff and a takeover to a webhook that recovers', async () => {
    const began = performance.now();
    const laps: string[] = [];
    const lap = (what: string): void => void laps.push(`${what} ${((performance.now() - began) / 1000).toFixed(1)} s`);

    started = startAtTerminal('npm start', { PORT: String(await freePort()), DATA_DIR: newFolder() });
    const printed = await shown(started, /npm run demo\n/);
    lap('started');
    const chatLink = /^ {2}Chat page +(http\S+)$/m.exec(printed)?.[1] ?? '';
    const consoleLink = /^ {2}Console +(http\S+#link=\S+)$/m.exec(printed)?.[1] ?? '';

    const watched = await browser.open();
    const { page } = watched;
    await page.goto(chatLink);
    await say(page, 'What are your opening hours?');
    await answers(page).filter({ hasText: '9:00 to 18:00' }).waitFor();
    await answers(page).filter({ hasText: 'shop.example.com/help/opening-hours' }).waitFor();
    lap('answered');
    await say(page, 'Can I talk to a person, please?');
    await answers(page).filter({ hasText: 'I am getting a colleague for you' }).waitFor();
    lap('handed over');

    // The same browser: whoever is signed in sees on the chat page what happens behind it.
    const operator = await WatchedPage.watch(await page.context().newPage());
    await operator.page.goto(consoleLink);
    await operator.page.getByRole('button', { name: 'Sign out' }).waitFor();
    await page.reload();
    const behind = page.getByRole('region', { name: 'Behind the chat' });
    await behind.getByText('Shop assistant is paused: handed off to an agent.').waitFor();
    await behind.getByText('conversation status changed: open').waitFor();
    await behind.getByRole('button', { name: 'Take over' }).click();
    await behind.getByText('Shop assistant is paused: an agent is assigned.', { exact: true }).first().waitFor();
    lap('taken over');

    await behind.getByRole('button', { name: 'Fail deliveries' }).click();
    await behind.getByRole('button', { name: 'Stop failing deliveries' }).waitFor();
    const before = await answers(page).count();
    await say(page, 'And on Saturday?');
    const failed = behind.getByText(/Attempt 1 at .*: 500/).first();
    await failed.waitFor();
    await behind
      .getByText(/failing, next attempt at/)
      .first()
      .waitFor();
    await behind.getByRole('button', { name: 'Stop failing deliveries' }).click();
    // On a slow machine the second attempt comes before this, and the third a minute later.
    await behind
      .getByText(/Attempt [23] at .*: 200/)
      .first()
      .waitFor({ timeout: 90_000 });
    lap('recovered');

    // The same in the console: the conversation, why its bot was silent, and both attempts.
    await operator.page
      .getByRole('link', { name: /^Visitor|^Contact \d+/ })
      .first()
      .click();
    await operator.page
      .getByRole('status')
      .filter({ hasText: 'Shop assistant is paused: an agent is assigned.' })
      .waitFor();
    await operator.page.getByText('Attempt 1: 500').first().waitFor();
    await operator.page
      .getByText(/Attempt [23]: 200/)
      .first()
      .waitFor();
    lap('seen in the console');

    expect(await answers(page).count(), 'the bot has kept silent').to.equal(before);
    watched.expectNoProblems();
    operator.expectNoProblems();
    process.stderr.write(`      the first minute: ${laps.join(', ')}\n`);
  });
});

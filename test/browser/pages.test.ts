import { expect } from 'chai';
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { BotHouse } from '../runs/house.ts';
import { adminToken, type TestApp } from '../support/app.ts';
import { TestBrowser, type WatchedPage } from '../support/browser.ts';
import { expectAtAllWidths, signedIn } from '../support/console.ts';
import { makeHook, send } from '../support/hook-senders.ts';
import { addPerson } from '../support/people.ts';
import { Receiver } from '../support/receiver.ts';
import { xssTexts } from '../support/xss.ts';
import { walkByKeyboard } from '../support/keyboard.ts';

const pages = fileURLToPath(new URL('../../web/console/pages', import.meta.url));
const attack = xssTexts[1]!;

interface Row {
  path: string;
  nav: string | undefined;
  administrators: boolean;
  platform: boolean;
}

/** The rows of all sections, as their files state them. */
function readRows(): Row[] {
  return globSync(`${pages}/*/index.ts`)
    .toSorted()
    .flatMap((file) => [...readFileSync(file, 'utf8').matchAll(/\{ path: '([^']+)'([^}]*)view: \w+ \}/g)])
    .map(([, path = '', rest = '']) => ({
      path,
      nav: /nav: '([^']+)'/.exec(rest)?.[1],
      administrators: rest.includes('administrators: true'),
      platform: rest.includes('platform: true'),
    }));
}

const rows = readRows();

describe('every page of the console', function () {
  this.timeout(120_000);
  const browser = new TestBrowser();
  /** Ids in addresses, by the path of the view. */
  const ids: Record<string, unknown> = {};
  let house: BotHouse;
  let app: TestApp;
  let receiver: Receiver;
  let administrator: WatchedPage;
  let agent: WatchedPage;

  before(async function () {
    await browser.start(this);
    house = await BotHouse.open(
      {
        parrot: { on: { message_created: 'ctx.note(ctx.message.content)' }, permissions: { conversation: ['note'] } },
        shop: {
          on: { hook_received: '' },
          events: [],
          hooks: { orders: { verify: 'none' } },
          permissions: { hooks: true },
        },
      },
      { shipped: ['rules'] },
    );
    ({ app } = house);
    receiver = await Receiver.start();
    const { headers } = await addPerson(app, { name: `Grace ${attack}` });
    const webhook = (await app.post('webhooks', { url: receiver.url, subscriptions: ['message_created'] })).body;
    const { conversation } = await house.askAnew('parrot', attack);
    const { inbox_id: inbox, contact } = (await app.get(`conversations/${conversation}`)).body;
    await app.patch(`contacts/${contact.id}`, { custom_attributes: { [attack]: attack } });
    await app.patch(`conversations/${conversation}`, { custom_attributes: { [attack]: attack } });
    const hook = await makeHook(app, house.botOf('shop'), 'orders');
    const request = JSON.parse((await send(hook.url, JSON.stringify({ text: attack }))).text) as { id: string };
    const [run] = (await app.get(`conversations/${conversation}/runs`)).body.payload;
    const delivery = await app.eventually(async () => (await app.get('deliveries')).body.payload[0]?.id);
    const article = (await app.post('articles', { title: attack, content: attack, tags: ['a'] })).body;
    await app.post('labels', { title: 'vip' });
    await app.post('teams', { name: attack });
    await app.post('canned_responses', { short_code: attack, content: attack });
    await app.post('custom_attribute_definitions', {
      attribute_key: attack,
      attribute_model: 'contact_attribute',
      attribute_display_name: attack,
      attribute_display_type: 'list',
      attribute_values: [attack],
    });
    await app.post('sla_policies', { name: attack, first_response_seconds: 60, resolution_seconds: 600 });
    // From JSON: an object with `then` looks like a promise.
    const rule = JSON.parse('{"on":["contact_created"],"then":[{"action":"note","content":"x"}]}') as object;
    const rules = { config: { rules: [{ ...rule, name: attack }] }, active: false };
    const automation = (await app.post('automations', { name: attack, plugin_id: 'rules', ...rules })).body;
    const bot = (await app.get('agent_bots')).body.payload[0];
    Object.assign(ids, {
      '/console/conversations/:id': conversation,
      '/console/contacts/:id': contact.id,
      '/console/bots/:id': bot.id,
      '/console/bots/:id/unanswered': bot.id,
      '/console/bots/:id/evals': bot.id,
      '/console/automations/:id': automation.id,
      '/console/runs/:id': run.id,
      '/console/plugins/:plugin': 'parrot',
      '/console/knowledge/articles/:id': article.id,
      '/console/webhooks/:id': webhook.id,
      '/console/deliveries/:id': delivery,
      '/console/hooks/:id': hook.id,
      '/console/hooks/:id/requests/:request_id': [hook.id, request.id],
      '/console/settings/inboxes/:id': inbox,
    });
    const { id } = (await app.get('agents')).body.find(({ name }: { name: string }) => name.startsWith('Grace'));
    await app.post(`inboxes/${inbox}/members`, { user_ids: [id] });
    administrator = await signedIn(browser, app, adminToken, '/console/settings/labels');
    agent = await signedIn(browser, app, headers.api_access_token, '/console/settings/labels');
  });

  after(async () => {
    await browser.close();
    await house?.close();
    await receiver?.close();
  });

  async function visit({ page }: WatchedPage, address: string): Promise<void> {
    await page.goto(app.url + address);
    await page.getByRole('button', { name: 'Sign out', exact: true }).waitFor();
    await page.getByRole('heading', { level: 1 }).waitFor();
    await app.eventually(async () => (await page.locator('.waiting, [aria-busy=true]').count()) === 0);
  }

  /** Loads without a problem, at all widths, accessibly, and is walked through by keyboard. */
  async function inspect(watched: WatchedPage, address: string): Promise<void> {
    watched.problems.splice(0);
    await visit(watched, address);
    expect(await watched.page.locator('main [role=alert]').allTextContents(), address).to.deep.equal([]);
    await expectAtAllWidths(watched);
    expect(await walkByKeyboard(watched.page), `not reached by keyboard at ${address}`).to.deep.equal([]);
    expect(await watched.page.title()).to.match(/ · Switchboard$/);
    watched.expectNoProblems();
  }

  const addressOf = (path: string): string =>
    path.includes('/:')
      ? [ids[path]].flat().reduce<string>((address, id) => address.replace(/:\w+/, String(id)), path)
      : path;

  const linksOf = async (page: Page): Promise<string[]> =>
    page.getByRole('navigation', { name: 'Console' }).getByRole('link').allTextContents();

  it('is found in the files of its section', () => {
    expect(rows.length).to.be.at.least(30);
    const stated = globSync(`${pages}/*/index.ts`).map((file) => readFileSync(file, 'utf8').split('path:').length - 1);
    expect(rows).to.have.length(stated.reduce((all, one) => all + one, 0));
  });

  for (const row of rows) {
    const { path, nav, administrators, platform } = row;
    const forAll = !administrators && !platform;
    it(`${path}: for administrators, at all widths, by keyboard, accessibly`, async () => {
      const address = addressOf(path);
      expect(address, 'add a record for it above').to.not.match(/undefined/);
      await inspect(administrator, address);
      const links = await linksOf(administrator.page);
      if (nav !== undefined) expect(links).to.include(nav);
    });

    it(`${path}: ${forAll ? 'for agents too' : 'a sentence for agents, and no link'}`, async () => {
      const address = addressOf(path);
      await inspect(agent, address);
      const links = await linksOf(agent.page);
      if (nav !== undefined) expect(links.includes(nav)).to.equal(forAll);
      const refusal = agent.page.getByText(/^Only (platform )?administrators/);
      expect(await refusal.count(), address).to.equal(forAll ? 0 : 1);
    });
  }

  it('that is not there says so', async () => {
    await visit(administrator, '/console/nowhere');
    await administrator.page.getByRole('heading', { level: 1, name: 'Not found' }).waitFor();
  });

  const unknown = rows.filter(({ path }) => path.includes('/:')).map(({ path }) => path);
  for (const path of unknown) {
    it(`${path}: of a record that is not there shows the service's sentence`, async () => {
      const address = path.replaceAll(/:\w+/g, path.includes(':id') ? '999999' : 'nothing-of-this-name');
      administrator.problems.splice(0);
      await visit(administrator, address);
      const sentence = await administrator.page.getByRole('alert').first().textContent();
      expect(sentence).to.match(/^[A-Z].{8,}/);
      await expectAtAllWidths(administrator);
      administrator.expectNoProblems(/status of 404/);
    });
  }
});

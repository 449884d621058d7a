import { expect } from 'chai';
import type { Page } from 'playwright-core';
import { openConversation } from '../faults/plugins.ts';
import { BotHouse } from '../runs/house.ts';
import { adminToken, type TestApp } from '../support/app.ts';
import { TestBrowser, type WatchedPage } from '../support/browser.ts';
import { loaded, signedIn, widths } from '../support/console.ts';
import { FakeModelServer, replies } from '../support/model-server.ts';
import { addPerson } from '../support/people.ts';
import { xssTexts } from '../support/xss.ts';

const attack = xssTexts[1]!;

/** Says, writes and stores what it is told, a text each. */
const parrot = `const texts = JSON.parse(ctx.message.content);
  for (const text of texts) ctx.log.warn(text, { again: text });
  await ctx.storage.set('texts', { texts });
  for (const text of texts) ctx.note(text);
  ctx.handoff({ reason: texts.at(-1) });`;

describe('the pages of runs', function () {
  this.timeout(120_000);
  const browser = new TestBrowser();
  let house: BotHouse;
  let app: TestApp;
  let models: FakeModelServer;
  let watched: WatchedPage;
  let page: Page;

  before(async function () {
    await browser.start(this);
    models = await FakeModelServer.start();
    house = await BotHouse.open(
      {
        parrot: {
          on: { message_created: parrot },
          permissions: { conversation: ['note', 'handoff'], storage: { scopes: ['conversation'] } },
        },
        thrower: { on: { message_created: 'ctx.log.error("soon"); throw new Error(ctx.message.content)' } },
      },
      { shipped: ['ai-bot'], bodies: { parrot: { name: `Parrot ${attack}` } }, config: { burstQuietMs: 50 } },
    );
    ({ app } = house);
    watched = await signedIn(browser, app, adminToken, '/console/runs');
    ({ page } = watched);
  });

  after(async () => {
    await browser.close();
    await models?.close();
    await house?.close();
  });

  const visit = async (path: string): Promise<void> => {
    await page.goto(`${app.url}/console/${path}`);
    await page.getByRole('button', { name: 'Sign out' }).waitFor();
    await page.getByRole('heading', { level: 1 }).waitFor();
    await loaded(page);
  };
  const shown = async (): Promise<string> => (await page.locator('main').textContent()) ?? '';
  const rows = () => page.getByRole('row').filter({ has: page.getByRole('cell') });
  const listed = async (): Promise<string[]> => rows().locator('td:first-child a').allTextContents();
  const listOf = (count: number) => app.eventually(async () => (await rows().count()) === count);

  /** The run that answers a message; its conversation. */
  async function play(bot: string, content: string): Promise<{ id: number; conversation: number }> {
    const { conversation } = await house.askAnew(bot, content);
    const [run] = (await app.get(`conversations/${conversation}/runs`)).body.payload;
    return { id: run.id, conversation };
  }

  it('say what to do where there are none', async () => {
    await page.getByText('No runs yet').waitFor();
    expect(await page.locator('main').getByRole('link', { name: 'inbox' }).getAttribute('href')).to.equal(
      '/console/settings/inboxes',
    );
    await watched.expectAccessible();
  });

  it('list a run as soon as it was made, without a reload', async () => {
    await page.getByRole('status').filter({ hasText: 'Live' }).waitFor();
    const { id } = await play('parrot', '["Hello"]');
    await page.getByRole('link', { name: `Run ${id}` }).waitFor();
    const row = page.getByRole('row').filter({ hasText: `Run ${id}` });
    expect(await row.textContent())
      .to.include(`Parrot ${attack}`)
      .and.include('note, handoff');
  });

  it('show all of a run, and execute nothing of it', async () => {
    const { id, conversation } = await play('parrot', JSON.stringify(xssTexts));
    await visit(`runs/${id}`);
    const text = await shown();
    for (const one of xssTexts) expect(text).to.include(one);
    expect(await page.getByRole('link', { name: String(conversation), exact: true }).getAttribute('href')).to.equal(
      `/console/conversations/${conversation}`,
    );
    expect(text).to.include('storage.set').and.include('plugin: ');
    await page.getByText('storage.set', { exact: true }).click();
    await page.locator('summary').filter({ hasText: 'Event' }).click();
    expect(await page.getByLabel('Request 1', { exact: true }).textContent()).to.include('"texts"');
    for (const width of widths) {
      await page.setViewportSize({ width, height: 900 });
      await watched.expectAccessible();
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).to.be.at.most(0);
    }
    watched.expectNoProblems();
  });

  it('show how a run failed, and that nothing was done', async () => {
    const { id } = await play('thrower', attack);
    await visit(`runs/${id}`);
    const text = await shown();
    expect(text).to.include(`Error: ${attack}`).and.include('Handed off to an agent').and.include('bot.js');
    expect(text).to.include('Actions').and.include('soon');
    watched.expectNoProblems();
  });

  it('show what the model was told, by which passages, and what it said', async () => {
    await app.patch('/api/v1/accounts/1', {
      llm: { base_url: models.baseUrl, model: 'small', api_key: 'sk-4711' },
    });
    await app.post('articles', {
      title: `Opening hours ${attack}`,
      content: 'Our shop is open on weekdays from 9 to 18.',
      url: 'https://help.acme.example/hours',
    });
    const bot = await app.post('agent_bots', { kind: 'ai', name: 'Ada', system_prompt: `Be kind ${attack}` });
    const inbox = await app.post('inboxes', { name: 'Shop', channel: { type: 'api' } });
    await app.post(`inboxes/${inbox.body.id}/set_agent_bot`, { agent_bot: bot.body.id });
    models.expect([], replies.answer(`From 9 to 18 ${attack} [1].`));
    const conversation = await openConversation(app, inbox.body.id);
    await house.ask(conversation, 'When is your shop open?');
    const [run] = (await app.get(`conversations/${conversation}/runs`)).body.payload;
    await visit(`runs/${run.id}`);
    await page.getByRole('heading', { level: 2, name: 'Knowledge and model' }).waitFor();
    const text = await shown();
    expect(text).to.include('100 prompt, 20 completion').and.include('tool_calls').and.include('small');
    expect(text).to.include(`Be kind ${attack}`).and.include('When is your shop open?');
    const passage = page.getByRole('row', { name: /Opening hours/ });
    expect(await passage.textContent())
      .to.include(attack)
      .and.match(/\d\.\d{3}/);
    expect(await page.getByRole('link', { name: 'https://help.acme.example/hours' }).count()).to.equal(1);
    expect(await page.getByLabel('Tool calls 1', { exact: true }).textContent()).to.include('From 9 to 18');
    await watched.expectAccessible();
    // What is no address of the web is told, and leads nowhere.
    const swap = (from: string, to: string) =>
      app.query(`UPDATE bot_runs SET calls = replace(calls::text, $2, $3)::json WHERE id = $1`, [run.id, from, to]);
    await swap('https://help.acme.example/hours', 'javascript:alert(6)');
    await visit(`runs/${run.id}`);
    expect(await passage.textContent()).to.include('javascript:alert(6)');
    expect(await page.locator('a[href^="javascript"]').count()).to.equal(0);
    await swap('javascript:alert(6)', 'https://help.acme.example/hours');
    watched.expectNoProblems();
  });

  it('replay a run by keyboard, say that it is the same, or what is otherwise', async () => {
    const { id } = await play('parrot', '["one", "two"]');
    const press = async (): Promise<void> => {
      await visit(`runs/${id}`);
      await page.getByRole('button', { name: 'Replay' }).focus();
      await page.keyboard.press('Enter');
    };
    await press();
    await page.getByText('Identical to the recorded run').waitFor();
    const [{ actions }] = (await app.query<{ actions: object[] }>('SELECT actions FROM bot_runs WHERE id = $1', [
      id,
    ])) as [{ actions: { content?: string }[] }];
    const changed = [actions[0], { type: 'note', content: `other ${attack}` }, actions[2]];
    await app.query('UPDATE bot_runs SET actions = $2::json WHERE id = $1', [id, JSON.stringify(changed)]);
    await press();
    await page.getByText('Different from the recorded run').waitFor();
    const lines = page.getByRole('list', { name: 'Differences from the recorded run' }).getByRole('listitem');
    const told = (await lines.allTextContents()).map((line) => line.replace('Details', '|').split('|')[0]);
    expect(told).to.deep.equal([
      'as recorded noteone',
      `recorded only noteother ${attack}`,
      'replayed only notetwo',
      'as recorded handoff',
    ]);
    await watched.expectAccessible();
    await app.query('UPDATE bot_runs SET actions = $2::json WHERE id = $1', [id, JSON.stringify(actions)]);
    await app.query(`UPDATE bot_runs SET bundle_hash = 'gone', calls = '[]' WHERE id = $1`, [id]);
    await press();
    await page.getByRole('alert').filter({ hasText: 'The code of this run is not stored' }).waitFor();
    await app.query('UPDATE bot_runs SET erased_at = now() WHERE id = $1', [id]);
    await visit(`runs/${id}`);
    expect(await shown()).to.include('was erased with a message');
    expect(await page.getByRole('button', { name: 'Replay' }).count()).to.equal(0);
    watched.expectNoProblems(/status of 409/);
  });

  it('are filtered by bot, outcome and conversation, in the address, and go on by parts', async () => {
    const { id, conversation } = await play('thrower', 'the last one');
    await app.query(
      `INSERT INTO bot_runs (account_id, conversation_id, agent_bot_id, event_id, attempt, plugin_id, plugin_version,
         bundle_hash, config, seed, clock, outcome, actions, logs, wall_ms, created_at)
       SELECT account_id, conversation_id, agent_bot_id, event_id, n + 1, plugin_id, plugin_version, '', config, seed,
         clock, 'timeout', actions, logs, wall_ms, created_at - make_interval(hours => n)
       FROM bot_runs, generate_series(1, 30) n WHERE id = $1`,
      [id],
    );
    await visit('runs');
    await listOf(25);
    expect((await listed())[0]).to.equal(`Run ${id}`);
    await page.getByRole('button', { name: 'Show more' }).click();
    await page.getByRole('button', { name: 'Show more' }).waitFor({ state: 'detached' });
    const all = await listed();
    const { count } = (await app.query<{ count: number }>('SELECT count(*)::int AS count FROM bot_runs'))[0]!;
    expect([all.length, new Set(all).size]).to.deep.equal([count, count]);
    await page.getByLabel('Bot or automation').selectOption(`Parrot ${attack}`);
    await listOf(3);
    await page.getByLabel('Bot or automation').selectOption('thrower');
    await page.getByLabel('Outcome').selectOption('threw');
    await listOf(2);
    await page.getByLabel('Conversation ID').fill(String(conversation));
    await page.keyboard.press('Enter');
    await listOf(1);
    expect(new URL(page.url()).search).to.equal(
      `?agent_bot_id=${house.botOf('thrower')}&outcome=threw&conversation_id=${conversation}`,
    );
    await page.reload();
    await listOf(1);
    await page.getByLabel('Outcome').selectOption('memory');
    await page.getByText('No runs match these filters').waitFor();
    await page.getByLabel('Conversation ID').fill('999999');
    await page.getByRole('button', { name: 'Filter', exact: true }).click();
    await page.getByRole('alert').filter({ hasText: 'Conversation not found' }).waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await listOf(25);
    for (const width of widths) {
      await page.setViewportSize({ width, height: 900 });
      await watched.expectAccessible();
      expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth')).to.be.at.most(0);
    }
    watched.expectNoProblems(/status of 40[49]/);
  });

  it('show agents the runs of their inboxes, and a sentence for others', async () => {
    const { id } = await play('parrot', '["mine"]');
    const other = await play('thrower', 'not mine');
    const { id: user, headers } = await addPerson(app, { name: 'Katherine' });
    await app.post(`inboxes/${house.inboxOf('parrot')}/members`, { user_ids: [user] });
    const agent = await signedIn(browser, app, headers.api_access_token, '/console/runs');
    await agent.page.getByRole('link', { name: `Run ${id}` }).waitFor();
    expect(await agent.page.getByRole('link', { name: `Run ${other.id}` }).count()).to.equal(0);
    await agent.page.getByRole('link', { name: `Run ${id}` }).click();
    await agent.page.getByRole('heading', { level: 1, name: `Run ${id}` }).waitFor();
    await agent.page.getByRole('button', { name: 'Replay' }).click();
    await agent.page.getByText('Identical to the recorded run').waitFor();
    await agent.page.goto(`${app.url}/console/runs/${other.id}`);
    await agent.page.getByRole('alert').filter({ hasText: 'may not see' }).waitFor();
    await agent.page.goto(`${app.url}/console/runs/none`);
    await agent.page.getByRole('alert').waitFor();
    agent.expectNoProblems(/status of 40[034]/);
    await agent.close();
  });
});

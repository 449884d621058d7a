import { expect } from 'chai';
import { setTimeout as sleep } from 'node:timers/promises';
import { createSandbox } from '../../src/sandbox/parent/pool.ts';
import { botOf, requestOf } from '../sandbox/helpers.ts';
import { TestApp } from '../support/app.ts';
import { Platform } from '../support/platform.ts';
import { eventually, quantile } from './helpers.ts';
import { openConversation, pluginRootOf, serveInboxes } from './plugins.ts';

const crowd = 20;
const questions = 10;
// Half a turn of the crowd: a question that waited its turn behind them would see a whole one.
const mostBefore = crowd / 2;
const busyMs = 300;
const root = '/api/v1/accounts';

const burning = (turns: number): string =>
  `let x = 0; for (let i = 0; i < ${turns}; i++) x += Math.sqrt(i); ctx.log.info('' + x);`;

/** How many turns of `burning` take a bot about 300 ms on this machine now. */
async function calibrate(): Promise<number> {
  const sandbox = createSandbox({ size: 1, queueLimit: 1, maxRssMb: 256 });
  const limits = { sliceMs: 700, wallMs: 2_000, heapMb: 32 };
  const turns = 20_000_000;
  const times: number[] = [];
  for (let count = 0; count < 5; count += 1) {
    times.push((await sandbox.run(requestOf(botOf(burning(turns)), { limits }))).wallMs);
  }
  await sandbox.close();
  return Math.round((turns * busyMs) / Math.min(...times));
}

describe('the sandbox queue beside a crowd of another account', function () {
  this.timeout(120_000);
  let app: TestApp;
  let plugins: { path: string; remove: () => void };
  let neighbour: number;
  let neighbourInbox: number | undefined;
  let inboxes: Map<string, number>;

  before(async () => {
    const busy = burning(await calibrate());
    const names = Array.from({ length: crowd }, (_, index) => `busy-${index}`);
    const handlers = Object.fromEntries([...names, 'busy-alone'].map((name) => [name, busy]));
    plugins = pluginRootOf({ ...handlers, good: `ctx.reply('Heard: ' + ctx.message.content)` }, { sliceMs: 700 });
    app = await TestApp.start({ pluginRoot: plugins.path });
    const platform = new Platform(app);
    neighbour = (await platform.create('accounts', { name: 'Neighbour' })).id;
    const { id: me } = (await app.get('/api/v1/profile')).body;
    await platform.join(neighbour, me, 'administrator');
    inboxes = await serveInboxes(app, Object.keys(handlers));
    neighbourInbox = (await serveInboxes(app, ['good'], neighbour)).get('good');
  });
  after(async () => {
    await app.stop();
    plugins.remove();
  });

  afterEach(() =>
    app.query(
      `UPDATE deliveries SET state = 'cancelled', finished_at = now()
       WHERE account_id = 1 AND state = 'pending' AND lease_token IS NULL`,
    ),
  );

  /** How many runs of the crowd ended between a question and its answer, in a conversation of its own each. */
  async function ask(): Promise<number> {
    const id = await openConversation(app, neighbourInbox, neighbour);
    const message = { content: 'opening hours?', message_type: 'incoming' };
    await app.post(`${root}/${neighbour}/conversations/${id}/messages`, message);
    return eventually(async () => {
      const [row] = await app.query<{ before: number }>(
        `SELECT (SELECT count(*)::int FROM bot_runs r WHERE r.account_id = 1
           AND r.created_at BETWEEN question.created_at AND answer.created_at) AS before
         FROM messages answer JOIN messages question USING (conversation_id)
         WHERE conversation_id = $1 AND answer.sender_kind = 'agent_bot' AND question.message_type = 'incoming'`,
        [id],
      );
      return row ?? false;
    }).then(({ before }) => before);
  }

  async function askAll(): Promise<number[]> {
    const before: number[] = [];
    for (let count = 0; count < questions; count += 1) before.push(await ask());
    return before;
  }

  async function waiting(): Promise<number> {
    const [row] = await app.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM deliveries WHERE account_id = 1 AND endpoint_kind = 'bot' AND state = 'pending'`,
    );
    return row?.count ?? 0;
  }

  /** Keeps two events waiting for each conversation of the crowd; answers how many it saw waiting, time after time. */
  async function crowdUntil(
    enough: AbortSignal,
    conversations: readonly number[],
    filled: () => void,
  ): Promise<number[]> {
    const seen: number[] = [];
    while (!enough.aborted) {
      const missing = 2 * crowd - (await waiting());
      if (missing < crowd) filled();
      if (missing < crowd || seen.length > 0) seen.push(2 * crowd - missing);
      for (const id of conversations.slice(0, Math.max(0, missing))) {
        await app.post(`conversations/${id}/messages`, { content: 'Hello', message_type: 'incoming' });
      }
      await sleep(20);
    }
    return seen;
  }

  for (const [title, botOfConversation] of [
    [`${crowd} conversations of one bot`, () => 'busy-alone'],
    [`${crowd} bots`, (index: number) => `busy-${index}`],
  ] as const) {
    it(`answers for its own customers as ever beside ${title}`, async () => {
      await eventually(async () => (await waiting()) === 0);
      const conversations: number[] = [];
      for (let index = 0; index < crowd; index += 1) {
        conversations.push(await openConversation(app, inboxes.get(botOfConversation(index))));
      }
      const [enough, filled] = [new AbortController(), Promise.withResolvers<void>()];
      const crowding = crowdUntil(enough.signal, conversations, filled.resolve);
      await filled.promise;
      const crowded = await askAll();
      enough.abort();
      console.log(`      runs of the crowd before each answer: ${crowded.join(', ')}`);
      expect(quantile(await crowding, 0.2), 'the crowd waited nearly all the time').to.be.above(0);
      expect(quantile(crowded, 0.5)).to.be.below(mostBefore);
    });
  }
});

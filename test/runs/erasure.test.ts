import { expect } from 'chai';
import { Client } from 'pg';
import { callScheduled } from '../../src/domain/bots/schedules.ts';
import type { Answer } from '../support/app.ts';
import { BotHouse } from './house.ts';

const permissions = {
  conversation: ['reply'],
  history: 2,
  storage: { scopes: ['conversation', 'contact'] },
  schedule: true,
};
const repeats = `
  ctx.log.info('heard', { text: ctx.message.content });
  await ctx.storage.contact.set('last', ctx.message.content.toUpperCase());
  ctx.schedule({ inSeconds: 600 }, 'later', ctx.message.content);
  ctx.reply('You said: ' + JSON.stringify({ text: ctx.message.content }));`;
const remembers = `
  const before = await ctx.storage.get('before');
  await ctx.storage.set('before', ctx.message.content);
  if (ctx.message.content === 'fail') throw new Error('after ' + before);
  ctx.reply(before ? 'Before that: ' + before : 'Nothing before');`;
/** A text whose form as JSON is another one. */
const secret = 'my card is "4111 1111"\nand \\ more';

describe('the text of a deleted message', function () {
  this.timeout(60_000);
  let house: BotHouse;

  before(async () => {
    house = await BotHouse.open(
      {
        repeater: { on: { message_created: repeats }, permissions },
        keeper: { on: { message_created: remembers }, permissions: { ...permissions, history: 0 } },
        reminder: {
          on: {
            message_created: `ctx.schedule({ inSeconds: 60 }, 'a', { said: ctx.message.content }); ctx.schedule({ inSeconds: 9999 }, 'b', ctx.message.content);`,
            schedule: `ctx.log.info('woken');`,
          },
          permissions: { schedule: true },
        },
        gatherer: { on: { message_created: 'await ctx.settled();' } },
      },
      { config: { burstQuietMs: 2_500, burstMaxMs: 10_000 } },
    );
  });
  after(() => house.close());

  // oxlint-disable-next-line typescript/no-explicit-any
  type Run = any;

  /** The runs of a conversation, oldest first. */
  async function runsIn(conversation: number): Promise<Run[]> {
    return (await house.app.get(`conversations/${conversation}/runs`)).body.payload.toReversed();
  }

  async function messageOf(conversation: number, content: string): Promise<number> {
    const { payload } = (await house.app.get(`conversations/${conversation}/messages`)).body;
    return payload.find((message: { content: string }) => message.content.includes(content)).id;
  }

  const remove = (conversation: number, message: number): Promise<Answer> =>
    house.app.delete(`conversations/${conversation}/messages/${message}`);

  /** How often a text is anywhere in the records of runs in a conversation. */
  async function recordsWith(conversation: number, text: string): Promise<number> {
    const rows = await house.app.query(
      `SELECT FROM bot_runs r JOIN events e ON e.account_id = r.account_id AND e.id = r.event_id
       WHERE r.conversation_id = $1 AND concat(r, e) LIKE '%' || $2 || '%'`,
      [conversation, text],
    );
    return rows.length;
  }

  function expectErased(run: Run): void {
    expect(run).to.deep.include({ calls: [], actions: [], logs: [], error: null });
    expect(run.erased_at).to.be.closeTo(Date.now() / 1000, 60);
  }

  it('is in no run that got it as its event or in its history, and in all others as before', async () => {
    const elsewhere = await house.conversation('repeater');
    await house.ask(elsewhere, secret);
    const id = await house.conversation('repeater');
    for (const content of ['first', secret, 'third', 'fourth', 'fifth']) await house.ask(id, content);
    const earlier = await runsIn(id);
    expect(await recordsWith(id, '4111')).to.equal(2);
    expect((await remove(id, await messageOf(id, '4111'))).status).to.equal(200);
    expect(await recordsWith(id, '4111')).to.equal(0);
    const [first, second, third, fourth, fifth] = await runsIn(id);
    expectErased(second);
    expectErased(third);
    expect(second.event.body).to.include({ content: '' });
    const { id: run, outcome, seed, created_at: at, config } = earlier[1];
    expect(second).to.deep.include({ id: run, outcome, seed, created_at: at, config });
    expect([first, fourth, fifth]).to.deep.equal([earlier[0], earlier[3], earlier[4]]);
    expect(await recordsWith(elsewhere, '4111')).to.equal(1);
  });

  it('is in no run that came to it in another way', async () => {
    const id = await house.conversation('keeper');
    for (const content of [secret, 'second', 'fourth']) await house.ask(id, content);
    const other = await house.conversation('keeper');
    for (const content of [secret, 'fail']) await house.ask(other, content);
    for (const conversation of [id, other]) {
      expect(await recordsWith(conversation, '4111')).to.equal(2);
      await remove(conversation, await messageOf(conversation, '4111'));
      expect(await recordsWith(conversation, '4111')).to.equal(0);
    }
    const runs = await runsIn(id);
    expect(runs.map(({ erased_at: at }) => at !== null)).to.deep.equal([true, true, false]);
    expect((await runsIn(other)).map(({ outcome }) => outcome)).to.deep.equal(['ok', 'threw']);
  });

  it('is in nothing that a bot wanted to be told later, nor in the run that was told it', async () => {
    const id = await house.conversation('reminder');
    await house.ask(id, secret);
    await house.app.query(`UPDATE bot_schedules SET at = now() WHERE conversation_id = $1 AND name = 'a'`, [id]);
    await callScheduled(house.app.app.database);
    await house.runAfter(id, 1);
    expect(await recordsWith(id, '4111')).to.equal(2);
    await remove(id, await messageOf(id, '4111'));
    expect(await recordsWith(id, '4111')).to.equal(0);
    expectErased((await runsIn(id))[1]);
    const waiting = await house.app.query('SELECT name, data FROM bot_schedules WHERE conversation_id = $1', [id]);
    expect(waiting).to.deep.equal([{ name: 'b', data: null }]);
  });

  it('is in no run that got it in a burst', async () => {
    const id = await house.conversation('gatherer');
    for (const content of ['first', '42']) await house.say(id, content);
    await house.runAfter(id, 1);
    const [first] = await runsIn(id);
    expect(first.calls[0].output[0]).to.include({ content: '42' });
    await remove(id, await messageOf(id, '42'));
    for (const run of await runsIn(id)) expectErased(run);
  });

  it('is in no run that wrote it', async () => {
    const id = await house.conversation('keeper');
    await house.ask(id, 'only');
    await remove(id, await messageOf(id, 'Nothing before'));
    const [run] = await runsIn(id);
    expectErased(run);
    expect(run.event.body.content).to.equal('only');
  });

  it('is not in a run that was under way', async () => {
    const id = await house.conversation('keeper');
    const blocker = new Client({ connectionString: house.app.databaseUrl });
    await blocker.connect();
    try {
      await blocker.query('BEGIN; LOCK TABLE bot_storage IN ACCESS EXCLUSIVE MODE');
      await house.say(id, secret);
      const isWaiting = `SELECT FROM pg_locks WHERE NOT granted AND relation = 'bot_storage'::regclass`;
      await house.app.eventually(async () => (await house.app.query(isWaiting)).length > 0);
      await remove(id, await messageOf(id, '4111'));
      await blocker.query('COMMIT');
    } finally {
      await blocker.end();
    }
    await house.runAfter(id, 0);
    const [run] = await runsIn(id);
    expect(run.outcome).to.equal('ok');
    expectErased(run);
    expect(await recordsWith(id, '4111')).to.equal(0);
  });

  it('keeps its run from being repeated, and says why', async () => {
    const id = await house.conversation('repeater');
    await house.ask(id, 'to be deleted');
    const [run] = await runsIn(id);
    const replay = () => house.app.post(`runs/${run.id}/replay`);
    expect((await replay()).body).to.include({ identical: true });
    await remove(id, await messageOf(id, 'to be deleted'));
    const { status, body } = await replay();
    expect([status, body.code]).to.deep.equal([409, 'run_erased']);
    expect(body.error).to.contain('deleted, together with a message');
  });

  it('goes with the contact: runs, what bots stored, and what they want to be called for', async () => {
    const id = await house.conversation('repeater');
    await house.ask(id, secret);
    const { id: contact } = (await house.app.get(`conversations/${id}`)).body.contact;
    const left = async () => {
      const counts = ['bot_runs', 'bot_schedules'].map(
        (table) => `(SELECT FROM ${table} WHERE conversation_id = ${id})`,
      );
      const stored = `(SELECT FROM bot_storage WHERE contact_id = ${contact} OR conversation_id = ${id})`;
      return (await house.app.query([...counts, stored].join(' UNION ALL '))).length;
    };
    expect(await left()).to.equal(3);
    expect((await house.app.delete(`contacts/${contact}`)).status).to.equal(200);
    expect(await left()).to.equal(0);
  });
});

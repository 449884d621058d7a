import { expect } from 'chai';
import { Client } from 'pg';
import { mergeStorageChanges } from '../../src/domain/upkeep/storage-totals.ts';
import { BotHouse } from './house.ts';

const most = 3_000;
const storage = { scopes: ['conversation', 'contact', 'installation'], maxBytes: 2_048 };
const keeper = {
  on: {
    message_created: `const [what, scope, key, size] = ctx.message.content.split(' ');
      const place = ctx.storage[scope];
      const done = what === 'drop' ? place.delete(key) : place.set(key, 'x'.repeat(Number(size)));
      const problem = await done.then(() => null, (error) => [error.code, error.message]);
      ctx.note(JSON.stringify(problem));`,
  },
  permissions: { conversation: ['note'], storage },
};

const adder = {
  on: { message_created: `await ctx.storage.installation.incr('sum', Number(ctx.message.content))` },
  permissions: { conversation: ['note'], storage },
};

const counter = {
  on: {
    message_created: `const { storage } = ctx;
      if (ctx.message.content === 'begin') await storage.set('tries', 7, { ttl: 60 });
      else ctx.note(JSON.stringify([await storage.get('tries'), await storage.incr('tries')]));`,
  },
  permissions: { conversation: ['note'], storage },
};

describe('what a bot may store in an account', function () {
  this.timeout(60_000);
  let house: BotHouse;

  before(async () => {
    house = await BotHouse.open(
      { keeper, twin: keeper, crowd: keeper, adder, counter },
      { config: { botStorageBytes: most } },
    );
  });
  after(() => house.close());

  /** The problem that the bot was told, null for none. */
  async function tell(conversation: number, content: string): Promise<[code: string, message: string] | null> {
    const run = await house.ask(conversation, content);
    expect(run.outcome, JSON.stringify(run.error)).to.equal('ok');
    return JSON.parse(run.actions.at(-1)!['content'] as string) as [string, string] | null;
  }

  /** What is counted, and what is there. */
  async function totals(bot = 'keeper'): Promise<{ counted: number; there: number }> {
    const sum = (table: string) => `(SELECT coalesce(sum(bytes), 0)::int FROM ${table} WHERE agent_bot_id = $1)`;
    const [row] = await house.app.query<{ counted: number; there: number }>(
      `SELECT ${sum('bot_storage_totals')} + ${sum('bot_storage_changes')} AS counted, ${sum('bot_storage')} AS there`,
      [house.botOf(bot)],
    );
    return row!;
  }

  async function expectCounted(bytes: number): Promise<void> {
    expect(await totals()).to.deep.equal({ counted: bytes, there: bytes });
    await mergeStorageChanges(house.app.app.database);
    expect(await totals()).to.deep.equal({ counted: bytes, there: bytes });
    expect(await house.app.query('SELECT FROM bot_storage_changes')).to.deep.equal([]);
  }

  it('is bounded over all conversations and contacts together, and each bot has its own', async () => {
    const [one, two, three] = [
      await house.conversation('keeper'),
      await house.conversation('keeper'),
      await house.conversation('keeper'),
    ];
    expect(await tell(one, 'keep conversation a 1500')).to.equal(null);
    expect(await tell(two, 'keep contact a 1400')).to.equal(null);
    await expectCounted(1500 + 1400 + 6);
    const full = await tell(three, 'keep installation a 200');
    expect(full?.[0]).to.equal('storage_full');
    expect(full?.[1]).to.contain('3000 bytes').and.contain('BOT_STORAGE_BYTES');
    expect((await tell(one, 'keep conversation b 1000'))?.[1]).to.contain('permissions.storage.maxBytes');
    expect(await tell(await house.conversation('twin'), 'keep contact a 2000')).to.equal(null);
    // What is there may shrink, and its room be used elsewhere.
    expect(await tell(one, 'keep conversation a 1000')).to.equal(null);
    await expectCounted(1000 + 1400 + 6);
    expect(await tell(three, 'keep installation a 200')).to.equal(null);
    expect(await tell(one, 'drop conversation a')).to.equal(null);
    await expectCounted(1400 + 200 + 6);
  });

  it('gets room again by what is deleted with its conversation or its contact', async () => {
    const before = (await totals()).there;
    const id = await house.conversation('keeper');
    await tell(id, 'keep conversation a 100');
    await tell(id, 'keep contact a 100');
    await expectCounted(before + 206);
    await house.app.delete(`contacts/${(await house.app.get(`conversations/${id}`)).body.contact.id}`);
    await expectCounted(before);
  });

  /** Lets runs read what is stored, and write when so many of them wait for it. */
  async function together(waiting: number, start: () => Promise<unknown>, insert = 'SELECT 1'): Promise<void> {
    const blocker = new Client({ connectionString: house.app.databaseUrl });
    await blocker.connect();
    try {
      await blocker.query('BEGIN; LOCK TABLE bot_storage IN SHARE ROW EXCLUSIVE MODE');
      const isWaiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      await start();
      await house.app.eventually(async () => (await house.app.query(isWaiting)).length >= waiting);
      await blocker.query(insert);
      await blocker.query('COMMIT');
    } finally {
      await blocker.end();
    }
  }

  for (const [what, scope, size] of [
    ['in a place', 'installation', 900],
    ['in all places together', 'conversation', 1_400],
  ] as const) {
    it(`is never more ${what} when runs end at once, each of which has found room`, async () => {
      await house.app.query('DELETE FROM bot_storage WHERE agent_bot_id = $1', [house.botOf('crowd')]);
      const [first, ...others] = await Promise.all([1, 2, 3].map(() => house.conversation('crowd')));
      expect((await house.ask(first!, `keep ${scope} first ${size}`)).outcome).to.equal('ok');
      await together(2, () => Promise.all(others.map((id, at) => house.say(id, `keep ${scope} own${at} ${size}`))));
      const ends = await Promise.all(others.map((id) => house.runAfter(id, 0)));
      expect(ends.map(({ outcome }) => outcome).toSorted()).to.deep.equal(['ok', 'storage_full']);
      expect(await totals('crowd')).to.deep.include({ there: 2 * (size + 2) + 'first'.length + 'own0'.length });
    });
  }

  it('is a number only while it is one: a sum that became too large meanwhile ends one run, once', async () => {
    expect((await house.askAnew('adder', '1')).run.outcome).to.equal('ok');
    const ids = [await house.conversation('adder'), await house.conversation('adder')];
    await together(2, () => Promise.all(ids.map((id) => house.say(id, '1.7e308'))));
    const ends = await Promise.all(ids.map((id) => house.runAfter(id, 0)));
    expect(ends.map(({ outcome }) => outcome).toSorted()).to.deep.equal(['ok', 'storage_failed']);
    expect(ends.find(({ outcome }) => outcome !== 'ok')?.error).to.contain('`sum` is too large');
    const settled = () => house.app.query(`SELECT FROM deliveries WHERE endpoint_kind = 'bot' AND state = 'pending'`);
    await house.app.eventually(async () => (await settled()).length === 0);
    for (const id of ids) expect(await house.runs(id)).to.have.lengthOf(1);
    const [stored] = await house.app.query<{ value: string }>(`SELECT value::text FROM bot_storage WHERE key = 'sum'`);
    expect(Number(stored?.value)).to.equal(1.7e308);
  });

  it('is checked again when a run ends: what others have stored meanwhile counts', async () => {
    const id = await house.conversation('keeper');
    const insert = `INSERT INTO bot_storage (account_id, agent_bot_id, key, value, bytes)
      VALUES (1, ${house.botOf('keeper')}, 'other', '1', 1300)`;
    await together(1, () => house.say(id, 'keep conversation late 600'), insert);
    const run = await house.runAfter(id, 0);
    expect(run.outcome).to.equal('storage_full');
    expect(run.error).to.contain('BOT_STORAGE_BYTES');
    const stored = await house.app.query(`SELECT FROM bot_storage WHERE key = 'late'`);
    expect(stored).to.deep.equal([]);
    expect((await totals()).counted).to.equal((await totals()).there);
  });

  it('is forgotten with the bot', async () => {
    const bot = house.botOf('twin');
    expect(await totals('twin')).to.deep.equal({ counted: 2003, there: 2003 });
    expect((await house.app.delete(`agent_bots/${bot}`)).status).to.equal(200);
    expect(await totals('twin')).to.deep.equal({ counted: 0, there: 0 });
    const tables = ['bot_storage_totals', 'bot_storage_changes'];
    for (const table of tables)
      expect(await house.app.query(`SELECT FROM ${table} WHERE agent_bot_id = ${bot}`)).to.deep.equal([]);
  });

  it('counts from nothing once a value has expired, and goes on counting from there', async () => {
    const id = await house.conversation('counter');
    await house.ask(id, 'begin');
    await house.app.query(`UPDATE bot_storage SET expires_at = now() - interval '1 second' WHERE key = 'tries'`);
    const count = async () => JSON.parse((await house.ask(id, 'count')).actions[0]!['content'] as string) as unknown;
    expect(await count()).to.deep.equal([null, 1]);
    expect(await count()).to.deep.equal([1, 2]);
  });
});

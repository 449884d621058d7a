import { expect } from 'chai';
import { setTimeout as sleep } from 'node:timers/promises';
import { hashToken, lastFour } from '../../src/lib/secrets/tokens.ts';
import { sandboxPids } from '../sandbox/helpers.ts';
import { TestApp, type Answer } from '../support/app.ts';
import { eventually, seededRandom, tellSeed } from './helpers.ts';
import { eventsOf, messagesOf, openConversation, pluginRootOf, roundsFor, serveInboxes, think } from './plugins.ts';

const slowRuns = 24;
const races = 60;
const kills = 3;
const overdue = ['timeout', 'unresponsive'];
const botToken = 'token-of-the-webhook-bot-of-this-test';

const claimedStatement = `SELECT FROM deliveries d JOIN events e ON e.account_id = d.account_id AND e.id = d.event_id
  WHERE e.conversation_id = $1 AND d.endpoint_kind = 'bot' AND d.attempt > 0`;

type TakeOver = (app: TestApp, conversationId: number) => Promise<Answer>;

/** The ways in which a person takes a conversation, each with what tells its event from others. */
const ways: Readonly<Record<string, { act: TakeOver; event: string }>> = {
  assigned: {
    act: (app, id) => app.post(`conversations/${id}/assignments`, { assignee_id: 1 }),
    event: `name = 'conversation_updated' AND account_payload->'changed_attributes'->'assignee_id' IS NOT NULL`,
  },
  replied: {
    act: (app, id) => app.post(`conversations/${id}/messages`, { content: 'I am on it', message_type: 'outgoing' }),
    event: `name = 'message_created' AND account_payload->'sender'->>'type' = 'User'`,
  },
  opened: {
    act: (app, id) => app.post(`conversations/${id}/toggle_status`, { status: 'open' }),
    event: `name = 'conversation_status_changed' AND account_payload->>'status' = 'open'`,
  },
};
const wayNames = Object.keys(ways);

/** The places in the conversation's order of the take-over and of the bot's public messages. */
async function placesOf(app: TestApp, id: number, event: string): Promise<{ human: number; bot: number[] }> {
  const human = await app.query<{ sequence: number }>(
    `SELECT min(sequence) AS sequence FROM events WHERE conversation_id = $1 AND ${event}`,
    [id],
  );
  const bot = await app.query<{ sequence: number }>(
    `SELECT sequence FROM events WHERE conversation_id = $1 AND name = 'message_created'
       AND account_payload->'sender'->>'type' = 'AgentBot' AND account_payload->>'private' = 'false'`,
    [id],
  );
  return { human: Number(human[0]?.sequence), bot: bot.map(({ sequence }) => sequence) };
}

describe('a human who takes over', function () {
  this.timeout(60_000);
  let app: TestApp;
  let root: { path: string; remove: () => void };
  let random: () => number;
  let inboxes: Map<string, number>;

  before(async () => {
    random = seededRandom(tellSeed());
    const thinking = (ms: number) => `${think.toString()} ctx.reply('An answer ' + think(${roundsFor(ms)}));`;
    root = pluginRootOf({ slow: thinking(250), quick: thinking(120) }, { sliceMs: 700 });
    app = await TestApp.start({ pluginRoot: root.path });
    inboxes = await serveInboxes(app, ['slow', 'quick']);
  });

  after(async () => {
    await app.stop();
    root.remove();
  });

  const ask = (id: number) => app.post(`conversations/${id}/messages`, { content: 'Hello?', message_type: 'incoming' });

  /** Waits until the bot's deliveries of the conversation have ended; answers how. */
  function botDeliveries(id: number): Promise<{ state: string; last_error: string | null }[]> {
    return eventually(async () => {
      const rows = await app.query<{ state: string; last_error: string | null }>(
        `SELECT d.state, d.last_error FROM deliveries d JOIN events e ON e.account_id = d.account_id AND e.id = d.event_id
         WHERE e.conversation_id = $1 AND d.endpoint_kind = 'bot' ORDER BY d.id`,
        [id],
      );
      return rows.length > 0 && rows.every(({ state }) => state !== 'pending') && rows;
    });
  }

  it(`while a bot thinks is not talked over, ${slowRuns} times at random moments`, async () => {
    const seen: Record<string, number> = {};
    const attempts = Array.from({ length: slowRuns }, (_, number) => wayNames[number % wayNames.length]!);
    const takeOver = async (way: string): Promise<void> => {
      const { act, event } = ways[way]!;
      const id = await openConversation(app, inboxes.get('slow'));
      const delayMs = random() * 400;
      expect((await ask(id)).status).to.equal(201);
      await sleep(delayMs);
      expect((await act(app, id)).status).to.be.oneOf([200, 201]);
      const deliveries = await botDeliveries(id);
      const { human, bot } = await placesOf(app, id, event);
      expect(human).to.be.above(0);
      expect(
        bot.filter((sequence) => sequence > human),
        `${way} after ${delayMs} ms`,
      ).to.deep.equal([]);
      expect(bot.length).to.be.at.most(1);
      const outcome = bot.length === 1 ? 'answered before' : (deliveries[0]?.last_error ?? 'none');
      seen[outcome] = (seen[outcome] ?? 0) + 1;
      if (bot.length === 0) expect(outcome).not.to.equal('none');
    };
    // As many at once as there are sandboxes: the bots think all the time.
    while (attempts.length > 0) await Promise.all(attempts.splice(0, 2).map(takeOver));
    console.log(`      ${JSON.stringify(seen)}`);
    expect(seen['superseded'] ?? 0, 'runs that were under way').to.be.above(0);
  });

  it(`is not talked over by a bot's own server either, ${races} times at once`, async () => {
    const inboxId = await webhookBotInbox(app);
    const seen: Record<number, number> = {};
    const race = async (number: number): Promise<void> => {
      const { act, event } = ways[wayNames[number % wayNames.length]!]!;
      const id = await openConversation(app, inboxId);
      const say = async (isPrivate: boolean): Promise<Answer> => {
        const message = { content: 'An answer', message_type: 'outgoing', private: isPrivate };
        return app.post(`conversations/${id}/messages`, message, { api_access_token: botToken });
      };
      const after = async (ms: number, work: () => Promise<Answer>): Promise<Answer> => {
        await sleep(ms);
        return work();
      };
      const [answer, taken] = await Promise.all([
        after(random() * 12, () => say(false)),
        after(random() * 12, () => act(app, id)),
      ]);
      seen[answer.status] = (seen[answer.status] ?? 0) + 1;
      const { human, bot } = await placesOf(app, id, event);
      expect(human, JSON.stringify([number, taken.status, taken.body])).to.be.above(0);
      if (answer.status === 201) {
        expect(bot).to.have.lengthOf(1);
        expect(bot[0]).to.be.below(human);
      } else {
        expect([answer.status, answer.body.code]).to.deep.equal([403, 'bot_suppressed']);
        expect(bot).to.deep.equal([]);
      }
      expect((await say(false)).status).to.equal(403);
      expect((await say(true)).status).to.equal(201);
    };
    const numbers = Array.from({ length: races }, (_, number) => number);
    while (numbers.length > 0) await Promise.all(numbers.splice(0, 6).map(race));
    console.log(`      ${JSON.stringify(seen)}`);
    expect(Object.keys(seen)).to.have.members(['201', '403']);
  });

  it(`a sandbox killed while the bot thinks: one answer, not two and not none, ${kills} times`, async () => {
    let crashes = 0;
    // A kill may come too late; then it proves nothing, and is tried again.
    for (let attempt = 0; crashes < kills && attempt < 20 * kills; attempt += 1) {
      const id = await openConversation(app, inboxes.get('quick'));
      await ask(id);
      // Claimed, and perhaps done already.
      await eventually(async () => (await app.query(claimedStatement, [id])).length > 0);
      await sleep(random() * 60);
      for (const pid of sandboxPids()) process.kill(pid, 'SIGKILL');
      await botDeliveries(id);
      const runs = await app.query<{ outcome: string }>(
        'SELECT outcome FROM bot_runs WHERE conversation_id = $1 ORDER BY id',
        [id],
      );
      // Nor does a bot that a busy machine has kept from thinking for too long.
      if (overdue.includes(runs.at(-1)?.outcome ?? '')) continue;
      expect(runs.at(-1)).to.deep.equal({ outcome: 'ok' });
      crashes += runs.filter(({ outcome }) => outcome === 'crashed').length;
      const messages = await messagesOf(app, id);
      expect(messages.map((message) => message.sender_kind)).to.deep.equal(['contact', 'agent_bot']);
      expect(await eventsOf(app, id)).to.deep.equal(['conversation_created', 'message_created', 'message_created']);
    }
    expect(crashes).to.be.at.least(kills);
  });
});

describe('a run that is held up', function () {
  this.timeout(60_000);
  let root: { path: string; remove: () => void };
  let app: TestApp;

  beforeEach(() => {
    // It thinks of nothing: what keeps its runs is the gate, however busy the machine is.
    root = pluginRootOf({ plain: `ctx.reply('An answer');` }, { sliceMs: 700 });
  });

  afterEach(async () => {
    await app.stop();
    root.remove();
  });

  /** Asks the bot something in a new conversation, behind a closed gate. */
  async function ask(leaseSeconds: number): Promise<{ id: number; open: () => Promise<void> }> {
    app = await TestApp.start({ pluginRoot: root.path, config: { leaseSeconds } });
    const { open } = await closeGate(app);
    const id = await openConversation(app, (await serveInboxes(app, ['plain'])).get('plain'));
    await app.post(`conversations/${id}/messages`, { content: 'Hello?', message_type: 'incoming' });
    return { id, open };
  }

  const isAnswered = (id: number) => eventually(async () => (await messagesOf(app, id)).length > 1);

  /** What came of it once nothing is under way any more. */
  async function endOf(id: number): Promise<{ senders: string[]; runs: unknown[]; attempts: unknown[] }> {
    await isAnswered(id);
    const leased = `SELECT FROM lanes WHERE endpoint_kind = 'bot' AND lease_token IS NOT NULL`;
    await eventually(async () => (await app.query(leased)).length === 0);
    return {
      senders: (await messagesOf(app, id)).map((message) => message.sender_kind),
      runs: await app.query('SELECT outcome, attempt FROM bot_runs WHERE conversation_id = $1', [id]),
      attempts: await app.query(
        `SELECT a.number, a.outcome FROM attempts a JOIN deliveries d ON d.id = a.delivery_id
         WHERE d.endpoint_kind = 'bot' ORDER BY a.number`,
      ),
    };
  }

  it('longer than a lease lasts answers once, in one attempt', async () => {
    const { id, open } = await ask(4);
    await sleep(9_000);
    await open();
    expect(await endOf(id)).to.deep.equal({
      senders: ['contact', 'agent_bot'],
      runs: [{ outcome: 'ok', attempt: 1 }],
      attempts: [{ number: 1, outcome: 'delivered' }],
    });
  });

  it('a run that outlives its lease says nothing: the one that took over does', async () => {
    const { id, open } = await ask(30);
    const claims = async (count: number): Promise<void> => {
      const claimed = `SELECT FROM deliveries WHERE lease_token IS NOT NULL AND attempt = ${count}`;
      await eventually(async () => (await app.query(claimed)).length === 1);
    };
    await claims(1);
    await app.query('UPDATE lanes SET due_at = now() WHERE lease_token IS NOT NULL');
    app.app.engine.poke();
    await claims(2);
    await open();
    expect(await endOf(id)).to.deep.equal({
      senders: ['contact', 'agent_bot'],
      runs: [{ outcome: 'ok', attempt: 2 }],
      attempts: [
        { number: 1, outcome: 'unknown' },
        { number: 2, outcome: 'delivered' },
      ],
    });
  });
});

/**
 * Keeps every run from writing its record until the gate opens: a run then outlives its lease however fast it was. What
 * waits here holds its conversation, so it ends before another run of the conversation does.
 */
async function closeGate(app: TestApp): Promise<{ open: () => Promise<void> }> {
  await app.query('CREATE TABLE gate (shut boolean)');
  await app.query('INSERT INTO gate VALUES (true)');
  await app.query(`CREATE FUNCTION wait_at_gate() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN
      WHILE EXISTS (SELECT FROM gate) LOOP PERFORM pg_sleep(0.01); END LOOP;
      RETURN NEW;
    END $$`);
  await app.query(
    'CREATE TRIGGER bot_runs_gate BEFORE INSERT ON bot_runs FOR EACH ROW EXECUTE FUNCTION wait_at_gate()',
  );
  return { open: async () => void (await app.query('DELETE FROM gate')) };
}

describe('a bot that takes its time', function () {
  this.timeout(60_000);

  it('or its turn, longer than a lease lasts answers once, in one attempt', async () => {
    // Each call that fails ends one stretch of computation and begins the next.
    const long = `${think.toString()} for (let i = 0; i < 2; i++) { think(${roundsFor(400)}); await ctx.call('none').catch(() => 0); } ctx.reply('Done')`;
    const names = ['long', 'slow', 'late', 'lazy'];
    const root = pluginRootOf(Object.fromEntries(names.map((name) => [name, long])), { sliceMs: 700 });
    const app = await TestApp.start({ pluginRoot: root.path, config: { leaseSeconds: 3, sandboxRunners: 1 } });
    try {
      const inboxes = await serveInboxes(app, names);
      const ids: number[] = [];
      for (const name of [...names, ...names]) ids.push(await openConversation(app, inboxes.get(name)));
      for (const id of ids)
        await app.post(`conversations/${id}/messages`, { content: 'Hello?', message_type: 'incoming' });
      const waits = await eventually(async () => {
        const rows = await app.query<{ ms: number }>(
          `SELECT (extract(epoch FROM max(created_at) - min(created_at)) * 1000)::float8 AS ms FROM messages
           WHERE conversation_id = ANY ($1) GROUP BY conversation_id HAVING count(*) = 2`,
          [ids],
        );
        return rows.length === ids.length && rows.map(({ ms }) => ms);
      });
      expect(Math.max(...waits)).to.be.above(3_300);
      const runs = await app.query<{ attempt: number }>('SELECT attempt FROM bot_runs');
      expect(runs.map(({ attempt }) => attempt)).to.deep.equal(ids.map(() => 1));
      expect(await app.query(`SELECT FROM attempts WHERE outcome = 'unknown'`)).to.deep.equal([]);
    } finally {
      await app.stop();
      root.remove();
    }
  });
});

/** An inbox served by a bot with a server of its own, which hears nothing and speaks by its token. */
async function webhookBotInbox(app: TestApp): Promise<number> {
  const [inbox] = await app.query<{ id: number }>(
    `WITH bot AS (
       INSERT INTO agent_bots (account_id, name, kind, outgoing_url, secret, events)
       VALUES (1, 'Webhook bot', 'webhook', 'https://bot.example/hook', 'sealed', ARRAY['message_created']) RETURNING id
     ), token AS (
       INSERT INTO access_tokens (agent_bot_id, token_hash, last_four) SELECT id, $1, $2 FROM bot
     )
     INSERT INTO inboxes (account_id, name, channel_type, identifier, agent_bot_id)
     SELECT 1, 'Webhook bot', 'Channel::Api', 'webhook-bot', id FROM bot RETURNING id`,
    [hashToken(botToken), lastFour(botToken)],
  );
  return inbox?.id ?? 0;
}

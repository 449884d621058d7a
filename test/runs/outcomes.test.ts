import { expect } from 'chai';
import { BotHouse, type TestBot } from './house.ts';

/** What the bots do, by the customer's message. */
const plays = {
  nothing: `ctx.reply('')`,
  endless: `ctx.reply('x'.repeat(2e7))`,
  hoarder: `const kept = []; for (let at = 0; at < 780; at += 1) kept.push(new Array(20_000).fill(at)); for (;;);`,
  stuck: `const sparse = []; sparse.length = 2 ** 32 - 1; sparse.lastIndexOf(1)`,
  thinker: `for (let sum = 0, at = 0; at < 1.5e8; at += 1) sum += at % 7; ctx.reply('Well')`,
};
type Play = keyof typeof plays;
const cases = Object.entries(plays).map(([name, code]) => `case '${name}': { ${code}; break; }`);
const player: TestBot = {
  on: { message_created: `switch (ctx.message.content) { ${cases.join('\n')} }` },
  permissions: { conversation: ['reply'] },
  limits: { sliceMs: 700, heapMb: 128 },
};
const crowd = ['one', 'two', 'three', 'four', 'five'];

describe('how runs end, as the API tells it', function () {
  this.timeout(60_000);
  let house: BotHouse;

  before(async () => {
    house = await BotHouse.open(
      {
        player,
        ...Object.fromEntries(crowd.map((id) => [id, player])),
        deaf: { on: {}, events: ['message_created'] },
        // The check at the installation looks at a clock that stands at 0.
        dated: { on: { message_created: '' }, top: `if (Date.now() > 0) throw new RangeError('not in this century');` },
      },
      { config: { sandboxRunners: 1, sandboxQueue: 1, sandboxMaxRssMb: 128 } },
    );
  });
  after(() => house.close());
  beforeEach(() => house.app.post(`agent_bots/${house.botOf('player')}/release`));

  // oxlint-disable-next-line typescript/no-explicit-any
  type Run = any;

  async function runOf(conversation: number): Promise<Run> {
    return house.app.eventually(async () => {
      const { body } = await house.app.get(`conversations/${conversation}/runs`);
      return body.payload.at(-1);
    });
  }

  async function play(what: Play | 'anything', bot = 'player'): Promise<{ conversation: number; run: Run }> {
    const conversation = await house.conversation(bot);
    await house.say(conversation, what);
    return { conversation, run: await runOf(conversation) };
  }

  /** People have the conversation, with a note that names the outcome. */
  async function expectHandedOver(conversation: number, outcome: string): Promise<void> {
    expect((await house.app.get(`conversations/${conversation}`)).body.status).to.equal('open');
    const { payload } = (await house.app.get(`conversations/${conversation}/messages`)).body;
    expect(payload.at(-1)).to.include({ private: true }).and.have.property('content').that.contains(`(${outcome})`);
  }

  async function expectListed({ id, outcome, agent_bot_id: bot }: Run): Promise<void> {
    const { payload } = (await house.app.get(`agent_bots/${bot}/runs?outcome=${outcome}`)).body;
    expect(payload.map((run: Run) => run.id)).to.include(id);
  }

  for (const [what, outcome, error] of [
    ['nothing', 'invalid_actions', /content/],
    ['endless', 'output_too_large', /./],
    ['stuck', 'unresponsive', /./],
  ] as const) {
    it(outcome, async () => {
      const { conversation, run } = await play(what);
      expect(run).to.deep.include({ outcome, actions: [], attempt: 1 });
      expect(run.error.message).to.match(error);
      await expectListed(run);
      await expectHandedOver(conversation, outcome);
    });
  }

  it('rss_limit', async () => {
    let played = await play('hoarder');
    // A starved machine looks at the memory too late, once in a while.
    for (let more = 0; more < 10 && played.run.outcome === 'timeout'; more += 1) {
      // Five failures in a row would have quarantined it.
      await house.app.post(`agent_bots/${house.botOf('player')}/release`);
      played = await play('hoarder');
    }
    expect(played.run).to.deep.include({ outcome: 'rss_limit', actions: [] });
    await expectListed(played.run);
    await expectHandedOver(played.conversation, 'rss_limit');
  });

  it('no_handler, with which nothing happens', async () => {
    const { conversation, run } = await play('anything', 'deaf');
    expect(run).to.deep.include({ outcome: 'no_handler', actions: [], attempt: 1 });
    expect(run.error.message).to.contain('message_created');
    await expectListed(run);
    expect((await house.app.get(`conversations/${conversation}`)).body.status).to.equal('pending');
  });

  it('load_failed, with the line at which the code could not be loaded', async () => {
    const { conversation, run } = await play('anything', 'dated');
    expect(run).to.deep.include({ outcome: 'load_failed', actions: [], calls: [] });
    expect(run.error.message).to.contain('not in this century');
    expect(run.error.stack).to.contain('bot.js:2');
    await expectListed(run);
    await expectHandedOver(conversation, 'load_failed');
  });

  it('queue_full, and the next attempt', async () => {
    const conversations = await Promise.all(crowd.map((id) => house.conversation(id)));
    await Promise.all(conversations.map((conversation) => house.say(conversation, 'thinker')));
    const runs: Run[] = [];
    for (const conversation of conversations) runs.push(await runOf(conversation));
    const refused = runs.filter(({ outcome }) => outcome === 'queue_full');
    expect(refused).to.have.length.of.at.least(1);
    const [first] = refused;
    expect(first).to.deep.include({ actions: [], calls: [], cpu_ms: 0 });
    expect(first.error.message).to.contain('waiting');
    await expectListed(first);
    const next = await house.app.eventually(async () => {
      const { payload } = (await house.app.get(`conversations/${first.conversation_id}/runs`)).body;
      return payload.find(({ attempt }: Run) => attempt === 2);
    });
    expect(next.event.id).to.equal(first.event.id);
  });
});

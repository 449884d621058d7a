import { expect } from 'chai';
import { simulate } from 'switchboard/testing';
import { messagesOf } from '../faults/plugins.ts';
import { makeBot, removeBots } from '../testing/helpers.ts';
import { BotHouse, type RunRow } from './house.ts';

const permissions = { conversation: ['reply', 'note', 'handoff', 'resolve', 'snooze', 'open', 'assign'] };
// The bot does what the message says.
const told = `await (new Function('ctx', 'return (async () => {' + ctx.message.content + '})()'))(ctx);`;
/** Pairs of actions that each end the bot's part, in another way. */
const pairs = [
  ['handoff', `ctx.handoff('x')`, 'resolve', 'ctx.resolve()'],
  ['resolve', 'ctx.resolve()', 'open', 'ctx.open()'],
  ['snooze', 'ctx.snooze({ inSeconds: 60 })', 'handoff', `ctx.handoff('x')`],
  ['open', 'ctx.open()', 'snooze', 'ctx.snooze({ inSeconds: 60 })'],
  ['snooze', 'ctx.snooze({ inSeconds: 60 })', 'resolve', 'ctx.resolve()'],
] as const;

describe('the order of a run', function () {
  this.timeout(60_000);
  let house: BotHouse;
  let memberId: number;

  before(async () => {
    house = await BotHouse.open({
      told: { on: { message_created: told }, permissions },
      ...Object.fromEntries(
        pairs.map(([one, first, other, second]) => [
          `${one}-${other}`,
          { on: { message_created: `try {\n${first};\n  ${second};\n} catch {}\nctx.reply('Hi');` }, permissions },
        ]),
      ),
    });
    const { app } = house;
    memberId = (await app.post('agents', { name: 'Member', email: 'member@example.com', role: 'agent' })).body.id;
    await app.post('teams', { name: 'Sales' });
    await app.query('INSERT INTO inbox_members (account_id, inbox_id, user_id) VALUES (1, $1, $2)', [
      house.inboxOf('told'),
      memberId,
    ]);
  });
  // Each run is replayed there.
  after(async () => {
    await house.close();
    removeBots();
  });

  async function doing(bot: string, code?: string) {
    const { conversation: id, run } = await house.askAnew(bot, code);
    const { body } = await house.app.get(`conversations/${id}`);
    const words = (await messagesOf(house.app, id)).map(({ content }) => content).slice(1);
    return { run, conversation: body, words };
  }

  for (const [before, status] of [
    [`ctx.handoff({ reason: 'r', message: 'One moment' })`, 'open'],
    ['ctx.open()', 'open'],
    ['ctx.resolve()', 'resolved'],
    ['ctx.snooze({ inSeconds: 3600 })', 'snoozed'],
    ['ctx.assign({ assignee: MEMBER })', 'pending'],
  ] as const) {
    it(`has the replies first, and then ${before}`, async () => {
      const code = before.replace('MEMBER', String(memberId));
      const { run, conversation, words } = await doing('told', `${code}; ctx.reply('One'); ctx.reply('Two');`);
      expect([run.outcome, run.error]).to.deep.equal(['ok', null]);
      expect(words.slice(0, 2)).to.deep.equal(['One', 'Two']);
      expect(conversation.status).to.equal(status);
    });
  }

  it('lets a bot hand off and assign, in whatever order', async () => {
    for (const code of [
      `ctx.handoff('x'); ctx.assign({ team: 'Sales', assignee: ${memberId} });`,
      `ctx.assign({ assignee: ${memberId} }); ctx.open(); ctx.assign({ team: 'Sales' });`,
    ]) {
      const { run, conversation } = await doing('told', code);
      expect([run.outcome, run.error]).to.deep.equal(['ok', null]);
      expect(conversation.status).to.equal('open');
      expect([conversation.meta.assignee.id, conversation.meta.team.name]).to.deep.equal([memberId, 'Sales']);
    }
  });

  for (const [one, , other] of pairs) {
    it(`cannot have both ${one} and ${other}, even if the bot catches: the error names both lines, and people get it`, async () => {
      const { run, conversation, words } = await doing(`${one}-${other}`);
      expect(run.outcome).to.equal('invalid_actions');
      const [, first, second] = linesIn(run, one, other);
      expect(Number(second)).to.equal(Number(first) + 1);
      expect(run.actions).to.deep.equal([]);
      expect(conversation.status).to.equal('open');
      expect(words).to.deep.equal([`The bot ${one}-${other} could not answer (invalid_actions). Please take over.`]);
    });
  }

  it('is the same where a bot hides its stack', async () => {
    const { run } = await doing('told', `Error.stackTraceLimit = 0; ctx.resolve(); ctx.open();`);
    expect(run.outcome).to.equal('invalid_actions');
    expect(run.error).to.include('ctx.resolve and ctx.open exclude each other');
    await house.app.post(`agent_bots/${house.botOf('told')}/release`);
  });

  it('is the same in a simulation, whose transcript names the lines', async () => {
    const code = `message_created(ctx) {
  ctx.handoff('x');
  ctx.resolve();
},`;
    const sim = await simulate(makeBot(code, { permissions }));
    await sim.customer('Hello');
    expect(sim.transcript()).to.match(
      /ctx\.handoff \(bot\.ts:5:\d+\) and ctx\.resolve \(bot\.ts:6:\d+\) exclude each other/,
    );
    expect(sim.conversation.status).to.equal('open');
    const late = await simulate(makeBot(`message_created(ctx) { ctx.resolve(); ctx.reply('Bye'); },`, { permissions }));
    await late.customer('Thanks');
    late.expectReply('Bye');
    expect(late.conversation.status).to.equal('resolved');
  });
});

function linesIn({ error }: RunRow, one: string, other: string): RegExpExecArray {
  const place = String.raw` \(bot\.js:(\d+):\d+\)`;
  const found = new RegExp(`ctx\\.${one}${place} and ctx\\.${other}${place} exclude each other`).exec(error ?? '');
  if (!found) throw new Error(`No lines in ${error}`);
  return found;
}

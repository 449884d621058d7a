import { expect } from 'chai';
import { simulate, simulateChannel } from 'switchboard/testing';
import { makeAutomation, makeBot, makePackage, removeBots } from './helpers.ts';

const told = (name: string) =>
  `${name}(ctx) { const { actor } = ctx.event; ctx.log.info([ctx.event.event, actor && actor.type, ctx.event.depth].join(' ')); },`;

async function failureOf(work: () => Promise<unknown>): Promise<string> {
  try {
    await work();
  } catch (error) {
    return (error as Error).message;
  }
  throw new Error('It did not fail');
}

describe('the test kit, with an automation', function () {
  this.timeout(60_000);
  after(removeBots);

  it('calls it for each event that it hears, whoever has the conversation, and not for its own changes', async () => {
    const events = ['conversation_created', 'message_created', 'conversation_updated', 'conversation_status_changed'];
    const sim = await simulate(
      makeAutomation(
        `${told('conversation_created')} ${told('conversation_updated')} ${told('conversation_status_changed')}
        message_created(ctx) { ctx.log.info(ctx.message.content); ctx.label.add('seen'); ctx.note('Read: ' + ctx.message.content); },`,
        { events },
      ),
    );
    const heard = () => sim.runs().flatMap(({ logs }) => logs.map(({ message }) => message));
    expect(sim.conversation).to.deep.include({ status: 'open', bot: null, muted: false, sla_policy_id: null });
    await sim.customer('Hello');
    expect(heard()).to.deep.equal(['conversation_created contact 0', 'Hello']);
    await sim.human.takesOver();
    await sim.customer('Anybody?');
    await sim.human.says('Yes');
    await sim.human.resolves();
    expect(heard().slice(2)).to.deep.equal([
      'conversation_updated user 0',
      'Anybody?',
      'Yes',
      'conversation_status_changed user 0',
    ]);
    expect(sim.notes()).to.deep.equal(['Read: Hello', 'Read: Anybody?', 'Read: Yes']);
    expect(sim.conversation.labels).to.deep.equal(['seen']);
    expect(sim.runs().every(({ outcome }) => outcome === 'ok')).to.equal(true);
    expect(sim.transcript()).to.contain('automation (note): Read: Anybody?').and.not.contain('bot (note)');
  });

  it('replies where no person has the conversation, and its run has no effect elsewhere', async () => {
    const sim = await simulate(makeAutomation('message_created(ctx) { ctx.reply("We are closed."); },'));
    await sim.customer('Hello');
    sim.expectReply('We are closed.');
    await sim.human.takesOver();
    await sim.customer('Hello?');
    sim.expectSilence();
    expect(sim.runs().map(({ outcome }) => outcome)).to.deep.equal(['ok', 'superseded']);
  });

  it('mutes the contact, and sets the SLA policy and the bot', async () => {
    const sim = await simulate(
      makeAutomation(
        `message_created(ctx) {
          if (ctx.message.content === 'stop') return ctx.mute();
          if (ctx.message.content === 'none') { ctx.sla(null); return ctx.bot(null); }
          ctx.sla(3);
          ctx.bot(5);
        },`,
        { permissions: { conversation: ['mute', 'sla', 'bot'] } },
      ),
    );
    const ends = () => sim.runs().map(({ outcome, error }) => error ?? outcome);
    await sim.customer('Hello');
    expect(ends()).to.deep.equal(['ok']);
    expect(sim.conversation).to.deep.include({ sla_policy_id: 3, bot: { id: 5, name: 'Bot 5' }, muted: false });
    await sim.customer('none');
    expect(sim.conversation).to.deep.include({ sla_policy_id: null, bot: null });
    await sim.customer('stop');
    expect(ends()).to.deep.equal(['ok', 'ok', 'ok']);
    expect(sim.conversation).to.deep.include({ muted: true, silence: 'contact_blocked' });
    expect(sim.transcript()).to.contain('contact_updated: blocked false → true');
  });

  it('hands nothing off when it fails, and nothing happens of the run', async () => {
    const sim = await simulate(
      makeAutomation(
        'message_created(ctx) { ctx.label.add("half"); ctx.mute(); ctx.note("x", { conversation_id: 99 }); },',
        {
          permissions: { conversation: ['label', 'mute', 'note'] },
        },
      ),
    );
    await sim.customer('Hello');
    expect(sim.runs().map(({ outcome }) => outcome)).to.deep.equal(['not_found']);
    expect(sim.notes()).to.deep.equal([]);
    expect(sim.conversation).to.deep.include({ status: 'open', labels: [], muted: false, silence: null });
  });

  it('calls it when it has scheduled a call: the sample first-response reminds', async () => {
    const sim = await simulate('bots/first-response', {
      secrets: { WEBHOOK_PATH: 'services/T1' },
      fetch: [{ url: /hooks\.slack\.com/, reply: { status: 200 } }],
    });
    await sim.customer('Hello');
    await sim.advance(29 * 60);
    expect(sim.requests()).to.deep.equal([]);
    await sim.advance(60);
    expect(sim.requests()[0]!.body).to.contain('has waited 30 minutes');
    await sim.human.says('Hello');
    await sim.advance(3_600);
    expect(sim.requests()).to.have.length(1);
  });

  it('plays the bot of a package of several kinds, or the part that `kind` names', async () => {
    const partOf = (kind: string, conversation: string[]) => ({
      kind,
      main: `${kind}.ts`,
      events: ['message_created'],
      permissions: { conversation },
    });
    const about = { id: 'sample', name: 'Sample', version: '1.0.0', apiVersion: '1' };
    const both = makePackage({
      'plugin.json': JSON.stringify({ ...about, parts: [partOf('automation', ['label']), partOf('bot', ['reply'])] }),
      'bot.ts': 'export default { on: { message_created(ctx) { ctx.reply("Hi"); } } };',
      'automation.ts': 'export default { on: { message_created(ctx) { ctx.label.add("new"); } } };',
    });
    const bot = await simulate(both);
    await bot.customer('Hello');
    bot.expectReply('Hi');
    const automation = await simulate(both, { kind: 'automation' });
    await automation.customer('Hello');
    automation.expectSilence();
    expect(automation.conversation.labels).to.deep.equal(['new']);
    const alone = makeBot('message_created() {},');
    const refusal = await failureOf(() => simulate(alone, { kind: 'automation' }));
    expect(refusal).to.equal('sample has no part of the kind automation');
  });

  it('refuses channels, which simulateChannel plays, and there bots and automations', async () => {
    expect(await failureOf(() => simulate('plugins/http-channel'))).to.equal(
      '`simulate` plays bots and automations, and http-channel is a channel: test it with `simulateChannel`',
    );
    const refusal = await failureOf(() => simulateChannel(makeBot('message_created() {},')));
    expect(refusal).to.equal('`simulateChannel` plays channels, and sample is a bot: test it with `simulate`');
  });
});

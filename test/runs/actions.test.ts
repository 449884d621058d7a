import { expect } from 'chai';
import { messagesOf } from '../faults/plugins.ts';
import { BotHouse } from './house.ts';

const all = ['reply', 'note', 'handoff', 'resolve', 'snooze', 'open', 'assign', 'label', 'priority', 'attributes'];
const everything = { conversation: all };

/** What each action needs to be called, by its permission. */
const calls: Readonly<Record<string, string>> = {
  reply: `ctx.reply('x')`,
  note: `ctx.note('x')`,
  handoff: `ctx.handoff('x')`,
  resolve: `ctx.resolve()`,
  snooze: `ctx.snooze({ inSeconds: 3600 })`,
  open: `ctx.open()`,
  assign: `ctx.assign({ team: 'Sales' })`,
  label: `ctx.label.add('x')`,
  priority: `ctx.priority('high')`,
  attributes: `ctx.attributes({ a: 1 })`,
};

describe('actions of bots', function () {
  this.timeout(60_000);
  let house: BotHouse;
  let teamId: number;
  let memberId: number;
  let strangerId: number;

  before(async () => {
    // The bot does what the message says.
    const told = `await (new Function('ctx', 'return (async () => {' + ctx.message.content + '})()'))(ctx);`;
    const without = Object.fromEntries(
      all.map((action) => [
        `no-${action}`,
        {
          on: {
            message_created: `try { ${calls[action]} } catch {} ${action === 'note' ? `ctx.label.add('y')` : `ctx.note('y')`};`,
          },
          permissions: { conversation: all.filter((other) => other !== action) },
        },
      ]),
    );
    house = await BotHouse.open({
      told: { on: { message_created: told }, permissions: { ...everything, contact: ['email'], history: 3 } },
      ...without,
    });
    const { app } = house;
    teamId = (await app.post('teams', { name: 'Sales' })).body.id;
    const invite = async (email: string) => (await app.post('agents', { name: email, email, role: 'agent' })).body.id;
    memberId = await invite('member@example.com');
    strangerId = await invite('stranger@example.com');
    await app.post(`inboxes/${house.inboxOf('told')}/members`, { user_ids: [memberId] });
    await app.query(
      'INSERT INTO inbox_members (account_id, inbox_id, user_id) VALUES (1, $1, $2) ON CONFLICT DO NOTHING',
      [house.inboxOf('told'), memberId],
    );
  });
  after(() => house.close());

  // Runs that fail on purpose must not bring the bot into quarantine.
  async function doing(code: string) {
    await house.app.post(`agent_bots/${house.botOf('told')}/release`);
    const { conversation: id, run } = await house.askAnew('told', code);
    const { body } = await house.app.get(`conversations/${id}`);
    return { id, run, conversation: body };
  }

  for (const action of all) {
    it(`drops the whole batch of a bot that may not ${action}, even if it catches`, async () => {
      const { conversation, run } = await house.askAnew(`no-${action}`);
      expect(run).to.include({ outcome: 'forbidden_action' });
      expect(run.error).to.contain(`"${action}" under permissions.conversation`);
      expect(run.actions).to.deep.equal([]);
      const messages = await messagesOf(house.app, conversation);
      expect(messages.map(({ content }) => content).slice(1)).to.deep.equal([
        `The bot no-${action} could not answer (forbidden_action). Please take over.`,
      ]);
    });
  }

  it('are refused in another conversation', async () => {
    const { id: other } = await doing(`ctx.note('mine')`);
    const before = await messagesOf(house.app, other);
    const { run } = await doing(`ctx.reply('Not mine', { conversation_id: ${other} })`);
    expect(run).to.include({ outcome: 'foreign_conversation' });
    expect(await messagesOf(house.app, other)).to.deep.equal(before);
  });

  it('resolve, and say so', async () => {
    const { run, conversation, id } = await doing(`ctx.reply('Bye'); ctx.resolve();`);
    expect(run.error).to.equal(null);
    expect(conversation.status).to.equal('resolved');
    const events = await house.app.query<{ name: string }>(
      'SELECT name FROM events WHERE conversation_id = $1 ORDER BY sequence',
      [id],
    );
    expect(events.map(({ name }) => name)).to.include('conversation_status_changed');
  });

  it('snooze until a moment or for some time, not into the past', async () => {
    const { conversation } = await doing(`ctx.snooze({ inSeconds: 3600 })`);
    expect(conversation.status).to.equal('snoozed');
    expect(conversation.snoozed_until).to.be.closeTo(Date.now() / 1000 + 3600, 30);
    const { conversation: later } = await doing(`ctx.snooze(new Date(ctx.now.getTime() + 7200e3))`);
    expect(later.snoozed_until).to.be.closeTo(Date.now() / 1000 + 7200, 30);
    const { run } = await doing(`ctx.snooze(new Date(0)); ctx.note('x')`);
    expect(run.outcome).to.equal('validation_failed');
    for (const wrong of ['', '"tomorrow"', '{ inSeconds: "5" }', 'new Date("never")']) {
      expect((await doing(`ctx.snooze(${wrong})`)).run, wrong).to.include({ outcome: 'threw' });
    }
  });

  it('open the conversation for people, and are silent from then on', async () => {
    const { id, conversation } = await doing(`ctx.note('n'); ctx.open();`);
    expect(conversation.status).to.equal('open');
    expect((await house.app.get(`conversations/${id}/agent_bot`)).body.reason).to.equal('handed_off');
  });

  it('assign teams by id and by name, and agents by id', async () => {
    expect((await doing(`ctx.assign({ team: ${teamId} })`)).conversation.meta.team.id).to.equal(teamId);
    expect((await doing(`ctx.assign({ team: 'sales' })`)).conversation.meta.team.id).to.equal(teamId);
    const { conversation, id } = await doing(`ctx.assign({ assignee: ${memberId} })`);
    expect(conversation.meta.assignee.id).to.equal(memberId);
    expect((await house.app.get(`conversations/${id}/agent_bot`)).body.reason).to.equal('human_assigned');
    expect((await doing(`ctx.assign({ team: 'Nobody' })`)).run.outcome).to.equal('not_found');
    expect((await doing(`ctx.assign({ assignee: ${strangerId} })`)).run.outcome).to.equal('validation_failed');
  });

  it('set and remove the priority, and merge attributes', async () => {
    const { id, conversation } = await doing(`ctx.priority('urgent'); ctx.attributes({ order: 'A-17', gone: 1 });`);
    expect(conversation).to.deep.include({ priority: 'urgent', custom_attributes: { order: 'A-17', gone: 1 } });
    await house.ask(id, `ctx.priority(null); ctx.attributes({ gone: null, more: true });`);
    const { body } = await house.app.get(`conversations/${id}`);
    expect(body).to.deep.include({ priority: null, custom_attributes: { order: 'A-17', more: true } });
  });

  it('hand over to a team and an agent with a priority, at once', async () => {
    const { id, conversation } = await doing(
      `ctx.handoff({ reason: 'r', message: 'One moment', note: 'n', team: 'Sales', assignee: ${memberId}, priority: 'high' })`,
    );
    expect(conversation.status).to.equal('open');
    expect(conversation.priority).to.equal('high');
    expect([conversation.meta.team.id, conversation.meta.assignee.id]).to.deep.equal([teamId, memberId]);
    const messages = await messagesOf(house.app, id);
    expect(messages.slice(1).map(({ content }) => content)).to.deep.equal(['One moment', 'n']);
  });

  it('hand over also when team and agent are not there, and a note says so', async () => {
    const { id, run, conversation } = await doing(
      `ctx.handoff({ reason: 'r', team: 'Nobody', assignee: ${strangerId} })`,
    );
    expect(run.outcome).to.equal('ok');
    expect(conversation.status).to.equal('open');
    const [, note] = await messagesOf(house.app, id);
    expect(note!.content).to.contain('the team Nobody').and.contain(`the agent ${strangerId}`);
  });

  it('reading a contact field that was not asked for throws the line of the manifest', async () => {
    expect((await doing(`ctx.note(String(ctx.contact.email))`)).run.outcome).to.equal('ok');
    for (const field of ['name', 'phone_number', 'identifier', 'custom_attributes']) {
      const { run } = await doing(`ctx.note(String(ctx.contact.${field}))`);
      expect(run.outcome).to.equal('threw');
      expect(run.error).to.contain(`"permissions": { "contact": ["${field}"] }`);
    }
    const caught = await doing(
      `try { ctx.contact.name } catch (e) { ctx.note(e.message) } ctx.note(JSON.stringify(ctx.contact))`,
    );
    expect(caught.run.outcome).to.equal('ok');
    expect(caught.run.actions[1]!.content).not.to.contain('Customer');
  });

  it('the history has the latest messages, no notes without the permission, and is recorded', async () => {
    const id = await house.conversation('told');
    await house.ask(id, `ctx.reply('one')`);
    await house.app.post(`conversations/${id}/messages`, {
      content: 'secret',
      message_type: 'outgoing',
      private: true,
    });
    const run = await house.ask(
      id,
      `ctx.note(JSON.stringify(ctx.history.map(({ content, sender }) => [content, sender.type, sender.name])))`,
    );
    const seen = JSON.parse(run.actions[0]!.content as string) as unknown[][];
    expect(seen.map(([content]) => content)).to.deep.equal([
      `ctx.reply('one')`,
      'one',
      `ctx.note(JSON.stringify(ctx.history.map(({ content, sender }) => [content, sender.type, sender.name])))`,
    ]);
    expect(seen.map(([, type, name]) => [type, name ?? null])).to.deep.equal([
      ['contact', null],
      ['agent_bot', 'told'],
      ['contact', null],
    ]);
    expect(run.calls[0]).to.deep.include({ name: 'history', input: { limit: 3 } });
    const { run: refused } = await house.askAnew('no-note');
    expect(refused.calls).to.deep.equal([]);
  });
});

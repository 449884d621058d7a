import { expect } from 'chai';
import { messagesOf } from '../faults/plugins.ts';
import { startHttpsReceiver, type HttpsReceiver } from '../support/https-receiver.ts';
import { addPerson } from '../support/people.ts';
import { BotHouse } from './house.ts';

const causes = ['keyword', 'max_exchanges', 'requested_by_model', 'model_failed', 'no_answer', 'budget'] as const;
// The bot does what the message says.
const told = `await (new Function('ctx', 'return (async () => {' + ctx.message.content + '})()'))(ctx);`;
const conversation = ['reply', 'note', 'handoff', 'open'];

interface Change {
  name: string;
  reason: unknown;
  changed: Record<string, { previous: unknown; current: unknown }> | undefined;
}

describe('the reason of a handoff', function () {
  this.timeout(60_000);
  let house: BotHouse;
  let https: HttpsReceiver;
  let server: { id: number; inbox: number; headers: { api_access_token: string } };

  before(async () => {
    house = await BotHouse.open({
      platform: { on: { message_created: told }, permissions: { conversation, handoff_cause: true } },
      third: { on: { message_created: told }, permissions: { conversation } },
    });
    const { app } = house;
    https = await startHttpsReceiver();
    const { body: bot } = await app.post('agent_bots', { name: 'Server', outgoing_url: https.receiver.url });
    const { body: inbox } = await app.post('inboxes', { name: 'Server' });
    await app.post(`inboxes/${inbox.id}/set_agent_bot`, { agent_bot: bot.id });
    server = { id: bot.id, inbox: inbox.id, headers: { api_access_token: bot.access_token } };
  });
  after(async () => {
    await house.close();
    await https.close();
  });
  afterEach(() => https.receiver.answerWith((_, response) => response.end()));

  const reasonOf = async (id: number) => (await house.app.get(`conversations/${id}`)).body.handoff_reason;
  const to = (id: number, status: string, headers = {}) =>
    house.app.post(`conversations/${id}/toggle_status`, { status }, headers);
  const notesOf = async (id: number): Promise<{ content: string; content_attributes: object }[]> => {
    const { body } = await house.app.get(`conversations/${id}/messages`);
    return body.payload.filter((message: { private: boolean }) => message.private);
  };
  // What was said of the conversation's status and attributes.
  async function changesOf(id: number): Promise<Change[]> {
    const rows = await house.app.query<{ name: string; account_payload: Record<string, unknown> }>(
      `SELECT name, account_payload FROM events WHERE conversation_id = $1
         AND name IN ('conversation_status_changed', 'conversation_updated') ORDER BY sequence`,
      [id],
    );
    return rows.map(({ name, account_payload: body }) => ({
      name,
      reason: body['handoff_reason'],
      changed: body['changed_attributes'] as Change['changed'],
    }));
  }
  const handedOff = (reason: string, name = 'conversation_status_changed') => ({
    name,
    reason,
    changed: {
      ...(name === 'conversation_updated' ? {} : { status: { previous: 'pending', current: 'open' } }),
      handoff_reason: { previous: null, current: reason },
    },
  });
  async function served(): Promise<number> {
    const { app } = house;
    const { body: contact } = await app.post('contacts', { name: 'Customer' });
    return (await app.post('conversations', { inbox_id: server.inbox, contact_id: contact.id })).body.id;
  }

  it('is null until there is one', async () => {
    const id = await house.conversation('platform');
    expect(await reasonOf(id)).to.equal(null);
    await house.ask(id, `ctx.reply('Yes')`);
    expect(await reasonOf(id)).to.equal(null);
    expect(await changesOf(id)).to.deep.equal([]);
  });

  it('leaves the customer the place of who has waited since the question', async () => {
    const id = await house.conversation('platform');
    await house.ask(id, 'ctx.now;');
    const waiting = async () => (await house.app.get(`conversations/${id}`)).body.waiting_since;
    // As if the bot had thought for an hour.
    await house.app.query(`UPDATE conversations SET waiting_since = waiting_since - interval '1 hour' WHERE id = $1`, [
      id,
    ]);
    const asked = await waiting();
    expect(asked).to.be.a('number');
    const run = await house.ask(id, `ctx.handoff({ reason: 'because' })`);
    expect(run.error).to.equal(null);
    expect((await house.app.get(`conversations/${id}`)).body.status).to.equal('open');
    expect(await waiting()).to.equal(asked);
  });

  it('comes after the replies of its run, wherever the bot asks for it', async () => {
    for (const before of [`ctx.handoff({ reason: 'always', message: 'One moment' })`, 'ctx.open()']) {
      const { conversation: id, run } = await house.askAnew('platform', `ctx.note('A'); ${before}; ctx.reply('Soon')`);
      expect([run.outcome, run.error]).to.deep.equal(['ok', null]);
      const messages = (await messagesOf(house.app, id)).map(({ content }) => content);
      expect(messages.slice(1, 3)).to.deep.equal(['A', 'Soon']);
      expect((await house.app.get(`conversations/${id}`)).body.status).to.equal('open');
    }
  });

  for (const cause of causes) {
    it(`is ${cause} when a bot that may say so says it, in the record and in one event`, async () => {
      const question = `ctx.handoff({ reason: 'because', cause: '${cause}', message: 'One moment' })`;
      const { conversation: id, run } = await house.askAnew('platform', question);
      expect(run.error).to.equal(null);
      expect(await reasonOf(id)).to.equal(cause);
      expect(await changesOf(id)).to.deep.equal([handedOff(cause)]);
      const messages = await messagesOf(house.app, id);
      expect(messages.slice(1).map(({ content }) => content)).to.deep.equal([
        'One moment',
        `Handed off: because\n\nLast question: ${question}`,
      ]);
    });
  }

  it('is plugin when the bot names none', async () => {
    for (const bot of ['platform', 'third']) {
      const { conversation: id } = await house.askAnew(bot, `ctx.handoff('because')`);
      expect(await reasonOf(id), bot).to.equal('plugin');
    }
  });

  it('may be named by bots with the permission alone, and is never one of the service’s', async () => {
    for (const [bot, cause, outcome] of [
      ['third', 'keyword', 'forbidden_action'],
      ['platform', 'loop', 'invalid_actions'],
      ['platform', 'bot_unreachable', 'invalid_actions'],
      ['platform', 'plugin', 'invalid_actions'],
    ] as const) {
      await house.app.post(`agent_bots/${house.botOf(bot)}/release`);
      const { conversation: id, run } = await house.askAnew(bot, `ctx.handoff({ reason: 'x', cause: '${cause}' })`);
      expect(run.outcome, cause).to.equal(outcome);
      expect(await reasonOf(id), cause).to.equal('bot_unreachable');
    }
    await house.app.post(`agent_bots/${house.botOf('platform')}/release`);
  });

  it('is told of a conversation that was open already', async () => {
    const id = await house.conversation('platform');
    await house.ask(id, `ctx.reply('Yes')`);
    await house.app.query(`UPDATE conversations SET status = 'open' WHERE id = $1`, [id]);
    await house.ask(id, `ctx.handoff({ reason: 'x', cause: 'budget' })`);
    expect(await changesOf(id)).to.deep.equal([handedOff('budget', 'conversation_updated')]);
  });

  it('is bot_unreachable after a run that failed, and the note tells machines what people see', async () => {
    await house.app.post(`agent_bots/${house.botOf('third')}/release`);
    const { conversation: id } = await house.askAnew('third', `throw new Error('x')`);
    expect(await reasonOf(id)).to.equal('bot_unreachable');
    expect(await changesOf(id)).to.deep.equal([handedOff('bot_unreachable')]);
    const [note] = await notesOf(id);
    expect(note!.content_attributes).to.deep.equal({
      handoff: { reason: 'bot_unreachable', last_question: `throw new Error('x')`, passages: [] },
    });
    await house.app.post(`agent_bots/${house.botOf('third')}/release`);
  });

  it('comes with the passages that the bot had, unless it writes the note itself', async () => {
    const passages = `[{ title: 'Refunds', url: 'https://help.example/refunds' }, { title: 'Hours' }]`;
    const question = `ctx.handoff({ reason: 'x', cause: 'no_answer', passages: ${passages} })`;
    const { conversation: id } = await house.askAnew('platform', question);
    const [note] = await notesOf(id);
    expect(note!.content).to.equal(
      `Handed off: x\n\nLast question: ${question}\n\nPassages shown:\n[1] Refunds https://help.example/refunds\n[2] Hours`,
    );
    expect(note!.content_attributes).to.deep.equal({
      handoff: {
        reason: 'no_answer',
        last_question: question,
        passages: [{ title: 'Refunds', url: 'https://help.example/refunds' }, { title: 'Hours' }],
      },
    });
    const own = await house.askAnew('platform', `ctx.handoff({ reason: 'x', note: 'Mine', passages: ${passages} })`);
    expect((await notesOf(own.conversation)).map(({ content }) => content)).to.deep.equal(['Mine']);
  });

  const summary = (question: string | null) => ({
    handoff: { reason: 'plugin', last_question: question, passages: [] },
  });

  it('is plugin when a bot on a server opens the conversation, with a note for the agents', async () => {
    const id = await served();
    await house.say(id, 'Where is my order?');
    expect((await to(id, 'open', server.headers)).body).to.deep.include({ status: 'open', handoff_reason: 'plugin' });
    expect(await changesOf(id)).to.deep.equal([handedOff('plugin')]);
    const notes = await notesOf(id);
    expect(notes.map(({ content }) => content)).to.deep.equal([
      'Handed off by Server\n\nLast question: Where is my order?',
    ]);
    expect(notes[0]!.content_attributes).to.deep.equal(summary('Where is my order?'));
    const silent = await served();
    await house.app.patch('conversations', { id: silent, status: 'open' }, server.headers);
    expect((await notesOf(silent)).map((note) => note.content_attributes)).to.deep.equal([summary(null)]);
  });

  it('comes with one note, however often the bot asks, and with another in the next session', async () => {
    const id = await served();
    await house.say(id, 'First question');
    const key = { ...server.headers, 'idempotency-key': `handoff-${id}` };
    const first = await to(id, 'open', key);
    const again = await to(id, 'open', key);
    expect([again.status, again.body]).to.deep.equal([200, first.body]);
    expect((await to(id, 'open', server.headers)).status).to.equal(403);
    expect(await notesOf(id)).to.have.lengthOf(1);
    await to(id, 'resolved');
    await house.say(id, 'Second question');
    expect(await reasonOf(id)).to.equal(null);
    expect((await to(id, 'open', server.headers)).body.handoff_reason).to.equal('plugin');
    expect((await notesOf(id)).map((note) => note.content_attributes)).to.deep.equal([
      summary('First question'),
      summary('Second question'),
    ]);
  });

  it('is the bot’s or the person’s, with a note of the bot alone, when both open the conversation at once', async () => {
    for (let round = 0; round < 10; round += 1) {
      const id = await served();
      await house.say(id, 'Anybody?');
      const acts = [() => to(id, 'open', server.headers), () => to(id, 'open')];
      const [one, other] = await Promise.all((round % 2 === 0 ? acts : acts.toReversed()).map((act) => act()));
      const byBot = round % 2 === 0 ? one! : other!;
      const notes = await notesOf(id);
      if (byBot.status === 403) expect([await reasonOf(id), notes]).to.deep.equal([null, []]);
      else expect([byBot.status, await reasonOf(id), notes.length]).to.deep.equal([200, 'plugin', 1]);
      expect((await changesOf(id)).filter(({ changed }) => changed?.['status'])).to.have.lengthOf(1);
    }
  });

  it('is told by the bot’s own note where it opens the conversation in a run that writes one', async () => {
    const own = await house.askAnew('platform', `ctx.note('Wants a refund'); ctx.open()`);
    expect((await notesOf(own.conversation)).map(({ content }) => content)).to.deep.equal(['Wants a refund']);
    const question = `ctx.open()`;
    const { conversation: id } = await house.askAnew('platform', question);
    expect((await notesOf(id)).map((note) => note.content_attributes)).to.deep.equal([summary(question)]);
  });

  it('is the first that a run gives, with its summary alone, and with what the bot itself writes', async () => {
    const first = `ctx.handoff({ reason: 'one', cause: 'keyword' }); ctx.handoff({ reason: 'two', cause: 'budget' });`;
    const { conversation: id, run } = await house.askAnew('platform', first);
    expect(run.error).to.equal(null);
    expect(await changesOf(id)).to.deep.equal([handedOff('keyword')]);
    expect((await notesOf(id)).map(({ content }) => content)).to.deep.equal([
      `Handed off: one\n\nLast question: ${first}`,
    ]);
    const { conversation: other } = await house.askAnew(
      'platform',
      `ctx.open(); ctx.handoff({ reason: 'x', note: 'Mine' })`,
    );
    const [summed, own, ...more] = (await notesOf(other)).map(({ content }) => content);
    expect([summed!.startsWith('Handed off by '), own, more]).to.deep.equal([true, 'Mine', []]);
  });

  it('is loop when the service stopped the bot', async () => {
    const id = await served();
    for (let said = 0; said <= 10; said += 1) {
      await house.app.post(`conversations/${id}/messages`, { content: 'x', message_type: 'outgoing' }, server.headers);
    }
    expect(await reasonOf(id)).to.equal('loop');
    expect(await changesOf(id)).to.deep.equal([handedOff('loop')]);
    expect(await notesOf(id)).to.have.lengthOf(1);
  });

  it('is bot_unreachable when the server is gone', async () => {
    https.receiver.answerWith((_, response) => response.writeHead(410).end());
    const id = await served();
    await house.say(id);
    await house.app.eventually(async () => (await reasonOf(id)) === 'bot_unreachable');
    expect(await changesOf(id)).to.deep.equal([handedOff('bot_unreachable')]);
    await house.app.patch(`agent_bots/${server.id}`, { outgoing_url: https.receiver.url });
  });

  it('is none while a person took the conversation without the bot', async () => {
    const id = await served();
    await to(id, 'open');
    expect(await reasonOf(id)).to.equal(null);
    const replied = await served();
    await house.app.post(`conversations/${replied}/messages`, { content: 'I am here', message_type: 'outgoing' });
    expect(await reasonOf(replied)).to.equal(null);
  });

  it('stays while people have the conversation, and through its resolution', async () => {
    const { app } = house;
    const { conversation: id } = await house.askAnew('platform', `ctx.handoff({ reason: 'x', cause: 'keyword' })`);
    const person = await addPerson(app, { name: 'Hanna' });
    await app.post(`inboxes/${house.inboxOf('platform')}/members`, { user_ids: [person.id] });
    await app.post(`conversations/${id}/assignments`, { assignee_id: person.id });
    await app.post(`conversations/${id}/messages`, { content: 'Hello', message_type: 'outgoing' });
    await house.say(id, `ctx.reply('x')`);
    expect(await reasonOf(id)).to.equal('keyword');
    expect((await to(id, 'resolved')).body).to.include({ handoff_reason: 'keyword' });
    await app.post(`conversations/${id}/assignments`, { assignee_id: null });
    expect(await reasonOf(id)).to.equal('keyword');
    // The next session begins.
    await house.say(id, `ctx.reply('Again')`);
    expect(await reasonOf(id)).to.equal(null);
    expect((await changesOf(id)).at(-1)).to.deep.equal({
      name: 'conversation_status_changed',
      reason: null,
      changed: {
        status: { previous: 'resolved', current: 'pending' },
        handoff_reason: { previous: 'keyword', current: null },
      },
    });
  });

  it('ends when a person sets pending, and the bot may hand off again', async () => {
    const { conversation: id } = await house.askAnew('platform', `ctx.handoff({ reason: 'x', cause: 'keyword' })`);
    expect((await to(id, 'pending')).body).to.include({ status: 'pending', handoff_reason: null });
    await house.ask(id, `ctx.handoff({ reason: 'y', cause: 'budget' })`);
    expect(await reasonOf(id)).to.equal('budget');
    expect(await notesOf(id)).to.have.lengthOf(2);
  });

  it('leads to the member whose turn it is where the inbox assigns, after a failure too', async () => {
    const { app } = house;
    const inbox = house.inboxOf('platform');
    const person = await addPerson(app, { name: 'Ines' });
    await app.post(`inboxes/${inbox}/members`, { user_ids: [person.id] });
    await app.query(`UPDATE inbox_members SET last_assigned_at = now() WHERE inbox_id = $1 AND user_id <> $2`, [
      inbox,
      person.id,
    ]);
    await app.patch(`inboxes/${inbox}`, { enable_auto_assignment: true });
    const handedOver = await house.askAnew('platform', `ctx.handoff({ reason: 'x', cause: 'keyword' })`);
    const failed = await house.askAnew('platform', `throw new Error('x')`);
    for (const { conversation: id } of [handedOver, failed]) {
      const { meta, handoff_reason: reason } = (await app.get(`conversations/${id}`)).body;
      expect(reason).to.equal(id === failed.conversation ? 'bot_unreachable' : 'keyword');
      expect(meta.assignee, reason).not.to.equal(null);
      const [moved, assigned] = await changesOf(id);
      expect(moved).to.deep.equal(handedOff(reason));
      expect(Object.keys(assigned!.changed!)).to.deep.equal(['assignee_id']);
    }
    await app.patch(`inboxes/${inbox}`, { enable_auto_assignment: false });
    await app.post(`agent_bots/${house.botOf('platform')}/release`);
  });

  it('is one, with one note, when many things end the bot’s part at once', async () => {
    const id = await served();
    const speak = () =>
      house.app.post(`conversations/${id}/messages`, { content: 'x', message_type: 'outgoing' }, server.headers);
    for (let said = 0; said < 10; said += 1) await speak();
    await Promise.all([speak(), to(id, 'open', server.headers), speak(), to(id, 'open', server.headers), speak()]);
    const changes = await changesOf(id);
    expect(changes).to.have.lengthOf(1);
    const reason = changes[0]!.reason as string;
    expect(reason).to.be.oneOf(['loop', 'plugin']);
    expect(changes).to.deep.equal([handedOff(reason)]);
    expect(await reasonOf(id)).to.equal(reason);
    expect(await notesOf(id)).to.have.lengthOf(1);
  });
});

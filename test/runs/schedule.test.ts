import { expect } from 'chai';
import { openGate } from '../../src/lib/outbound-gate.ts';
import { alarmsOf } from '../../src/app/alarms.ts';
import { callScheduled } from '../../src/domain/bots/schedules.ts';
import { messagesOf } from '../faults/plugins.ts';
import { hold, untilWaiting } from '../support/lock.ts';
import { BotHouse } from './house.ts';

const told = `await (new Function('ctx', 'return (async () => {' + ctx.message.content + '})()'))(ctx);`;
const answer = `const { name, data, scheduled_at } = ctx.event; ctx.reply(JSON.stringify([name, data, scheduled_at, ctx.contact.id > 0, ctx.conversation.status]));
  if (data?.again) ctx.schedule({ inSeconds: 60 }, name, data);`;
const conversation = ['reply', 'note', 'handoff', 'resolve', 'assign'];

describe('calls that bots schedule', function () {
  this.timeout(60_000);
  let house: BotHouse;
  const clock = { ahead: 0, now: () => new Date(Date.now() + clock.ahead) };

  before(async () => {
    const bot = { on: { message_created: told, schedule: answer } };
    house = await BotHouse.open(
      {
        caller: { ...bot, permissions: { conversation, schedule: true } },
        bare: { on: { message_created: told }, permissions: { conversation } },
      },
      { clock },
    );
  });
  after(() => house.close());

  const rows = (id: number) =>
    house.app.query<{ name: string; data: unknown; at: string }>(
      'SELECT name, data, at FROM bot_schedules WHERE conversation_id = $1 ORDER BY name',
      [id],
    );
  async function later(seconds: number): Promise<void> {
    clock.ahead += seconds * 1_000;
    await callScheduled(house.app.app.database);
  }
  async function asked(code: string): Promise<number> {
    await house.app.post(`agent_bots/${house.botOf('caller')}/release`);
    const id = await house.conversation('caller');
    await house.ask(id, code);
    return id;
  }
  const replies = async (id: number) =>
    (await messagesOf(house.app, id))
      .filter(({ message_type: type }) => type === 'outgoing')
      .map(({ content }) => content);

  it('come with name, data and moment, once, and are replaced by the same name', async () => {
    const id = await asked(
      `ctx.schedule({ inSeconds: 90 }, 'csat', { order: 1 }); ctx.schedule(new Date(ctx.now.getTime() + 120e3), 'csat', { order: 2 });`,
    );
    expect(await rows(id)).to.have.length(1);
    await later(100);
    expect(await replies(id)).to.deep.equal([]);
    const before = (await house.runs(id)).length;
    await later(25);
    await later(0);
    const run = await house.runAfter(id, before);
    expect(run.outcome).to.equal('ok');
    const [[name, data, at, hasContact, status]] = (await replies(id)).map((text) => JSON.parse(text) as unknown[]) as [
      unknown[],
    ];
    expect([name, data, hasContact, status]).to.deep.equal(['csat', { order: 2 }, true, 'pending']);
    expect(at)
      .to.be.a('number')
      .and.closeTo(clock.now().getTime() / 1000, 30);
    expect(await rows(id)).to.deep.equal([]);
    const events = await house.app.query('SELECT bot_silence FROM events WHERE conversation_id = $1 AND name = $2', [
      id,
      'schedule',
    ]);
    expect(events).to.deep.equal([{ bot_silence: null }]);
  });

  it('are replayed from their records, with the moment that they were called for', async () => {
    const id = await asked(`ctx.schedule({ inSeconds: 60 }, 'again', { order: 3, again: true });`);
    await later(61);
    await house.runAfter(id, 1);
    const [run] = (await house.app.get(`conversations/${id}/runs`)).body.payload;
    expect(run.event).to.deep.include({ name: 'schedule' });
    expect(run.actions.map(({ type }: { type: string }) => type)).to.deep.equal(['reply', 'schedule']);
    await house.app.query('DELETE FROM bot_schedules WHERE conversation_id = $1', [id]);
    clock.ahead += 3_600_000;
    const replay = async () => (await house.app.post(`runs/${run.id}/replay`)).body;
    expect(await replay()).to.deep.equal({ identical: true, outcome: 'ok', actions: run.actions });
    expect(await rows(id)).to.deep.equal([]);
    const tell = (body: unknown) =>
      house.app.query('UPDATE events SET bot_payload = $2::json WHERE id = $1', [run.event.id, JSON.stringify(body)]);
    await tell({ ...run.event.body, data: { order: 4, again: true } });
    expect((await replay()).identical).to.equal(false);
    await tell(run.event.body);
  });

  it('can schedule the next one', async () => {
    const id = await asked(`ctx.schedule({ inSeconds: 60 }, 'tick', { again: true });`);
    for (let round = 1; round <= 3; round++) {
      await later(61);
      await house.runAfter(id, round);
    }
    expect(await replies(id)).to.have.length(3);
    expect(await rows(id)).to.have.length(1);
  });

  it('are made with what else is due when their own alarm was lost', async () => {
    const id = await asked(`ctx.schedule({ inSeconds: 60 }, 'late', null);`);
    await house.app.query(`DELETE FROM agenda_jobs WHERE name = 'call-scheduled-once'`);
    clock.ahead += 61_000;
    const alarms = alarmsOf(house.app.app.database, {
      gate: openGate,
      retentionDays: 30,
      runRetentionDays: 30,
      reportRetentionDays: 30,
      retry: () => undefined,
      embed: () => undefined,
      checkChannels: () => undefined,
    });
    await alarms.find(({ name }) => name === 'do-what-is-due')?.ring();
    await house.runAfter(id, 1);
    expect(await replies(id)).to.have.length(1);
    expect(await rows(id)).to.deep.equal([]);
  });

  it('are not made before the moment to which they are put off while somebody looks for them', async () => {
    const id = await asked(`ctx.schedule({ inSeconds: 60 }, 'moved', null);`);
    const { databaseUrl, app } = { databaseUrl: house.app.databaseUrl, app: house.app };
    // The call is found; its conversation cannot be locked yet.
    const release = await hold(databaseUrl, 'LOCK TABLE conversations IN EXCLUSIVE MODE');
    const calling = later(61);
    await untilWaiting(app, 1);
    await app.query(`UPDATE bot_schedules SET at = at + interval '10 minutes' WHERE conversation_id = $1`, [id]);
    await release();
    await calling;
    expect(await rows(id)).to.have.length(1);
    await later(600);
    await house.runAfter(id, 1);
    expect(await replies(id)).to.have.length(1);
  });

  it('are silent after a takeover, and when another bot serves', async () => {
    const id = await asked(`ctx.schedule({ inSeconds: 60 }, 'a', null);`);
    await house.app.post(`conversations/${id}/messages`, { content: 'I am a person', message_type: 'outgoing' });
    const other = await asked(`ctx.schedule({ inSeconds: 60 }, 'a', null);`);
    await house.app.post(`conversations/${other}/agent_bot`, { agent_bot_id: house.botOf('bare') });
    const deleted = await asked(`ctx.schedule({ inSeconds: 60 }, 'a', null);`);
    await house.app.call('DELETE', `conversations/${deleted}`);
    await later(61);
    expect((await replies(id)).concat(await replies(other))).to.deep.equal(['I am a person']);
    const events = await house.app.query(
      'SELECT bot_silence FROM events WHERE conversation_id = ANY ($1) AND name = $2',
      [[id, other, deleted], 'schedule'],
    );
    expect(events).to.deep.equal([{ bot_silence: 'human_replied' }]);
    expect(await house.app.query("SELECT FROM bot_schedules WHERE at < now() + interval '1 minute'")).to.deep.equal([]);
  });

  it('commit with the reply or not at all', async () => {
    expect(await rows(await asked(`ctx.schedule({ inSeconds: 60 }, 'a', 1); throw new Error('no')`))).to.deep.equal([]);
    const refused = await asked(`ctx.schedule({ inSeconds: 60 }, 'a', 1); ctx.assign({ team: 'Nobody' })`);
    expect(await rows(refused)).to.deep.equal([]);
  });

  it('need their permission, whatever the bot catches', async () => {
    const { run, conversation: id } = await house.askAnew(
      'bare',
      `try { ctx.schedule({ inSeconds: 60 }, 'a') } catch {} ctx.note('x')`,
    );
    expect(run.outcome).to.equal('forbidden_action');
    expect(run.error).to.contain('permissions.schedule');
    expect(await rows(id)).to.deep.equal([]);
  });

  it('have bounds', async () => {
    for (const [code, outcome] of [
      [`ctx.schedule({ inSeconds: 59 }, 'a')`, 'invalid_actions'],
      [`ctx.schedule(ctx.now, 'a')`, 'invalid_actions'],
      [`ctx.schedule({ inSeconds: 91 * 86400 }, 'a')`, 'invalid_actions'],
      [`ctx.schedule({ inSeconds: 60 }, '')`, 'invalid_actions'],
      [`ctx.schedule({ inSeconds: 60 })`, 'invalid_actions'],
      [`ctx.schedule({ inSeconds: 60 }, 'a', 'x'.repeat(9000))`, 'invalid_actions'],
      [`ctx.schedule('soon', 'a')`, 'threw'],
      [`for (let i = 0; i < 6; i++) ctx.schedule({ inSeconds: 60 }, 'a' + i)`, 'too_many_actions'],
    ] as const) {
      await house.app.post(`agent_bots/${house.botOf('caller')}/release`);
      const { run, conversation: id } = await house.askAnew('caller', code);
      expect(run.outcome, code).to.equal(outcome);
      expect(await rows(id)).to.deep.equal([]);
    }
    const id = await asked('0');
    for (let round = 0; round < 4; round++) {
      await house.ask(id, `for (let i = 0; i < 5; i++) ctx.schedule({ inSeconds: 600 }, '${round}' + i)`);
    }
    const run = await house.ask(id, `ctx.schedule({ inSeconds: 600 }, 'one more')`);
    expect(run.outcome).to.equal('too_many_schedules');
    expect(await rows(id)).to.have.length(20);
  });
});

import { expect } from 'chai';
import { TestApp } from '../../support/app.ts';
import { openConversation } from '../../faults/plugins.ts';

// From JSON: an object with `then` looks like a promise.
const doing = (...actions: object[]) => JSON.parse(`{"then":${JSON.stringify(actions)}}`) as object;

const rule = {
  name: 'Refunds',
  on: ['message_created'],
  if: {
    all: [
      { attribute: 'content', operator: 'contains', values: ['REFUND'] },
      { attribute: 'inbox_id', operator: 'is_present' },
    ],
  },
  ...doing({ action: 'add_labels', labels: ['refund'] }, { action: 'priority', priority: 'high' }),
};

describe('automations', function () {
  this.timeout(60_000);
  let app: TestApp;
  let inbox: number;

  before(async () => {
    app = await TestApp.start();
    inbox = (await app.post('inboxes', { name: 'Shop', channel: { type: 'api' } })).body.id as number;
    await app.post('labels', { title: 'refund' });
  });
  after(() => app.stop());

  const make = async (fields: object = {}) =>
    app.post('automations', { name: 'Rules', plugin_id: 'rules', config: { rules: [rule] }, ...fields });

  it('are created, listed, changed and deleted', async () => {
    const made = await make();
    expect(made.status).to.equal(201);
    const { id, created_at: at, ...record } = made.body;
    expect([id, at].every(Number.isInteger)).to.equal(true);
    expect(record).to.deep.equal({
      name: 'Rules',
      plugin_id: 'rules',
      config: { rules: [{ ...rule, active: true }] },
      inbox_ids: null,
      active: true,
      health: { state: 'ok', last_error: null, since: null },
      missing_secrets: [],
    });
    expect((await app.get('automations')).body).to.deep.include({ payload: [made.body] });
    const changed = await app.patch(`automations/${id}`, { name: 'More rules', inbox_ids: [inbox], active: false });
    expect(changed.body).to.deep.equal({ ...made.body, name: 'More rules', inbox_ids: [inbox], active: false });
    expect((await app.patch(`automations/${id}`, { inbox_ids: null })).body.inbox_ids).to.equal(null);
    expect((await app.delete(`automations/${id}`)).status).to.equal(200);
    expect((await app.get(`automations/${id}`)).status).to.equal(404);
  });

  it('are no agent bots, and agent bots are no automations', async () => {
    const { id } = (await make()).body;
    const bot = (await app.post('agent_bots', { name: 'Bot', kind: 'plugin', plugin_id: 'webhook-bot' })).body
      .id as number;
    expect((await app.get(`agent_bots/${id}`)).status).to.equal(404);
    expect((await app.patch(`agent_bots/${id}`, { name: 'x' })).status).to.equal(404);
    expect((await app.delete(`agent_bots/${id}`)).status).to.equal(404);
    expect((await app.get(`automations/${bot}`)).status).to.equal(404);
    expect((await app.delete(`automations/${bot}`)).status).to.equal(404);
    const listed = (await app.get('agent_bots')).body.payload as { id: number }[];
    expect(listed.map((one) => one.id))
      .to.include(bot)
      .and.not.include(id);
    expect((await app.post(`inboxes/${inbox}/set_agent_bot`, { agent_bot: id })).status).to.equal(404);
    await app.delete(`automations/${id}`);
  });

  it('are refused with what is wrong', async () => {
    const bot = await app.post('automations', { name: 'x', plugin_id: 'webhook-bot' });
    expect([bot.status, bot.body.error]).to.deep.equal([
      422,
      'The plugin `webhook-bot` makes bots: create one with POST …/agent_bots',
    ]);
    const none = await app.post('automations', { name: 'x', plugin_id: 'nothing' });
    expect(none.status).to.equal(422);
    const wrong = await make({ config: { rules: [{ ...rule, ...doing({ action: 'dance' }) }] } });
    expect(wrong.status).to.equal(422);
    expect((await make({ inbox_ids: [inbox, 999_999] })).status).to.equal(404);
    const asBot = await app.post('agent_bots', { name: 'x', kind: 'plugin', plugin_id: 'rules' });
    expect([asBot.status, asBot.body.error]).to.deep.equal([
      422,
      'The plugin `rules` makes automations: create one with POST …/automations',
    ]);
  });

  it('act by their rules, for what happens while they are on', async () => {
    const { id } = (await make({ inbox_ids: [inbox] })).body;
    const other = (await app.post('inboxes', { name: 'Other', channel: { type: 'api' } })).body.id as number;
    const ask = async (at: number, content = 'I want a refund') => {
      const conversation = await openConversation(app, at);
      await app.post(`conversations/${conversation}/messages`, { content, message_type: 'incoming' });
      return conversation;
    };
    const isLabelled = async (conversation: number) =>
      ((await app.get(`conversations/${conversation}`)).body.labels as string[]).includes('refund');
    const [elsewhere, thanks, refund] = [await ask(other), await ask(inbox, 'Thanks'), await ask(inbox)];
    await app.eventually(() => isLabelled(refund));
    const record = (await app.get(`conversations/${refund}`)).body;
    expect(record).to.deep.include({ priority: 'high', labels: ['refund'] });
    await app.patch(`automations/${id}`, { active: false });
    const whileOff = await ask(inbox);
    await app.patch(`automations/${id}`, { active: true });
    const after = await ask(inbox);
    await app.eventually(() => isLabelled(after));
    for (const untouched of [elsewhere, thanks, whileOff]) expect(await isLabelled(untouched)).to.equal(false);
    const runs = await app.get(`runs?automation_id=${id}`);
    const events = (runs.body.payload as { automation_id: number; agent_bot_id: null }[]).map((run) => [
      run.automation_id,
      run.agent_bot_id,
    ]);
    expect(events).to.deep.include([id, null]);
    await app.delete(`automations/${id}`);
  });

  it('tell what they would have done, without doing it', async () => {
    const asked = await openConversation(app, inbox);
    const { body: message } = await app.post(`conversations/${asked}/messages`, {
      content: 'A refund please',
      message_type: 'incoming',
    });
    const { id } = (await make({ active: false, inbox_ids: [inbox] })).body;
    const before = await app.query(
      'SELECT (SELECT count(*) FROM events) AS events, (SELECT count(*) FROM bot_runs) AS runs',
    );
    const tried = await app.post(`automations/${id}/dry_run`, { limit: 1 });
    expect([tried.status, tried.body.looked_at, tried.body.matched]).to.deep.equal([200, 1, 1]);
    const [event] = await app.query<{ id: number }>(
      `SELECT id FROM events WHERE name = 'message_created' AND account_payload ->> 'id' = $1`,
      [String(message.id)],
    );
    expect(tried.body.payload).to.deep.equal([
      {
        event_id: event!.id,
        conversation_id: asked,
        rule: 'Refunds',
        actions: [
          { type: 'label', add: ['refund'] },
          { type: 'priority', priority: 'high' },
        ],
      },
    ]);
    const second = { ...rule, name: 'Anything', if: {}, ...doing({ action: 'note', content: 'Seen' }) };
    const other = await app.post(`automations/${id}/dry_run`, { limit: 1, config: { rules: [rule, second] } });
    expect([other.body.matched, other.body.payload.map((match: { rule: string }) => match.rule)]).to.deep.equal([
      1,
      ['Refunds', 'Anything'],
    ]);
    expect((await app.post(`automations/${id}/dry_run`, { config: { rules: [] } })).body).to.include({ matched: 0 });
    const after = await app.query(
      'SELECT (SELECT count(*) FROM events) AS events, (SELECT count(*) FROM bot_runs) AS runs',
    );
    expect(after).to.deep.equal(before);
    expect((await app.get(`conversations/${asked}`)).body).to.deep.include({ labels: [], priority: null });
    expect((await app.get(`automations/${id}`)).body.config.rules).to.have.length(1);
  });

  it('try the inboxes of the request in place of their own', async () => {
    const { id } = (await make({ active: false, inbox_ids: [inbox] })).body;
    const other = (await app.post('inboxes', { name: 'Beside' })).body.id as number;
    const run = async (body: object) => (await app.post(`automations/${id}/dry_run`, body)).body.looked_at as number;
    const contact = (await app.post('contacts', { name: 'Beside' })).body.id as number;
    const { body } = await app.post('conversations', { inbox_id: other, contact_id: contact });
    await app.post(`conversations/${body.id}/messages`, { content: 'Hello', message_type: 'incoming' });
    const [own, beside] = [await run({}), await run({ inbox_ids: [other] })];
    expect([await run({ inbox_ids: [inbox] }), beside]).to.deep.equal([own, 2]);
    expect(await run({ inbox_ids: null })).to.be.at.least(own + beside);
    expect((await app.post(`automations/${id}/dry_run`, { inbox_ids: [999_999] })).status).to.equal(404);
  });

  it('refuse a dry run with settings that the plugin refuses, and of an automation that is not there', async () => {
    const { id } = (await make({ active: false })).body;
    const refused = await app.post(`automations/${id}/dry_run`, { config: { rules: [{ name: 'x' }] } });
    expect([refused.status, refused.body.code]).to.deep.equal([422, 'validation_failed']);
    expect((await app.post(`automations/${id}/dry_run`, { limit: 101 })).status).to.equal(422);
    expect((await app.post('automations/999999/dry_run', {})).status).to.equal(404);
  });
});

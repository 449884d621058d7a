import { expect } from 'chai';
import { createSecretBox } from '../../src/lib/secrets/secret-box.ts';
import { systemRandom } from '../../src/lib/ports.ts';
import { traceOf } from '../../src/lib/trace.ts';
import { openConversation } from '../faults/plugins.ts';
import { TestApp } from '../support/app.ts';
import { startHttpsReceiver, type HttpsReceiver } from '../support/https-receiver.ts';
import { Receiver } from '../support/receiver.ts';
import { Widget } from '../support/widget.ts';

interface Told {
  event: string;
  actor: { type: string; id: number; name: string } | null;
  depth: number;
}

const rules = (on: string, action: object) => ({
  name: 'Rules',
  plugin_id: 'rules',
  // From JSON: an object with `then` looks like a promise.
  config: JSON.parse(
    JSON.stringify({ rules: [{ name: 'One', on: [on], THEN: [action] }] }).replace('THEN', 'then'),
  ) as object,
});

describe('the cause of events', function () {
  this.timeout(90_000);
  let app: TestApp;
  let receiver: Receiver;
  let https: HttpsReceiver;
  let inbox: number;

  before(async () => {
    app = await TestApp.start({ config: { widgetSessionsPerMinute: 0 } });
    receiver = await Receiver.start();
    https = await startHttpsReceiver();
    inbox = (await app.post('inboxes', { name: 'Shop', channel: { type: 'api' } })).body.id as number;
  });
  after(async () => {
    await app.stop();
    await receiver.close();
    await https.close();
  });

  const told = async (conversation: number, name?: string): Promise<Told[]> => {
    const rows = await app.query<{ body: Told; depth: number }>(
      `SELECT account_payload AS body, depth FROM events
       WHERE conversation_id = $1 AND account_payload IS NOT NULL AND (name = $2 OR $2 IS NULL) ORDER BY sequence`,
      [conversation, name ?? null],
    );
    for (const { body, depth } of rows) expect(body.depth, JSON.stringify(body)).to.equal(depth);
    return rows.map(({ body }) => body);
  };
  const say = (conversation: number, content: string, headers: Record<string, string> = {}, type = 'outgoing') =>
    app.post(`conversations/${conversation}/messages`, { content, message_type: type }, headers);
  const trace = (depth: number, accountId = 1) =>
    traceOf(createSecretBox('a key that only the tests use, long enough', systemRandom), {
      accountId,
      eventId: 1,
      depth,
    });

  it('is told in their bodies: an agent, a contact, an automation', async () => {
    const { id } = (await app.post('automations', rules('message_created', { action: 'priority', priority: 'high' })))
      .body;
    const conversation = await openConversation(app, inbox);
    await say(conversation, 'Hello', {}, 'incoming');
    await app.eventually(async () =>
      (await told(conversation, 'conversation_updated')).some(({ depth }) => depth === 1),
    );
    const [said] = await told(conversation, 'message_created');
    expect(said!.actor).to.deep.equal({ type: 'user', id: 1, name: 'Administrator' });
    expect(said!.depth).to.equal(0);
    const changed = (await told(conversation, 'conversation_updated')).find(({ depth }) => depth === 1);
    expect(changed!.actor).to.deep.equal({ type: 'automation', id, name: 'Rules' });
    const [made] = await told(conversation, 'conversation_created');
    expect(made!.actor).to.include({ type: 'user' });
    await app.delete(`automations/${id}`);
  });

  it('is a contact for what it does as a client of an inbox', async () => {
    const client = await Widget.create(app, { channel_type: 'Channel::Api' });
    const { body } = await client.call('POST', 'contacts', { name: 'Tina' });
    const path = `contacts/${body.source_id}/conversations`;
    const { id } = (await client.call('POST', path, {})).body;
    await client.call('POST', `${path}/${id}/messages`, { content: 'Hello' });
    const [said] = await told(id as number, 'message_created');
    expect(said).to.deep.include({ actor: { type: 'contact', id: body.id, name: 'Tina' }, depth: 0 });
  });

  it('is continued by calls that repeat the trace of a delivery, and by no forged one', async () => {
    const hook = await app.post('webhooks', { url: receiver.url, subscriptions: ['message_created'] });
    const conversation = await openConversation(app, inbox);
    await say(conversation, 'Hello');
    const [post] = await receiver.waitFor(1);
    const given = String(post!.headers['switchboard-trace']);
    await say(conversation, 'again', { 'switchboard-trace': given });
    const forged = given.replace(/\.0\./, '.3.');
    for (const other of [forged, trace(4, 2), 'nonsense'])
      await say(conversation, other, { 'switchboard-trace': other });
    await say(conversation, 'deep', { 'switchboard-trace': trace(5) });
    const refused = await say(conversation, 'too deep', { 'switchboard-trace': trace(6) });
    expect([refused.status, refused.body.code]).to.deep.equal([403, 'causation_depth']);
    const read = await app.get(`conversations/${conversation}`, { 'switchboard-trace': trace(6) });
    expect(read.status).to.equal(200);
    expect((await told(conversation, 'message_created')).map(({ depth }) => depth)).to.deep.equal([0, 1, 0, 0, 0, 6]);
    await app.delete(`webhooks/${hook.body.id}`);
  });

  it('of a bot is the last event that its server was sent, whatever older trace it repeats', async () => {
    const bot = (await app.post('agent_bots', { name: 'Robbi', outgoing_url: https.receiver.url, hear_own: false }))
      .body;
    const other = (await app.post('inboxes', { name: 'With a bot' })).body.id as number;
    await app.post(`inboxes/${other}/set_agent_bot`, { agent_bot: bot.id });
    const conversation = await openConversation(app, other);
    const headers = { api_access_token: bot.access_token as string };
    await say(conversation, 'Hello', { 'switchboard-trace': trace(1) }, 'incoming');
    const [post] = await https.receiver.waitFor(1);
    expect(post!.headers).to.have.property('switchboard-trace');
    await say(conversation, 'as it is', headers);
    await say(conversation, 'lower', { ...headers, 'switchboard-trace': trace(0) });
    await say(conversation, 'higher', { ...headers, 'switchboard-trace': trace(4) });
    const messages = await told(conversation, 'message_created');
    expect(messages.map(({ depth }) => depth)).to.deep.equal([2, 3, 3, 5]);
    expect(messages[1]!.actor).to.deep.equal({ type: 'agent_bot', id: bot.id, name: 'Robbi' });
    const pending = () => app.query(`SELECT FROM deliveries WHERE endpoint_kind = 'bot' AND state = 'pending'`);
    await app.eventually(async () => (await pending()).length === 0);
    await app.query(`UPDATE deliveries SET finished_at = now() - interval '61 seconds' WHERE endpoint_kind = 'bot'`);
    await say(conversation, 'later', headers);
    expect((await told(conversation, 'message_created')).at(-1)).to.include({ depth: 1 });
  });

  it('ends a loop of an automation and a webhook', async () => {
    const hook = await app.post('webhooks', { url: receiver.url, subscriptions: ['message_created'] });
    const { id } = (await app.post('automations', rules('message_created', { action: 'note', content: 'Noted' }))).body;
    receiver.answerWith(({ headers, body }, response) => {
      response.end();
      const { actor, conversation } = body as unknown as Told & { conversation: { id: number } };
      if (actor?.type !== 'automation') return;
      void say(conversation.id, 'Seen', { 'switchboard-trace': String(headers['switchboard-trace']) });
    });
    const conversation = await openConversation(app, inbox);
    await say(conversation, 'Hello');
    await app.eventually(async () => {
      const runs = await app.get(`runs?automation_id=${id}&outcome=causation_depth`);
      return runs.body.payload.length === 1;
    });
    const depths = (await told(conversation, 'message_created')).map(({ actor, depth }) => [actor!.type, depth]);
    expect(depths).to.deep.equal([
      ['user', 0],
      ['automation', 1],
      ['user', 2],
      ['automation', 3],
      ['user', 4],
      ['automation', 5],
      ['user', 6],
    ]);
    await app.delete(`automations/${id}`);
    await app.delete(`webhooks/${hook.body.id}`);
  });

  it('ends a loop of a webhook with itself', async () => {
    const hook = await app.post('webhooks', { url: receiver.url, subscriptions: ['message_created'] });
    const answers: number[] = [];
    receiver.answerWith(({ headers, body }, response) => {
      response.end();
      const { conversation } = body as unknown as { conversation: { id: number } };
      const sent = { 'switchboard-trace': String(headers['switchboard-trace']) };
      void say(conversation.id, 'Seen', sent).then(({ status }) => answers.push(status));
    });
    const conversation = await openConversation(app, inbox);
    await say(conversation, 'Hello');
    await app.eventually(async () => answers.includes(403));
    expect(answers).to.deep.equal([201, 201, 201, 201, 201, 201, 403]);
    await app.delete(`webhooks/${hook.body.id}`);
  });
});

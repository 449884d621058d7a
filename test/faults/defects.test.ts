import { expect } from 'chai';
import { pino } from 'pino';
import { migrate } from '../../src/postgres/migrate.ts';
import { TestApp } from '../support/app.ts';
import { startHttpsReceiver } from '../support/https-receiver.ts';
import { createDatabase, dropDatabase } from '../support/postgres.ts';
import { Receiver, verify } from '../support/receiver.ts';
import { killServices, ServiceProcess } from '../support/service.ts';
import { eventually, rowsOf } from './helpers.ts';
import { stopClean } from './ledger.ts';
import { messagesOf, openConversation, pluginRootOf, serveInboxes } from './plugins.ts';

interface DeliveryRow {
  id: number;
  state: string;
  last_error: string | null;
  attempt: number;
  claims: number;
  attempts: string[];
}

const deliveriesStatement = `
  SELECT d.id, d.state, d.last_error, d.attempt, d.claims, array(
    SELECT a.outcome || ' ' || a.error_code FROM attempts a WHERE a.delivery_id = d.id ORDER BY a.number) AS attempts
  FROM deliveries d JOIN events e ON e.id = d.event_id WHERE e.conversation_id = $1 AND d.endpoint_kind = $2
  ORDER BY d.id`;
const lost = 'unknown lease_expired';

describe('a delivery that never leaves a result', function () {
  this.timeout(60_000);
  let app: TestApp;
  let root: { path: string; remove: () => void };
  let inboxId: number | undefined;
  const lines: Record<string, unknown>[] = [];

  before(async () => {
    root = pluginRootOf({ plain: `ctx.reply('An answer');` });
    const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
    app = await TestApp.start({ pluginRoot: root.path, log, config: { leaseSeconds: 30 } });
    inboxId = (await serveInboxes(app, ['plain'])).get('plain');
  });

  after(async () => {
    await stopClean(app);
    root.remove();
  });

  const ask = (id: number, content = 'Hello?') =>
    app.post(`conversations/${id}/messages`, { content, message_type: 'incoming' });

  /** Lets the database refuse rows of a table that meet a condition on `NEW`; answers what ends that. */
  async function refuse(table: string, condition: string): Promise<() => Promise<void>> {
    await app.query(`CREATE FUNCTION refuse_${table}() RETURNS trigger LANGUAGE plpgsql AS $$
      BEGIN RAISE EXCEPTION 'poison' USING ERRCODE = '22000'; END $$`);
    await app.query(`CREATE TRIGGER refuse_${table} BEFORE INSERT ON ${table} FOR EACH ROW WHEN (${condition})
      EXECUTE FUNCTION refuse_${table}()`);
    return async () => void (await app.query(`DROP FUNCTION refuse_${table} CASCADE`));
  }

  /** The conversation's deliveries once none is pending. */
  function endOf(conversationId: number, kind: string): Promise<DeliveryRow[]> {
    return app.eventually(async () => {
      const rows = await app.query<DeliveryRow>(deliveriesStatement, [conversationId, kind]);
      return rows.length > 0 && rows.every(({ state }) => state !== 'pending') && rows;
    });
  }

  /** Like endOf; until the last of so many claims, every lease runs out at once. */
  async function endWithoutPatience(conversationId: number, kind: string, claims = 5): Promise<DeliveryRow[]> {
    await app.eventually(async () => {
      const [first] = await app.query<DeliveryRow>(deliveriesStatement, [conversationId, kind]);
      if (first && (first.claims > claims || first.state !== 'pending')) return true;
      await app.query(
        `UPDATE lanes l SET due_at = now() FROM deliveries d
         WHERE l.lease_token IS NOT NULL AND d.lane_id = l.id AND d.lease_token IS NOT NULL AND d.claims <= $1`,
        [claims],
      );
      app.app.engine.poke();
      return false;
    });
    return endOf(conversationId, kind);
  }

  const linesOf = (deliveryId: number) => lines.filter(({ delivery }) => delivery === deliveryId);

  it('of a bot ends as defect after five claims, and people get the conversation, with a note', async () => {
    const id = await openConversation(app, inboxId);
    const allow = await refuse('bot_runs', `NEW.conversation_id = ${id}`);
    await ask(id);
    const [delivery] = await endWithoutPatience(id, 'bot');
    expect(delivery).to.deep.include({ state: 'exhausted', last_error: 'defect', attempt: 6, claims: 0 });
    expect(delivery!.attempts).to.deep.equal([lost, lost, lost, lost, lost, 'failed defect']);
    const { body } = await app.get(`conversations/${id}`);
    expect(body.status).to.equal('open');
    const notes = (await messagesOf(app, id)).filter((message) => message.private);
    expect(notes.map(({ content }) => content)).to.deep.equal([
      'The bot left no result 5 times (defect). Please take over.',
    ]);
    expect((await app.get(`conversations/${id}/agent_bot`)).body).to.include({ answers: false, reason: 'bot_failed' });
    expect(linesOf(delivery!.id)).to.have.lengthOf(1);
    expect(linesOf(delivery!.id)[0]).to.deep.include({
      level: 40,
      account: 1,
      conversation: id,
      outcome: 'defect',
      error: '5 attempts left no result',
      state: 'exhausted',
    });
    await allow();
    await app.post(`conversations/${id}/toggle_status`, { status: 'pending' });
    await ask(id);
    await app.eventually(async () => (await messagesOf(app, id)).at(-1)?.content === 'An answer');
  });

  it('of a bot counts as a failed run: with the fifth running the bot is not called for a while', async () => {
    const id = await openConversation(app, inboxId);
    const [bot] = await app.query<{ id: number }>(
      `UPDATE agent_bots SET failed_runs = 4, failed_account_id = 1 WHERE plugin_id = 'plain' RETURNING id`,
    );
    const allow = await refuse('bot_runs', `NEW.conversation_id = ${id}`);
    await ask(id);
    const [delivery] = await endWithoutPatience(id, 'bot');
    await allow();
    expect(delivery).to.deep.include({ state: 'exhausted', last_error: 'defect' });
    const { reason, since, until } = (await app.get(`agent_bots/${bot!.id}`)).body.quarantine ?? {};
    expect({ reason, seconds: until - since }).to.deep.equal({ reason: 'defect', seconds: 300 });
    const told = lines.filter(({ msg }) => String(msg).includes('not called'));
    expect(told).to.have.lengthOf(1);
    expect(told[0]).to.include({ account: 1, bot: bot!.id, outcome: 'defect' });
    expect((await app.post(`agent_bots/${bot!.id}/release`)).status).to.equal(200);
  });

  it('of a bot ends alone when even giving its conversation to people fails', async () => {
    const id = await openConversation(app, inboxId);
    const allow = [
      await refuse('bot_runs', `NEW.conversation_id = ${id}`),
      await refuse('messages', `NEW.conversation_id = ${id} AND NEW.private`),
    ];
    await ask(id);
    const [delivery] = await endWithoutPatience(id, 'bot', 10);
    expect(delivery).to.deep.include({ state: 'exhausted', last_error: 'defect', attempt: 11 });
    expect(linesOf(delivery!.id)).to.have.lengthOf(1);
    await Promise.all(allow.map((end) => end()));
  });

  it('of a webhook ends as defect after five posts, and what waits behind it is delivered', async () => {
    const receiver = await Receiver.start();
    const { body: webhook } = await app.post('webhooks', { url: receiver.url, subscriptions: ['message_created'] });
    const { body: inbox } = await app.post('inboxes', { name: 'Without a bot' });
    const id = await openConversation(app, inbox.id);
    const allow = await refuse('attempts', `NEW.response_body = 'poison'`);
    receiver.answerWith(({ body }, response) => response.end(body['content']));
    await ask(id, 'poison');
    await ask(id, 'next');
    const [poison, next] = await endWithoutPatience(id, 'webhook');
    expect(poison).to.deep.include({ state: 'exhausted', last_error: 'defect', attempt: 6 });
    expect(poison!.attempts).to.deep.equal([lost, lost, lost, lost, lost, 'failed defect']);
    expect(next).to.deep.include({ state: 'delivered', attempt: 1 });
    expect(receiver.received.map(({ body }) => body['content'])).to.deep.equal([...Array(5).fill('poison'), 'next']);
    await allow();
    await app.delete(`webhooks/${webhook.id}`);
    await receiver.close();
  });

  it('now and then has not used up its schedule: the first failure waits as a first one', async () => {
    const receiver = await Receiver.start();
    const { body: webhook } = await app.post('webhooks', { url: receiver.url, subscriptions: ['message_created'] });
    const id = await openConversation(app, (await app.post('inboxes', { name: 'Crash loop' })).body.id);
    const allow = await refuse('attempts', `NEW.outcome = 'failed' AND NEW.number <= 4`);
    receiver.answerWith((_, response) => response.writeHead(500).end());
    await ask(id);
    const [waiting] = await app.eventually(async () => {
      await app.query(`UPDATE lanes SET due_at = now() FROM deliveries d WHERE d.lane_id = lanes.id AND d.attempt <= 4
        AND lanes.lease_token IS NOT NULL`);
      app.app.engine.poke();
      const rows = await app.query<{ attempt: number; failures: number; claims: number; seconds: number }>(
        `SELECT attempt, failures, claims, extract(epoch FROM next_attempt_at - now())::float8 AS seconds
         FROM deliveries d WHERE endpoint_kind = 'webhook' AND endpoint_id = $1 AND failures > 0`,
        [webhook.id],
      );
      return rows.length > 0 && rows;
    });
    expect(waiting).to.include({ attempt: 5, failures: 1, claims: 0 });
    expect(waiting!.seconds).to.be.within(1, 6);
    await allow();
    await app.delete(`webhooks/${webhook.id}`);
    await receiver.close();
  });

  it('because the secret of its webhook does not open ends at once, and says so', async () => {
    const [broken, fine] = [await Receiver.start(), await Receiver.start()];
    const hook = (url: string) => app.post('webhooks', { url, subscriptions: ['message_created'] });
    const hooks = [(await hook(broken.url)).body, (await hook(fine.url)).body];
    const other = `v1.${'A'.repeat(80)}`;
    await app.query('UPDATE webhooks SET secret = $2 WHERE id = $1', [hooks[0].id, other]);
    await app.query(
      `UPDATE webhooks SET older_secrets = jsonb_build_array(jsonb_build_object('id', 999999, 'secret', $2::text,
         'createdAt', now(), 'endsAt', now() + interval '1 day')) WHERE id = $1`,
      [hooks[1].id, other],
    );
    const id = await openConversation(app, (await app.post('inboxes', { name: 'Sealed' })).body.id);
    await ask(id);
    const [first, second] = await endOf(id, 'webhook');
    expect(first).to.deep.include({ state: 'exhausted', last_error: 'secret_unreadable', attempt: 1, claims: 0 });
    expect(second).to.deep.include({ state: 'delivered', attempt: 1 });
    expect(broken.received).to.deep.equal([]);
    // The one before does not open either, and is no reason not to sign with the present one.
    verify(hooks[1].secret, (await fine.waitFor(1))[0]!);
    expect(linesOf(first!.id)[0]).to.deep.include({ webhook: hooks[0].id, outcome: 'secret_unreadable' });
    for (const { id: hookId } of hooks) await app.delete(`webhooks/${hookId}`);
    await Promise.all([broken.close(), fine.close()]);
  });

  it('because the secret of its bot does not open gives the conversation to people at once', async () => {
    const https = await startHttpsReceiver();
    const { body: bot } = await app.post('agent_bots', { name: 'Robbi', outgoing_url: https.receiver.url });
    const { body: inbox } = await app.post('inboxes', { name: 'Sealed bot' });
    await app.post(`inboxes/${inbox.id}/set_agent_bot`, { agent_bot: bot.id });
    await app.query('UPDATE agent_bots SET secret = $2 WHERE id = $1', [bot.id, 'no sealed text at all']);
    const id = await openConversation(app, inbox.id);
    await ask(id);
    const [delivery] = await endOf(id, 'bot');
    expect(delivery).to.deep.include({ state: 'exhausted', last_error: 'secret_unreadable', attempt: 1 });
    expect((await app.get(`conversations/${id}`)).body.status).to.equal('open');
    expect((await messagesOf(app, id)).filter((message) => message.private)).to.have.lengthOf(1);
    expect(linesOf(delivery!.id)[0]).to.deep.include({ bot: bot.id, conversation: id, outcome: 'secret_unreadable' });
    expect(https.receiver.received).to.deep.equal([]);
    await https.close();
  });
});

describe('a delivery that ends the process each time', function () {
  this.timeout(300_000);

  after(killServices);

  it('ends after five posts, and the service goes on', async () => {
    const databaseUrl = await createDatabase(migrate);
    const receiver = await Receiver.start();
    const env = { LEASE_SECONDS: '5', WEBHOOK_TIMEOUT_MS: '4000', LOG_LEVEL: 'warn', SANDBOX_RUNNERS: '1' };
    const start = () => ServiceProcess.start({ databaseUrl, env, until: 'alive' });
    let service = await ServiceProcess.start({ databaseUrl, env });
    let posts = 0;
    receiver.answerWith(({ body }, response) => {
      if (body['content'] !== 'poison') return void response.end();
      posts += 1;
      return void service.kill();
    });
    await service.post('webhooks', { url: receiver.url, subscriptions: ['message_created'] });
    const { body: inbox } = await service.post('inboxes', { name: 'Crash' });
    const say = async (content: string): Promise<number> => {
      const { body: contact } = await service.post('contacts', { name: 'Customer' });
      const made = await service.post('conversations', { inbox_id: inbox.id, contact_id: contact.id });
      const message = { content, message_type: 'incoming' };
      await service.post(`conversations/${made.body.id}/messages`, message).catch(() => null);
      return made.body.id as number;
    };
    const endOf = (id: number) => rowsOf<DeliveryRow>(databaseUrl, deliveriesStatement, [id, 'webhook']);
    const delivered = (id: number) => eventually(async () => (await endOf(id))[0]?.state === 'delivered');
    await delivered(await say('before'));
    const poisonous = await say('poison');
    await eventually(
      async () => {
        if (!service.isRunning) {
          await rowsOf(databaseUrl, 'UPDATE lanes SET due_at = now() WHERE lease_token IS NOT NULL');
          service = await start();
        }
        return (await endOf(poisonous))[0]?.state === 'exhausted';
      },
      240_000,
      async () => JSON.stringify([posts, await endOf(poisonous)]),
    );
    const [delivery] = await endOf(poisonous);
    expect(posts).to.equal(5);
    expect(delivery).to.deep.include({ last_error: 'defect', attempt: 6 });
    expect(delivery!.attempts).to.deep.equal([lost, lost, lost, lost, lost, 'failed defect']);
    expect(service.output).to.match(/"outcome":"defect"/);
    // The engine starts before requests are taken.
    await eventually(async () => (await service.get('/readyz')).status === 200);
    await delivered(await say('after'));
    await service.stop();
    await receiver.close();
    await dropDatabase(databaseUrl);
  });
});

import { expect } from 'chai';
import { pino } from 'pino';
import { readLedger } from '../../../src/deliveries/log/ledger.ts';
import { tellPaused } from '../../../src/domain/endpoints/pauses.ts';
import { deleteOldEvents } from '../../../src/domain/upkeep/retention.ts';
import { MailServer } from '../../support/mail-server.ts';
import { addPerson } from '../../support/people.ts';
import { Receiver } from '../../support/receiver.ts';
import { Sending, type Body } from '../../support/sending.ts';

const days = 30;

describe('a forgotten pause', () => {
  let mail: MailServer;
  let other: Receiver;
  const lines: Record<string, unknown>[] = [];
  before(async () => void ([mail, other] = [await MailServer.start(), await Receiver.start()]));
  const sending = Sending.use({
    log: pino({ level: 'warn' }, { write: (line: string) => void lines.push(JSON.parse(line)) }),
    config: {
      mailFrom: 'service@example.com',
      get smtpUrl() {
        return mail.url;
      },
    },
  });
  after(async () => {
    await mail.close();
    await other.close();
  });
  beforeEach(() => {
    lines.length = 0;
    mail.received.length = 0;
    other.received.length = 0;
  });

  const database = () => sending.app.app.database;
  const pause = (path: string) => sending.made(`${path}/pause`, {}, 200);
  const since = (table: string, { id }: Body, age: string) =>
    sending.app.query(`UPDATE ${table} SET paused_at = now() - $2::interval WHERE id = $1`, [id, age]);

  /** Lets time pass for what the webhook has: its events and deliveries happened so long ago. */
  const age = async (webhook: Body, ago: string): Promise<void> => {
    for (const statement of [
      `UPDATE deliveries SET created_at = now() - $2::interval, next_attempt_at = now() - $2::interval
       WHERE endpoint_kind = 'webhook' AND endpoint_id = $1`,
      `UPDATE deliveries SET created_at = now() - $2::interval, finished_at = now() - $2::interval
       WHERE endpoint_id <> $1 AND state = 'delivered'
         AND event_id IN (SELECT event_id FROM deliveries WHERE endpoint_kind = 'webhook' AND endpoint_id = $1)`,
      `UPDATE events SET created_at = now() - $2::interval
       WHERE id IN (SELECT event_id FROM deliveries WHERE endpoint_kind = 'webhook' AND endpoint_id = $1)`,
    ])
      await sending.app.query(statement, [webhook.id, ago]);
  };

  const eventsWith = (text: string) =>
    sending.app.query(`SELECT FROM events WHERE account_payload::text LIKE '%' || $1 || '%'`, [text]);
  const lanesOf = ({ id }: Body) =>
    sending.app.query<{ due: boolean; pending: number }>(
      `SELECT due_at IS NOT NULL AS due, (SELECT count(*)::int FROM deliveries d WHERE d.lane_id = l.id AND d.state = 'pending') AS pending
       FROM lanes l WHERE endpoint_kind = 'webhook' AND endpoint_id = $1 ORDER BY id`,
      [id],
    );
  const prune = async (): Promise<void> => {
    await sending.app.eventually(async () => (await sending.app.query('SELECT FROM unplaced_events')).length === 0);
    await deleteOldEvents(database(), days);
  };
  const ledger = async () =>
    expect(await readLedger({ databaseUrl: sending.app.databaseUrl, holdAttempts: 3, timeoutMs: 0 })).to.include({
      ok: true,
    });

  it('keeps no text for longer than RETENTION_DAYS, here and for other webhooks; what is newer arrives after it', async () => {
    const webhook = await sending.webhookFor('message_created');
    const prompt = await sending.made('webhooks', { url: other.url, subscriptions: ['message_created'] });
    await pause(`webhooks/${webhook.id}`);
    const conversation = await sending.conversation();
    await sending.say(conversation, 'Old secret');
    await sending.eventuallyIn(prompt, 'delivered');
    await since('webhooks', webhook, '40 days');
    await age(webhook, '29 days');
    await prune();
    expect(await eventsWith('Old secret')).to.have.length(1);
    await age(webhook, '31 days');
    await sending.say(conversation, 'New words');
    await sending.eventuallyIn(prompt, 'delivered', 2);
    await prune();
    expect(await eventsWith('Old secret')).to.deep.equal([]);
    expect(await eventsWith('New words')).to.have.length(1);
    expect(await lanesOf(webhook)).to.deep.equal([{ due: true, pending: 1 }]);
    await ledger();
    await sending.made(`webhooks/${webhook.id}/resume`, {}, 200);
    await sending.receiver.waitFor(1);
    await sending.eventuallyIn(webhook, 'delivered');
    expect(sending.contents).to.deep.equal(['New words']);
    await ledger();
  });

  it('leaves no lane that is due for nothing', async () => {
    const webhook = await sending.webhookFor('message_created');
    await pause(`webhooks/${webhook.id}`);
    await sending.say(await sending.conversation(), 'Nothing stays');
    await since('webhooks', webhook, '40 days');
    await age(webhook, '31 days');
    await prune();
    expect(await eventsWith('Nothing stays')).to.deep.equal([]);
    // It was idle then, and the same sweep deleted it.
    expect(await lanesOf(webhook)).to.deep.equal([]);
  });

  it('loses nothing of a pause that began today, and nothing that somebody asked for since', async () => {
    const [young, asked] = [await sending.webhookFor('message_created'), await sending.webhookFor('message_created')];
    await pause(`webhooks/${young.id}`);
    await sending.say(await sending.conversation(), 'Once more');
    const [delivered] = await sending.eventuallyIn(asked, 'delivered');
    await pause(`webhooks/${asked.id}`);
    await sending.made(`deliveries/${delivered.id}/resend`, {}, 202);
    await since('webhooks', asked, '40 days');
    await since('webhooks', young, '23 hours');
    await age(young, '31 days');
    await prune();
    expect(await eventsWith('Once more')).to.have.length(1);
    // Now only the resend of today waits.
    await since('webhooks', young, '25 hours');
    await prune();
    expect(await eventsWith('Once more')).to.have.length(1);
    await sending.app.query(
      `UPDATE deliveries SET created_at = now() - interval '31 days' WHERE endpoint_id = $1 AND state = 'pending'`,
      [asked.id],
    );
    await prune();
    expect(await eventsWith('Once more')).to.deep.equal([]);
  });

  it('is told to the administrators after a day, once, and the next pause again', async () => {
    const agent = await addPerson(sending.app, { name: 'Agent', role: 'agent' });
    const webhook = await sending.made('webhooks', {
      url: sending.receiver.url,
      name: 'CRM',
      subscriptions: ['message_created'],
    });
    const off = await sending.webhookFor('message_created');
    const bot = await sending.made('agent_bots', { name: 'Helper', outgoing_url: 'https://bot.example.com/hook' });
    const mails = () => mail.received.filter(({ message }) => message.includes('has been paused for a day'));
    const logged = () =>
      lines
        .filter(({ msg }) => msg === 'paused for a day')
        .map(({ endpoint, id }) => `${String(endpoint)} ${String(id)}`);
    expect(webhook.paused_at).to.equal(null);
    await pause(`webhooks/${webhook.id}`);
    await pause(`webhooks/${off.id}`);
    await pause(`agent_bots/${bot.id}`);
    await since('webhooks', webhook, '23 hours');
    await tellPaused(database());
    expect(logged()).to.deep.equal([]);
    await since('webhooks', webhook, '25 hours');
    await since('webhooks', off, '25 hours');
    await since('agent_bots', bot, '2 days');
    await sending.app.patch(`webhooks/${off.id}`, { active: false });
    // Several processes look at once.
    await Promise.all([tellPaused(database()), tellPaused(database())]);
    await sending.app.eventually(async () => mails().length === 2);
    const shown = (await sending.app.get(`webhooks/${webhook.id}`)).body;
    expect(shown.paused_at).to.be.closeTo(Date.now() / 1000 - 25 * 3600, 60);
    expect((await sending.app.get(`webhooks/${webhook.id}/health`)).body.paused_at).to.equal(shown.paused_at);
    expect((await sending.app.get(`agent_bots/${bot.id}`)).body.paused_at).to.be.a('number');
    const [ofWebhook] = mails().filter(({ message }) => message.includes(`webhook ${webhook.id} (CRM)`));
    // Without the line breaks of quoted-printable.
    const text = ofWebhook!.message.replaceAll(/=\r?\n/g, '');
    expect(text).to.contain(`/webhooks/${webhook.id}/resume`).and.contain(`wait for ${days} days`);
    expect(mails().some(({ message }) => message.includes(`bot ${bot.id} (Helper)`))).to.equal(true);
    expect(mails().flatMap(({ to }) => to)).not.to.include(`TO:<${agent.email}>`);
    await tellPaused(database());
    expect(logged()).to.have.members([`webhook ${webhook.id}`, `bot ${bot.id}`]);
    await sending.made(`webhooks/${webhook.id}/resume`, {}, 200);
    expect((await sending.app.get(`webhooks/${webhook.id}`)).body.paused_at).to.equal(null);
    await pause(`webhooks/${webhook.id}`);
    await tellPaused(database());
    expect(logged()).to.have.length(2);
    await sending.app.query(`UPDATE webhooks SET pause_told_at = pause_told_at - interval '3 days' WHERE id = $1`, [
      webhook.id,
    ]);
    await since('webhooks', webhook, '2 days');
    await tellPaused(database());
    await sending.app.eventually(async () => mails().length === 3);
  });
});

import { expect } from 'chai';
import { pino } from 'pino';
import { sendDigests } from '../../../src/domain/endpoints/digests.ts';
import { tellFailing } from '../../../src/domain/endpoints/notices.ts';
import { TestApp } from '../../support/app.ts';
import { MailServer } from '../../support/mail-server.ts';
import { addPerson } from '../../support/people.ts';
import { Receiver, verify } from '../../support/receiver.ts';

describe('notices about webhooks', () => {
  let app: TestApp;
  let mail: MailServer;
  let gone: Receiver;
  let observer: Receiver;
  const lines: Record<string, unknown>[] = [];
  let watching: { id: number; secret: string };

  before(async function () {
    this.timeout(60_000);
    [mail, gone, observer] = [await MailServer.start(), await Receiver.start(), await Receiver.start()];
    const log = pino({ level: 'warn' }, { write: (line: string) => void lines.push(JSON.parse(line)) });
    app = await TestApp.start({ log, config: { smtpUrl: mail.url, mailFrom: 'service@example.com' } });
    await addPerson(app, { name: 'Grace', role: 'administrator' });
    await addPerson(app, { name: 'Agent', role: 'agent' });
    await app.post('agents', { name: 'Invited', email: 'invited@example.com', role: 'administrator' });
    await app.eventually(async () => mail.received.length === 1);
    const subscriptions = ['webhook_disabled'];
    watching = (await app.post('webhooks', { url: observer.url, subscriptions })).body;
  });

  after(async () => {
    await app.stop();
    for (const one of [mail, gone, observer]) await one.close();
  });

  beforeEach(() => {
    lines.length = 0;
    mail.received.length = 0;
    observer.received.length = 0;
  });

  const linesOf = (id: number) => lines.filter(({ webhook, msg }) => webhook === id && msg !== 'delivery failed');
  const create = async () =>
    (await app.post('webhooks', { url: gone.url, name: 'CRM', subscriptions: ['contact_created', 'webhook_disabled'] }))
      .body;
  const administrators = async () =>
    (await app.get('agents')).body.filter(
      (agent: { role: string; confirmed: boolean }) => agent.role === 'administrator' && agent.confirmed,
    );

  it('tell that one was switched off because of a 410: an event, a line, a mail to the administrators', async () => {
    const webhook = await create();
    gone.answerWith((_, response) => response.writeHead(410).end());
    await app.post('contacts', { name: 'Ada' });
    const [told] = await observer.waitFor(1);
    verify(watching.secret, told!);
    const reason = 'The receiver answered 410 Gone';
    const [account] = await app.query<{ name: string }>('SELECT name FROM accounts WHERE id = 1');
    expect(told!.body).to.deep.equal({
      event: 'webhook_disabled',
      webhook: { id: webhook.id, name: 'CRM', url: gone.url },
      reason,
      account: { id: 1, name: account!.name },
      actor: null,
      depth: 0,
    });
    expect((await app.get(`webhooks/${webhook.id}`)).body.disabled_reason).to.equal(reason);
    expect(linesOf(webhook.id)).to.have.length(1);
    expect(linesOf(webhook.id)[0]).to.include({ level: 40, account: 1, webhook: webhook.id, reason });
    const people = await administrators();
    await app.eventually(async () => mail.received.length === people.length);
    expect(mail.received.flatMap(({ to }) => to)).to.have.members(
      people.map(({ email }: { email: string }) => `TO:<${email}>`),
    );
    for (const { message } of mail.received) {
      expect(message).to.contain(`webhook ${webhook.id} (CRM) was switched off`);
      expect(message).not.to.contain(webhook.secret);
    }
    // The feed tells administrators too; the webhook itself is off and hears nothing.
    expect(gone.received.map(({ body }) => body['event'])).to.deep.equal(['contact_created']);
    const inFeed = async () => (await app.get('events?types=webhook_disabled')).body.payload.length as number;
    await app.eventually(async () => (await inFeed()) > 0);
    expect(await inFeed()).to.equal(1);
    await app.delete(`webhooks/${webhook.id}`);
  });

  it('say nothing when a person switches one off', async () => {
    const webhook = await create();
    await app.eventNames();
    await app.patch(`webhooks/${webhook.id}`, { active: false });
    expect(await app.eventNames()).to.deep.equal([]);
    await app.delete(`webhooks/${webhook.id}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect([linesOf(webhook.id), observer.received, mail.received]).to.deep.equal([[], [], []]);
  });

  it('tell once of one that has done nothing but fail for an hour', async () => {
    const [webhook, young, off, paused] = [await create(), await create(), await create(), await create()];
    await app.patch(`webhooks/${off.id}`, { active: false });
    // It failed for two minutes before it was paused: nothing has been tried since.
    await app.post(`webhooks/${paused.id}/pause`);
    await app.query(`UPDATE webhooks SET paused_at = now() - interval '59 minutes' WHERE id = $1`, [paused.id]);
    const since = `now() - interval '61 minutes'`;
    await app.query(`UPDATE webhooks SET failing_since = ${since}, consecutive_failures = 7 WHERE id = ANY ($1)`, [
      [webhook.id, off.id, paused.id],
    ]);
    await app.query(`UPDATE webhooks SET failing_since = now() - interval '59 minutes' WHERE id = $1`, [young.id]);
    for (let times = 0; times < 2; times++) await tellFailing(app.app.database);
    expect(linesOf(webhook.id)).to.have.length(1);
    expect(linesOf(webhook.id)[0]).to.include({ msg: 'webhook has been failing for an hour' });
    expect([young, off, paused].flatMap(({ id }) => linesOf(id))).to.deep.equal([]);
    await app.post(`webhooks/${paused.id}/resume`);
    await tellFailing(app.app.database);
    expect(linesOf(paused.id)).to.deep.equal([]);
    await app.query('UPDATE webhook_digests SET mailed_at = NULL');
    await sendDigests(app.app.database);
    await app.eventually(async () => mail.received.length === 2);
    // It recovered, and fails again.
    await app.query(`UPDATE webhooks SET failing_told_at = now() - interval '3 hours' WHERE id = $1`, [webhook.id]);
    await tellFailing(app.app.database);
    expect(linesOf(webhook.id)).to.have.length(2);
  });
});

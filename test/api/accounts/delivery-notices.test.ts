import { expect } from 'chai';
import { readLedger } from '../../../src/deliveries/log/ledger.ts';
import { sendDigests } from '../../../src/domain/endpoints/digests.ts';
import { tellExhausted } from '../../../src/domain/endpoints/exhaustion.ts';
import { tellFailing } from '../../../src/domain/endpoints/notices.ts';
import { MailServer } from '../../support/mail-server.ts';
import { addPerson } from '../../support/people.ts';
import { Receiver } from '../../support/receiver.ts';
import { Sending, type Body } from '../../support/sending.ts';

const about = ['delivery_exhausted', 'webhook_failing', 'webhook_recovered'];

describe('events about deliveries', () => {
  let mail: MailServer;
  let observer: Receiver;
  before(async () => void ([mail, observer] = [await MailServer.start(), await Receiver.start()]));
  const config = {
    mailFrom: 'service@example.com',
    get smtpUrl() {
      return mail.url;
    },
  };
  const sending = Sending.use({ config });
  after(async () => {
    await mail.close();
    await observer.close();
  });

  const database = () => sending.app.app.database;
  const watch = (): Promise<Body> => sending.made('webhooks', { url: observer.url, subscriptions: about });
  const heard = (name: string) => observer.received.filter(({ body }) => body['event'] === name);
  const gone = (): void => sending.receiver.answerWith((_, response) => response.writeHead(410).end());
  const queued = () => sending.app.query<{ delivery_id: number }>('SELECT delivery_id FROM exhausted_deliveries');

  beforeEach(() => {
    mail.received.length = 0;
    observer.received.length = 0;
    observer.answerWith((_, response) => response.end());
  });

  it('tell other webhooks, the feed and its administrators of what was given up, and never the webhook itself', async () => {
    const agent = await addPerson(sending.app, { name: 'Agent', role: 'agent' });
    await watch();
    const webhook = await sending.webhookFor('message_created', ...about);
    gone();
    await sending.say(await sending.conversation(), 'lost');
    const [lost] = await sending.eventuallyIn(webhook, 'exhausted');
    expect(await tellExhausted(database())).to.be.within(0, 1);
    await sending.app.eventually(async () => heard('delivery_exhausted').length === 1);
    expect(heard('delivery_exhausted')[0]!.body).to.deep.include({
      delivery_id: lost.id,
      delivery_event: 'message_created',
      webhook_id: webhook.id,
      webhook: { id: webhook.id, name: null, url: sending.receiver.url },
      last_error: lost.last_error,
      omitted: 0,
    });
    await tellExhausted(database());
    expect(heard('delivery_exhausted')).to.have.length(1);
    expect(sending.receiver.received.map(({ body }) => body['event'])).to.deep.equal(['message_created']);
    const feed = async (headers = {}) =>
      (await sending.app.get('events?types=delivery_exhausted', headers)).body.payload.length as number;
    await sending.app.eventually(async () => (await feed()) === 1);
    expect(await feed(agent.headers)).to.equal(0);
    expect(await readLedger({ databaseUrl: sending.app.databaseUrl, holdAttempts: 3, timeoutMs: 0 })).to.include({
      ok: true,
    });
  });

  it('are told neither of samples nor of deliveries of such events', async () => {
    const watching = await watch();
    observer.answerWith((_, response) => response.writeHead(410).end());
    const webhook = await sending.webhookFor('message_created');
    gone();
    await sending.made(`webhooks/${webhook.id}/test`, {}, 202);
    await sending.eventuallyIn(webhook, 'exhausted');
    await sending.app.patch(`webhooks/${webhook.id}`, { active: true });
    await sending.say(await sending.conversation(), 'lost');
    await sending.eventuallyIn(webhook, 'exhausted', 2);
    await sending.app.eventually(async () => {
      await tellExhausted(database());
      return heard('delivery_exhausted').length === 1;
    });
    await sending.eventuallyIn(watching, 'exhausted');
    await sending.app.eventually(async () => {
      await tellExhausted(database());
      return (await queued()).length === 0;
    });
    const said = await sending.app.query<{ id: number }>(
      `SELECT (account_payload ->> 'webhook_id')::int AS id FROM events WHERE name = 'delivery_exhausted' AND NOT is_test
       AND account_payload #>> '{webhook,id}' = ANY ($1)`,
      [[String(webhook.id), String(watching.id)]],
    );
    expect(said).to.deep.equal([{ id: webhook.id }]);
  });

  it('of very many deliveries are a hundred an hour, and the next one counts the others', async () => {
    const webhook = await sending.webhookFor('contact_created');
    const conversation = await sending.conversation();
    await sending.app.query(
      `WITH lane AS (
         INSERT INTO lanes (account_id, endpoint_kind, endpoint_id, subject_kind, subject_id) VALUES (1, 'webhook', $1, 'conversation', $2)
         RETURNING id
       ), event AS (
         INSERT INTO events (account_id, name, conversation_id, account_payload, created_at)
         SELECT 1, 'message_created', $2, '{}', now() - interval '5 days' FROM generate_series(1, 3000) RETURNING id
       ), lost AS (
         INSERT INTO deliveries (account_id, event_id, lane_id, endpoint_kind, endpoint_id, state, finished_at, last_error)
         SELECT 1, event.id, lane.id, 'webhook', $1, 'exhausted', now(), 'timeout' FROM event, lane RETURNING id)
       INSERT INTO exhausted_deliveries SELECT 1, $1, id FROM lost`,
      [webhook.id, conversation],
    );
    const said = () =>
      sending.app.query<{ omitted: number; delivery: number }>(
        `SELECT (account_payload ->> 'omitted')::int AS omitted, (account_payload ->> 'delivery_id')::bigint AS delivery FROM events
         WHERE name = 'delivery_exhausted' AND account_payload ->> 'webhook_id' = $1 ORDER BY id`,
        [String(webhook.id)],
      );
    const tell = () =>
      sending.app.eventually(async () => {
        await tellExhausted(database());
        return (await queued()).length <= 1;
      });
    await tell();
    await tell();
    expect(await said()).to.have.length(100);
    const [kept] = await queued();
    await sending.app.query(`UPDATE webhook_notices SET window_at = now() - interval '61 minutes'`);
    await tellExhausted(database());
    await sending.app.eventually(async () => (await said()).length === 101);
    expect((await said()).at(-1)).to.deep.equal({ omitted: 2_899, delivery: kept!.delivery_id });
    expect(await queued()).to.deep.equal([]);
  });

  it('tell of a webhook that has failed for an hour, and that it recovered, each once, and not itself', async () => {
    await watch();
    const webhook = await sending.webhookFor('contact_created', ...about);
    const fail = (minutes: number) =>
      sending.app.query(
        `UPDATE webhooks SET failing_since = now() - make_interval(mins => $2), consecutive_failures = 7 WHERE id = $1`,
        [webhook.id, minutes],
      );
    await fail(59);
    await tellFailing(database());
    await fail(61);
    const [{ at } = { at: 0 }] = await sending.app.query<{ at: number }>(
      'SELECT floor(extract(epoch FROM failing_since))::int AS at FROM webhooks WHERE id = $1',
      [webhook.id],
    );
    for (let times = 0; times < 2; times++) await tellFailing(database());
    await sending.app.eventually(async () => heard('webhook_failing').length > 0);
    for (let times = 0; times < 2; times++) {
      await sending.made('contacts', { name: 'Ada' });
      await sending.receiver.waitFor(times + 1);
    }
    await sending.app.eventually(async () => heard('webhook_recovered').length > 0);
    const shown = {
      webhook_id: webhook.id,
      webhook: { id: webhook.id, name: null, url: sending.receiver.url },
      since: at,
    };
    expect(heard('webhook_failing').map(({ body }) => body)).to.have.length(1);
    expect(heard('webhook_failing')[0]!.body).to.deep.include({ ...shown, failures: 7 });
    expect(heard('webhook_recovered').map(({ body }) => body)).to.have.length(1);
    expect(heard('webhook_recovered')[0]!.body).to.deep.include(shown);
    expect(sending.receiver.received.map(({ body }) => body['event'])).to.deep.equal([
      'contact_created',
      'contact_created',
    ]);
  });

  it('are mailed to administrators once a day at most, all together', async () => {
    const administrators = 1;
    await sending.app.query('DELETE FROM webhook_digests');
    const [one, other] = [await sending.webhookFor('contact_created'), await sending.webhookFor('contact_created')];
    const fail = (id: number) =>
      sending.app.query(
        `UPDATE webhooks SET failing_since = now() - interval '2 hours', consecutive_failures = 7 WHERE id = $1`,
        [id],
      );
    const digests = () => mail.received.filter(({ message }) => message.includes('once a day at most'));
    await fail(one.id);
    await tellFailing(database());
    await sendDigests(database());
    await sending.app.eventually(async () => digests().length === administrators);
    await fail(other.id);
    await tellFailing(database());
    gone();
    await sending.made('contacts', { name: 'Lost' });
    await sending.eventuallyIn(one, 'exhausted');
    await sending.eventuallyIn(other, 'exhausted');
    await sending.app.eventually(async () => {
      await tellExhausted(database());
      return (await queued()).length === 0;
    });
    await sendDigests(database());
    await sending.app.query(`UPDATE webhook_digests SET mailed_at = now() - interval '25 hours'`);
    for (let times = 0; times < 2; times++) await sendDigests(database());
    await sending.app.eventually(async () => digests().length === 2 * administrators);
    const { message } = digests().at(-1)!;
    expect(message).to.contain(`Webhook ${one.id}: 1 delivery was given up.`);
    expect(message).to.contain(`Webhook ${other.id}: every attempt has failed for an hour.`);
    expect(message).not.to.contain(`Webhook ${one.id}: every`);
  });
});

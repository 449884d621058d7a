import { expect } from 'chai';
import { eventsFor } from '../../src/events/sample-body.ts';
import { payloadSchema, type Audience } from '../../src/events/catalog.ts';
import { assertShape } from '../../src/schemas.ts';
import { startHttpsReceiver, type HttpsReceiver } from '../support/https-receiver.ts';
import { expectRefused, verify, type Receiver, type Received } from '../support/receiver.ts';
import { Sending, type Body } from '../support/sending.ts';

const inFeed = `SELECT FROM events e LEFT JOIN event_feed f ON f.event_id = e.id LEFT JOIN unplaced_events u ON u.event_id = e.id
  WHERE e.is_test AND (f.event_id IS NOT NULL OR u.event_id IS NOT NULL)`;

describe('the libraries standardwebhooks and svix', function () {
  this.timeout(60_000);
  const sending = Sending.use();
  let secure: HttpsReceiver;

  before(async () => {
    secure = await startHttpsReceiver();
  });

  after(() => secure.close());

  const endpoints: Record<Audience, () => Promise<{ at: string; secret: string; receiver: Receiver }>> = {
    account: async () => {
      const { id, secret } = await sending.webhookFor('contact_created');
      return { at: `webhooks/${id}`, secret, receiver: sending.receiver };
    },
    bot: async () => {
      const fields = { name: 'Server', outgoing_url: secure.receiver.url };
      const { id, secret } = await sending.made('agent_bots', fields);
      return { at: `agent_bots/${id}`, secret, receiver: secure.receiver };
    },
  };
  const rotations: Record<Audience, string> = { account: 'rotate_secret', bot: 'reset_secret' };

  for (const audience of ['account', 'bot'] as const) {
    it(`verify every event of the catalogue for ${audience}s: sent, sent again, and while the secret rotates`, async () => {
      const { at, secret, receiver } = await endpoints[audience]();
      const names = eventsFor(audience);
      const tests: Body[] = [];
      for (const event of names) {
        const delivery = await sending.made(`${at}/test`, { event }, 202);
        expect(delivery).to.include({ event, trigger: 'test', state: 'pending' });
        tests.push(delivery);
      }
      const first = [...(await receiver.waitFor(names.length))];
      expect(first.map(({ body }) => body['event'])).to.have.members(names);
      for (const one of first) expectVerified(audience, one, [secret]);

      const { secret: next } = (await sending.app.post(`${at}/${rotations[audience]}`)).body;
      expect(next)
        .to.match(/^whsec_/)
        .and.not.equal(secret);
      for (const { id } of tests) await sending.app.eventually(async () => (await sending.stateOf(id)) === 'delivered');
      for (const { id } of tests) await sending.made(`deliveries/${id}/resend`, {}, 202);
      const again = (await receiver.waitFor(2 * names.length)).slice(names.length);
      const idsOf = (some: readonly Received[]) => some.map(({ headers }) => headers['webhook-id']);
      expect(idsOf(again)).to.have.members(idsOf(first));
      for (const one of again) expectVerified(audience, one, [secret, next]);

      await sending.app.query(`UPDATE ${audience === 'bot' ? 'agent_bots' : 'webhooks'}
        SET older_secrets = jsonb_set(older_secrets, '{0,endsAt}', to_jsonb(now()))`);
      for (const event of names) await sending.made(`${at}/test`, { event }, 202);
      const later = (await receiver.waitFor(3 * names.length)).slice(2 * names.length);
      for (const one of later) {
        expectVerified(audience, one, [next]);
        expectRefused(secret, one);
      }
      expect(await sending.app.query(inFeed)).to.deep.equal([]);
    });
  }

  function expectVerified(audience: Audience, one: Received, secrets: readonly string[]): void {
    expect(one.headers['webhook-test']).to.equal('true');
    expect(one.body['account']).to.deep.include({ id: 1 });
    assertShape(payloadSchema(one.body['event'] as never, audience), one.body);
    for (const secret of secrets) verify(secret, one);
    const seconds = Number(one.headers['webhook-timestamp']);
    const spoilt: Partial<Received>[] = [
      { text: one.text.replace('event', 'Event') },
      { headers: { ...one.headers, 'webhook-id': `${one.headers['webhook-id'] as string}0` } },
      { headers: { ...one.headers, 'webhook-timestamp': String(seconds + 1) } },
    ];
    for (const change of spoilt) for (const secret of secrets) expectRefused(secret, { ...one, ...change });
  }
});

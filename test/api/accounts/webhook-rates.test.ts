import { expect } from 'chai';
import { expectLedger } from '../../faults/ledger.ts';
import { Receiver } from '../../support/receiver.ts';
import { Sending, type Body } from '../../support/sending.ts';

// A bucket is full at first: so many deliveries take at least so long, on any machine.
const leastMs = (deliveries: number, perSecond: number) => (1_000 * (deliveries - perSecond)) / perSecond;
// The database's clock and this one differ by as little as they are read apart.
const slackMs = 50;

describe('the rate of a webhook', function () {
  this.timeout(120_000);
  const sending = Sending.use();
  const rated = (perSecond: number | null, url = sending.receiver.url): Promise<Body> =>
    sending.made('webhooks', { url, subscriptions: ['message_created'], max_per_second: perSecond });
  const received = (count: number, by = sending.receiver) =>
    sending.app.eventually(async () => by.received.length >= count);
  const settled = () =>
    sending.app.eventually(
      async () => (await sending.app.query(`SELECT FROM deliveries WHERE state = 'pending'`)).length === 0,
    );

  it('spreads the deliveries of many conversations, and its resends beside them', async () => {
    const { id } = await rated(4);
    const conversations = [];
    for (let number = 0; number < 8; number += 1) conversations.push(await sending.conversation());
    const begun = Date.now();
    await Promise.all(conversations.map((conversation, number) => sending.say(conversation, `message ${number}`)));
    await received(8);
    const sent = await sending.eventuallyIn({ id }, 'delivered', 8);
    await Promise.all(sent.map((delivery) => sending.made(`deliveries/${delivery.id}/resend`, {}, 202)));
    await received(16);
    await settled();
    expect(Date.now() - begun).to.be.at.least(leastMs(16, 4) - slackMs);
    await expectLedger(sending.app.databaseUrl);
  });

  it('spreads the deliveries of one conversation, in their order', async () => {
    await rated(5);
    const conversation = await sending.conversation();
    const begun = Date.now();
    const contents = Array.from({ length: 14 }, (_, number) => `message ${number}`);
    for (const content of contents) await sending.say(conversation, content);
    await received(14);
    expect(Date.now() - begun).to.be.at.least(leastMs(14, 5) - slackMs);
    expect(sending.contents).to.deep.equal(contents);
    await settled();
  });

  it('holds from the next delivery on when it is set, and no more when it is taken away', async () => {
    const { id } = await rated(null);
    const conversation = await sending.conversation();
    await sending.say(conversation, 'first');
    await received(1);
    const limited = await sending.app.patch(`webhooks/${id}`, { max_per_second: 1 });
    expect(limited.body.max_per_second).to.equal(1);
    const begun = Date.now();
    for (const content of ['second', 'third', 'fourth']) await sending.say(conversation, content);
    await received(4);
    expect(Date.now() - begun).to.be.at.least(leastMs(3, 1) - slackMs);
    const hundred = Array.from({ length: 40 }, (_, number) => `message ${number}`);
    for (const content of hundred) await sending.say(conversation, content);
    expect((await sending.app.patch(`webhooks/${id}`, { max_per_second: null })).body.max_per_second).to.equal(null);
    const freed = Date.now();
    await received(44);
    // At one in a second it would have taken longer than this file may.
    expect(Date.now() - freed).to.be.below(30_000);
    await settled();
  });

  it('is the reason for which deliveries wait, with the moment', async () => {
    const hook = await rated(1);
    const conversations = [await sending.conversation(), await sending.conversation()];
    await sending.say(conversations[0]!, 'first');
    await received(1);
    // As if other processes had sent for an hour.
    await sending.app.query(`UPDATE webhook_rates SET full_at = now() + interval '1 hour' WHERE webhook_id = $1`, [
      hook.id,
    ]);
    await sending.say(conversations[1]!, 'second');
    const [delivery] = await sending.deliveriesOf(hook, '?state=pending');
    expect(delivery.waits_for).to.include({ reason: 'rate', delivery_id: null });
    expect(delivery.waits_for.until).to.be.closeTo(Date.now() / 1000 + 3600, 120);
    expect(delivery.attempts).to.equal(0);
    await sending.app.query(`UPDATE webhook_rates SET full_at = now() WHERE webhook_id = $1`, [hook.id]);
    await received(2);
    await settled();
  });

  for (const refused of [0, 1_001, 1.5, '5', true]) {
    it(`is not ${JSON.stringify(refused)}`, async () => {
      const body = { url: sending.receiver.url, subscriptions: ['message_created'], max_per_second: refused };
      const { status, body: answer } = await sending.app.post('webhooks', body);
      expect([status, answer.details?.[0].path]).to.deep.equal([422, '/max_per_second']);
    });
  }
});

describe('a webhook that waits for its rate', function () {
  this.timeout(120_000);
  const sending = Sending.use({ config: { engineInFlight: 1, endpointInFlight: 1 } });

  it('holds no slot: others are served meanwhile, with the only slot there is', async () => {
    const other = await Receiver.start();
    try {
      const subscriptions = ['message_created'];
      await sending.made('webhooks', { url: sending.receiver.url, subscriptions, max_per_second: 1 });
      await sending.made('webhooks', { url: other.url, subscriptions });
      const conversation = await sending.conversation();
      for (let number = 0; number < 20; number += 1) await sending.say(conversation, `message ${number}`);
      await sending.app.eventually(async () => other.received.length === 20);
      expect(sending.receiver.received.length).to.be.within(1, 19);
    } finally {
      await other.close();
    }
  });
});

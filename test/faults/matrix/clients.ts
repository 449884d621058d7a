import { Webhook } from 'standardwebhooks';
import { Webhook as Svix } from 'svix';
import { catalog, payloadSchema, type EventName } from '../../../src/events/catalog.ts';
import { findProblems } from '../../../src/schemas.ts';
import type { Fault } from './fault.ts';
import { ok } from './manners.ts';
import { until } from './patience.ts';
import type { Post } from './receiver.ts';

function isSignedBy(secret: string, { headers, text }: Pick<Post, 'headers' | 'text'>): boolean {
  const signed = {
    'webhook-id': String(headers['webhook-id']),
    'webhook-timestamp': String(headers['webhook-timestamp']),
    'webhook-signature': String(headers['webhook-signature']),
  };
  try {
    new Webhook(secret).verify(text, signed);
    new Svix(secret).verify(text, signed);
    return true;
  } catch {
    return false;
  }
}

const rotated: Fault = {
  id: 'F17',
  what: "a webhook's secret is replaced under load",
  run: async (trial) => {
    const { services, client, scale } = trial;
    await services.startWeb();
    await services.startEngine();
    const { receiver, id, secret: old } = await trial.receiver('receiver', () => ok, { keepsPosts: true });
    const producer = await trial.producer(6);
    const writing = producer.write(scale.pick(80, 2_000));
    await until('deliveries under way', () => receiver.arrivals.length > 10);
    const { secret: next } = await client.need('POST', `webhooks/${id}/rotate_secret`);
    await writing;
    // What is written from here on was asked for when the new secret was known.
    const known = new Set(producer.writes.map(({ key }) => key));
    await producer.write(scale.pick(40, 1_000));
    await trial.settle();
    const byOld = receiver.posts.filter((post) => !isSignedBy(old, post)).length;
    const later = receiver.posts.filter(({ arrival }) => !known.has(arrival.key ?? ''));
    const byNew = later.filter((post) => !isSignedBy(next, post)).length;
    trial.check(byOld === 0, `${byOld} deliveries of the first 24 hours are not signed with the old secret`);
    trial.check(
      later.length > 0 && byNew === 0,
      `${byNew} of ${later.length} later ones are not signed with the new one`,
    );
  },
};

const heard = Object.keys(catalog).filter((name): name is EventName => 'account' in catalog[name as EventName]);

const realClients: Fault = {
  id: 'F19',
  what: 'standardwebhooks and svix verify every event, and refuse what was tampered with',
  run: async (trial) => {
    const { services, client, scale } = trial;
    await services.startWeb();
    await services.startEngine();
    const { receiver, id, secret } = await trial.receiver('receiver', () => ok, {
      subscriptions: heard,
      keepsPosts: true,
    });
    const producer = await trial.producer(3);
    await producer.write(scale.pick(12, 300));
    const [conversation = 0] = producer.conversations;
    await client.need('PATCH', `conversations/${conversation}`, { priority: 'high' });
    await client.need('POST', `conversations/${conversation}/toggle_status`, { status: 'resolved' });
    await trial.settle();
    const real = receiver.posts.length;
    for (const event of heard) await client.need('POST', `webhooks/${id}/test`, { event });
    await until('every test', () => receiver.posts.length >= real + heard.length);
    const missing = heard.filter((name) => !receiver.posts.some(({ arrival }) => arrival.event === name));
    trial.check(missing.length === 0, `nothing arrived for ${missing.join(', ')}`);
    for (const post of receiver.posts) {
      trial.check(isSignedBy(secret, post), `${post.arrival.webhookId} is not verified`);
      const [tampered, other] = [
        { ...post, text: `${post.text} ` },
        { ...post, headers: { ...post.headers, 'webhook-id': 'evt_0' } },
      ];
      trial.check(
        !isSignedBy(secret, tampered) && !isSignedBy(secret, other),
        `${post.arrival.webhookId} is verified after a change`,
      );
      const problems = findProblems(payloadSchema(post.arrival.event as EventName, 'account'), JSON.parse(post.text));
      trial.check(
        problems.length === 0,
        `${post.arrival.event} is not as its schema says: ${JSON.stringify(problems[0])}`,
      );
    }
    // A test is no event of anybody's, and no part of what is compared.
    receiver.arrivals.length = real;
  },
};

export const clients: readonly Fault[] = [rotated, realClients];

import type { Fault } from './fault.ts';
import * as manners from './manners.ts';
import { until } from './patience.ts';
import type { Conduct } from './receiver.ts';
import { recoverAll } from './recovery.ts';
import { residentMb } from './services.ts';
import type { Subscription, Trial } from './trial.ts';

/** Time enough for a healthy answer on the busiest machine, and little enough to wait for. */
const env = { WEBHOOK_TIMEOUT_MS: '3000', LEASE_SECONDS: '10' };
const oftenEnough = 0.03;
const kernelBytes = 64 * 1024 * 1024;
const keptBytes = 16_384;
const grownMb = 150;

async function begin(trial: Trial): Promise<void> {
  await trial.services.startWeb();
  await trial.services.startEngine();
}

/** What the service's log says of the first attempt to each webhook: the class of its error, or `delivered`. */
export async function firstErrors(
  trial: Trial,
  id: number,
): Promise<{ class: string; detail: string | null; body: string }> {
  const [first] = await trial.rows<{ delivery_id: number }>(
    `SELECT a.delivery_id FROM attempts a JOIN deliveries d ON d.account_id = a.account_id AND d.id = a.delivery_id
     WHERE d.endpoint_kind = 'webhook' AND d.endpoint_id = $1 ORDER BY a.id LIMIT 1`,
    [id],
  );
  const { attempts } = await trial.client.need('GET', `deliveries/${first?.delivery_id}`);
  const [{ error, response }] = attempts;
  return { class: error?.class ?? 'delivered', detail: error?.detail ?? null, body: response?.body ?? '' };
}

const hanging: Fault = {
  id: 'F9',
  what: 'one receiver that never answers among healthy ones (6; 90 in the full profile)',
  env,
  run: async (trial) => {
    const { scale, client } = trial;
    await begin(trial);
    const producer = await trial.producer(8);
    const { receiver, id } = await trial.receiver('hanging', () => manners.ok);
    for (let number = 1; number <= scale.pick(6, 90); number += 1)
      await trial.receiver(`healthy-${number}`, () => manners.ok);
    const healthy = trial.receivers.slice(1);
    await producer.write(16);
    await trial.settle();
    receiver.conduct = () => manners.hang;
    await producer.write(scale.pick(60, 500));
    const wanted = producer.writes.length;
    await until('the healthy ones have everything', () => healthy.every(({ arrivals }) => arrivals.length >= wanted));
    await until('the circuit opens', async () => (await client.need('GET', `webhooks/${id}`)).circuit.state === 'open');
    const taken = receiver.arrivals.filter(({ reply }) => reply === 'accepted').length;
    trial.check(taken < wanted, 'the hanging receiver got everything too: nothing was tried');
    trial.check(receiver.mostAtOnce <= 8, `${receiver.mostAtOnce} deliveries at once waited for the hanging receiver`);
    receiver.conduct = () => manners.ok;
  },
};

const oddAnswers: Readonly<Record<string, { manner: manners.Manner; expected: RegExp }>> = {
  'drips-headers': { manner: manners.dripHeaders, expected: /^timeout$/ },
  'drips-its-body': { manner: manners.dripBody, expected: /^delivered$/ },
  'sends-long-headers': { manner: manners.longHeaders, expected: /^too_large$/ },
  'sends-a-bomb': { manner: manners.bomb, expected: /^delivered$/ },
  'sends-garbage': { manner: manners.garbage, expected: /^unknown$/ },
  'closes-behind-headers': { manner: manners.closeAfterHeaders, expected: /^delivered$/ },
  lies: { manner: manners.lie, expected: /^delivered$/ },
  resets: { manner: manners.reset, expected: /^reset$/ },
};

/** As odd as it can be at first and now and then; otherwise healthy. */
function oddly(trial: Trial, manner: manners.Manner): Conduct {
  let isFirst = true;
  return (_, count) => {
    const isOdd = isFirst || (trial.scale.isFull && count === 1 && trial.scale.random() < oftenEnough);
    isFirst = false;
    return isOdd ? manner : manners.ok;
  };
}

const odd: Fault = {
  id: 'F10',
  what: 'receivers that drip, reset, lie, send garbage, long headers, an endless body or a bomb',
  env,
  run: async (trial) => {
    const { scale, services } = trial;
    await begin(trial);
    const producer = await trial.producer(3);
    let poured = 0;
    const endless = manners.endless((bytes) => (poured = Math.max(poured, bytes)));
    const kinds = { ...oddAnswers, 'never-ends': { manner: endless, expected: /^delivered$/ } };
    const subscribed: [string, Subscription][] = [];
    for (const [name, { manner }] of Object.entries(kinds))
      subscribed.push([name, await trial.receiver(name, oddly(trial, manner))]);
    const before = await Promise.all(services.engines.map(residentMb));
    await producer.write(scale.pick(12, 300));
    await trial.settle();
    for (const [name, { id }] of subscribed) {
      const first = await firstErrors(trial, id);
      const { expected } = kinds[name as keyof typeof kinds];
      trial.check(expected.test(first.class), `a receiver that ${name} counts as ${first.class}`);
      trial.check(first.body.length <= keptBytes, `${first.body.length} characters of an answer are kept`);
    }
    trial.check(poured > 0 && poured < kernelBytes, `an endless body was read for ${poured} bytes`);
    const after = await Promise.all(services.engines.map(residentMb));
    const grown = (after[0] ?? 0) - (before[0] ?? 0);
    trial.check(grown < grownMb, `the engine grew by ${Math.round(grown)} MB`);
  },
};

const statuses: readonly { status: number; headers?: Record<string, string>; leastSeconds: number }[] = [
  { status: 500, leastSeconds: 5 },
  { status: 404, leastSeconds: 5 },
  { status: 301, leastSeconds: 5, headers: { location: '' } },
  { status: 308, leastSeconds: 5, headers: { location: '' } },
  { status: 429, leastSeconds: 120, headers: { 'retry-after': '120' } },
  { status: 503, leastSeconds: 60 },
];

const refusing: Fault = {
  id: 'F11',
  what: 'receivers that answer 500, 404, 301, 308, 429 with Retry-After, 503 and 410',
  run: async (trial) => {
    const { scale, client } = trial;
    await begin(trial);
    const producer = await trial.producer(3);
    // Nobody may be led here.
    const canary = await trial.receiver('healthy', () => manners.ok);
    const times = new Map<number, number[]>();
    for (const { status, headers = {} } of statuses) {
      const at: number[] = [];
      times.set(status, at);
      const led = headers['location'] === undefined ? headers : { location: `${canary.receiver.url}?led` };
      let first = '';
      await trial.receiver(`says-${status}`, ({ arrival }, count) => {
        first ||= arrival.webhookId;
        if (arrival.webhookId === first) at.push(trial.virtualMs());
        return count === 1 && (arrival.webhookId === first || scale.random() < 0.1)
          ? manners.status(status, led)
          : manners.ok;
      });
    }
    const gone = await trial.receiver('says-410', () => manners.status(410));
    await client.need('POST', `webhooks/${gone.id}/pause`);
    await producer.write(scale.pick(12, 400));
    await client.need('POST', `webhooks/${gone.id}/resume`);
    await until('410 switches the webhook off', async () => !(await client.need('GET', `webhooks/${gone.id}`)).active);
    await trial.settle();
    trial.check(
      gone.receiver.arrivals.length === 1,
      `a receiver that said 410 was called ${gone.receiver.arrivals.length} times`,
    );
    for (const { status, leastSeconds } of statuses) {
      const [first = 0, second = Infinity] = times.get(status) ?? [];
      const seconds = (second - first) / 1000;
      trial.check(seconds >= leastSeconds, `after ${status} the next attempt came ${Math.round(seconds)} s later`);
    }
    const repeated = canary.receiver.arrivals.length - producer.writes.length;
    trial.check(repeated === 0, `${repeated} redirects were followed`);
    gone.receiver.conduct = () => manners.ok;
    await client.need('PATCH', `webhooks/${gone.id}`, { active: true });
    await recoverAll(trial, gone.id);
  },
};

const dead: Fault = {
  id: 'F16',
  what: 'a receiver that is away while a backlog grows, and comes back',
  run: async (trial) => {
    const { scale } = trial;
    await begin(trial);
    const producer = await trial.producer(20);
    const away = await trial.receiver('away', () => manners.ok);
    const there = await trial.receiver('there', () => manners.ok);
    await producer.write(20);
    await trial.settle();
    await away.receiver.close();
    await producer.write(scale.pick(200, 20_000));
    const wanted = producer.writes.length;
    await until('the other receiver has everything', () => there.receiver.arrivals.length >= wanted);
    const before = away.receiver.arrivals.length;
    await away.receiver.open();
    await trial.settle();
    trial.check(before < wanted, 'there was no backlog');
    trial.check(away.receiver.mostAtOnce <= 8, `${away.receiver.mostAtOnce} deliveries came back at once`);
  },
};

export const oddReceivers: readonly Fault[] = [hanging, odd, refusing, dead];

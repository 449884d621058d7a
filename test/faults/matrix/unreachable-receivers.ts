import { writeFileSync } from 'node:fs';
import { createServer as createSecureServer } from 'node:https';
import { createServer } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { selfSigned, type Certificate } from '../../outbound/certificate.ts';
import { listen, type Listener } from '../../outbound/listeners.ts';
import { startNameServer, type Zone } from '../../outbound/name-server.ts';
import { freePort } from '../../support/service.ts';
import type { Fault } from './fault.ts';
import { ok } from './manners.ts';
import { firstErrors } from './odd-receivers.ts';
import { until } from './patience.ts';
import { recoverAll } from './recovery.ts';
import type { Subscription, Trial } from './trial.ts';

/** Longer than a name server that does not answer is waited for. */
const env = { WEBHOOK_TIMEOUT_MS: '8000' };
/** The longest time that an address with the shortest life is kept, and a little more. */
const addressLifeMs = 1_500;

/** A name server whose zone can be another from a moment on. */
async function turningZone(names: readonly string[], later: Zone) {
  let hasTurned = false;
  const zone = Object.defineProperties(
    {},
    Object.fromEntries(
      names.map((name) => [name, { get: () => (hasTurned ? later[name] : { a: ['127.0.0.1'], ttl: 1 }) }]),
    ),
  ) as Zone;
  const server = await startNameServer(zone);
  return { server, turn: (isSo: boolean) => (hasTurned = isSo) };
}

/** Servers that nobody may have talked HTTP to: how many requests they had. */
class Mute {
  requests = 0;
  readonly #listeners: Listener[] = [];

  async secure(certificate: Certificate): Promise<string> {
    const listener = await listen(
      createSecureServer(certificate, (_, response) => {
        this.requests += 1;
        response.end();
      }),
    );
    this.#listeners.push(listener);
    return `https://localhost:${listener.port}/`;
  }

  /** Accepts connections and says nothing, also in the handshake of TLS. */
  async silent(): Promise<string> {
    const listener = await listen(createServer());
    this.#listeners.push(listener);
    return `https://localhost:${listener.port}/`;
  }

  async close(): Promise<void> {
    await Promise.all(this.#listeners.map((listener) => listener.close()));
  }
}

interface Unreachable {
  url: string;
  class: string;
  detail: RegExp;
}

const dnsProblems = { nxdomain: /ENOTFOUND/, servfail: /ESERVFAIL/, hang: /ETIMEOUT/ };

async function unreachables(mute: Mute, certificates: Record<'wrong' | 'old', Certificate>) {
  const port = await freePort();
  const found: Record<string, Unreachable> = {
    refused: { url: `http://127.0.0.1:${port}/`, class: 'connect', detail: /ECONNREFUSED/ },
    'self-signed': { url: await mute.secure(selfSigned('localhost')), class: 'tls', detail: /SELF_SIGNED/ },
    'another-host': { url: await mute.secure(certificates.wrong), class: 'tls', detail: /ALTNAME/ },
    expired: { url: await mute.secure(certificates.old), class: 'tls', detail: /EXPIRED/ },
    'slow-handshake': { url: await mute.silent(), class: 'timeout', detail: /.*/ },
  };
  for (const [name, detail] of Object.entries(dnsProblems))
    found[name] = { url: `http://${name}.test:${port}/`, class: 'dns', detail };
  return found;
}

const unreachable: Fault = {
  id: 'F12',
  what: 'receivers that refuse connections, have wrong certificates, stall in the handshake, or have no address (NXDOMAIN, SERVFAIL, no answer)',
  env,
  run: async (trial) => {
    const { services, client, scale } = trial;
    const names = Object.keys(dnsProblems).map((name) => `${name}.test`);
    const { server, turn } = await turningZone(names, {
      'nxdomain.test': 'NXDOMAIN',
      'servfail.test': 'SERVFAIL',
      'hang.test': 'hang',
    });
    const certificates = { wrong: selfSigned('elsewhere.test'), old: selfSigned('localhost', 2021) };
    const authorities = services.file('authorities.pem');
    writeFileSync(authorities, certificates.wrong.cert + certificates.old.cert);
    const steered = services.steered({ nameServer: server.address });
    await services.startWeb({ env: steered });
    await services.startEngine({ env: { ...steered, NODE_EXTRA_CA_CERTS: authorities } });
    const mute = new Mute();
    const kinds = await unreachables(mute, certificates);
    const producer = await trial.producer(3);
    const subscribed: [string, Subscription][] = [];
    for (const [name, { url }] of Object.entries(kinds))
      subscribed.push([name, await trial.receiver(name, () => ok, { url })]);
    const healthy = await trial.receiver('healthy', () => ok);
    turn(true);
    await producer.write(scale.pick(9, 300));
    await until(
      'the healthy receiver has everything',
      () => healthy.receiver.arrivals.length >= producer.writes.length,
    );
    for (const [name, { id, receiver }] of subscribed) {
      const kind = kinds[name];
      await until(`an attempt on ${name}`, async () => (await attemptsOn(trial, id)) > 0);
      const first = await firstErrors(trial, id);
      const isAsSaid = first.class === kind?.class && kind.detail.test(first.detail ?? '');
      trial.check(isAsSaid, `${name} counts as ${first.class} (${first.detail})`);
      await client.need('PATCH', `webhooks/${id}`, { url: receiver.url });
    }
    trial.check(mute.requests === 0, `${mute.requests} requests went to servers that could not prove who they are`);
    await trial.settle();
    await mute.close();
    server.close();
  },
};

async function attemptsOn(trial: Trial, id: number): Promise<number> {
  const [row] = await trial.rows<{ count: number }>(
    `SELECT count(*)::int AS count FROM attempts a JOIN deliveries d ON d.account_id = a.account_id AND d.id = a.delivery_id
     WHERE d.endpoint_kind = 'webhook' AND d.endpoint_id = $1`,
    [id],
  );
  return row?.count ?? 0;
}

/** Spellings of 127.0.0.2, which nobody may reach; the receivers' 127.0.0.1 is allowed. */
const spellings = [
  '127.0.0.2',
  '127.2',
  '2130706434',
  '0x7f000002',
  '0x7f.2',
  '0177.0.0.2',
  '１２７.０.０.２',
  '[::ffff:127.0.0.2]',
  '[::ffff:7f00:2]',
  '[::127.0.0.2]',
  '[64:ff9b::7f00:2]',
  '[2002:7f00:2::]',
  '[::1]',
  '0.0.0.0',
  '169.254.169.254',
];
const hidden: Zone = {
  'a.test': { a: ['127.0.0.2'], ttl: 1 },
  'mixed.test': { a: ['127.0.0.1', '127.0.0.2'], ttl: 1 },
  'mapped.test': { aaaa: ['00000000000000000000ffff7f000002'], ttl: 1 },
  'translated.test': { aaaa: ['0064ff9b00000000000000007f000002'], ttl: 1 },
  'metadata.test': { a: ['169.254.169.254'], ttl: 1 },
};

const forbidden: Fault = {
  id: 'F13',
  what: 'addresses that nobody may reach: as literals, behind names, mixed, and by rebinding after registration',
  run: async (trial) => {
    const { services, client, scale } = trial;
    const names = Object.keys(hidden);
    const { server, turn } = await turningZone(names, hidden);
    const steered = services.steered({ nameServer: server.address });
    await services.startWeb({ env: steered });
    await services.startEngine({ env: steered });
    const there = await trial.receiver('healthy', () => ok);
    const port = Number(new URL(there.receiver.url).port);
    const canary = await listen(createServer(), '127.0.0.2', port);
    const producer = await trial.producer(2);
    for (const host of spellings) {
      const { status } = await client.send('POST', 'webhooks', {
        url: `http://${host}:${port}/`,
        subscriptions: ['message_created'],
      });
      trial.check(status === 422, `a webhook at ${host} was answered ${status}`);
    }
    const ids: number[] = [];
    for (const name of names) {
      // All of them lead to the receiver at first, each by a path of its own.
      const { id } = await trial.subscribe(there.receiver, `http://${name}:${port}/${name}`);
      ids.push(id);
    }
    await producer.write(4);
    await trial.settle();
    turn(true);
    there.receiver.cut();
    await sleep(addressLifeMs);
    await producer.write(scale.pick(6, 100));
    await until('everything is given up', async () => (await trial.pending()) === 0);
    const errors = await trial.rows<{ last_error: string; count: number }>(
      `SELECT last_error, count(*)::int AS count FROM deliveries WHERE state = 'exhausted' GROUP BY 1`,
    );
    const wanted = [{ last_error: 'blocked_address', count: names.length * scale.pick(6, 100) }];
    trial.check(JSON.stringify(errors) === JSON.stringify(wanted), `given up were ${JSON.stringify(errors)}`);
    turn(false);
    await sleep(addressLifeMs);
    for (const id of ids) await recoverAll(trial, id);
    trial.check(canary.connections() === 0, `${canary.connections()} connections reached a forbidden address`);
    await canary.close();
    server.close();
  },
};

export const unreachableReceivers: readonly Fault[] = [unreachable, forbidden];

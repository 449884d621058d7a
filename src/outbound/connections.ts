import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import type { LookupFunction, Socket } from 'node:net';
import { callbackify } from 'node:util';
import { buildConnector, Pool } from 'undici';
import type { AddressPolicy } from './addresses.ts';
import type { HostResolver } from './host-resolver.ts';
import type { Exchange } from './exchange.ts';
import { BlockedAddressError, UnresolvedHostError } from './result.ts';
import { isAddress } from './url.ts';

/** What connections are made with, and how many. */
export interface ConnectionSettings {
  readonly policy: AddressPolicy;
  readonly resolver: HostResolver;
  /** For one attempt to connect, in milliseconds. */
  readonly timeoutMs: number;
  readonly connectionsPerOrigin: number;
  /** How long an origin's connections outlive their last use, in milliseconds; default 60,000. */
  readonly idleMs?: number;
}

/** The parts of a request that are written to the wire. */
interface WireRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer | null;
}

/** Open connections by origin; the only place that speaks HTTP to others. */
export interface Connections {
  /** Writes a request to a connection of its origin, a new one if need be, and reports all that follows to the exchange. */
  send(url: URL, request: WireRequest, exchange: Exchange): void;
  /** How many origins have connections, or had within the idle time. */
  origins(): number;
  /** Destroys every connection. */
  close(): Promise<void>;
}

interface OriginPool {
  readonly pool: Pool;
  active: number;
  idleSince: number;
}

const maxResponseHeaderBytes = 16_384;
const maxAddressesTried = 8;
const addressAttemptMs = 1_000;
const maxOrigins = 5_000;
const keepAliveMs = 4_000;
/** Bounds an endpoint's own keep-alive wish, and how long a changed DNS record can go unnoticed. */
const connectionLifeMs = 60_000;
const sendHeadersChannel = 'undici:client:sendHeaders';

/** Opens the connections' registry; nothing is dialled yet. */
export function createConnections(settings: ConnectionSettings): Connections {
  const { idleMs = connectionLifeMs } = settings;
  const connect = createConnector(settings);
  const pools = new Map<string, OriginPool>();
  const sockets = observeSockets();

  // undici's own Agent would do, did it not keep a pool for ever once a request to its origin was cut short.
  function sweep(longestIdleMs: number): void {
    for (const [origin, { pool, active, idleSince }] of pools) {
      if (active > 0 || performance.now() - idleSince < longestIdleMs) continue;
      pools.delete(origin);
      void pool.destroy();
    }
  }

  function poolOf(origin: string): OriginPool {
    const known = pools.get(origin);
    if (known !== undefined) return known;
    if (pools.size >= maxOrigins) sweep(0);
    const opened = { pool: createPool(origin, settings, connect), active: 0, idleSince: 0 };
    pools.set(origin, opened);
    return opened;
  }

  const sweeping = setInterval(() => sweep(idleMs), idleMs);
  sweeping.unref();

  return {
    send({ origin, pathname, search }, request, exchange) {
      const entry = poolOf(origin);
      void holdOpen(entry, exchange);
      exchange.beforeStart = sockets.expect;
      entry.pool.dispatch({ ...request, path: pathname + search }, exchange);
    },
    origins: () => pools.size,
    async close() {
      clearInterval(sweeping);
      sockets.stop();
      await Promise.all([...pools.values()].map(({ pool }) => pool.destroy()));
      pools.clear();
    },
  };
}

async function holdOpen(entry: OriginPool, exchange: Exchange): Promise<void> {
  entry.active += 1;
  await exchange.result;
  entry.active -= 1;
  entry.idleSince = performance.now();
}

function createPool(origin: string, settings: ConnectionSettings, connect: buildConnector.connector): Pool {
  return new Pool(origin, {
    connect,
    connections: settings.connectionsPerOrigin,
    pipelining: 1,
    // HTTP/2 would put many exchanges on one socket, and cutting one short would no longer be destroying it.
    allowH2: false,
    // The exchange's own deadline covers both, exactly.
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: maxResponseHeaderBytes,
    keepAliveTimeout: keepAliveMs,
    keepAliveMaxTimeout: connectionLifeMs,
    clientTtl: connectionLifeMs,
  });
}

/**
 * A connector that dials vetted addresses only. A literal is judged here, because Node asks no lookup for it; for a name,
 * the lookup hands Node exactly the addresses that were judged, so that a second DNS answer is never used. TLS still
 * checks the certificate against the name.
 */
function createConnector({ policy, resolver, timeoutMs }: ConnectionSettings): buildConnector.connector {
  const dial = buildConnector({
    allowH2: false,
    timeout: timeoutMs,
    lookup: createVettedLookup(policy, resolver),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: addressAttemptMs,
  });
  return (target, callback) => {
    const port = Number(target.port);
    if (isAddress(target.hostname) && !policy.allows(target.hostname, port)) {
      queueMicrotask(() => callback(new BlockedAddressError(), null));
      return;
    }
    dial(target, (...outcome) => {
      const [error, socket] = outcome;
      // Belt and braces: whatever the lookup was asked, no byte is written to an address that the policy refuses.
      if (error === null && !policy.allows(socket.remoteAddress ?? '', port)) {
        socket.destroy();
        callback(new BlockedAddressError(), null);
        return;
      }
      callback(...outcome);
    });
  };
}

function createVettedLookup(policy: AddressPolicy, resolver: HostResolver): LookupFunction {
  const lookUp = callbackify((hostname: string) => vettedAddresses(hostname, policy, resolver));
  return (hostname, options, callback) => {
    lookUp(hostname, (error, vetted) => {
      if (error !== null) return callback(error, []);
      const [first] = vetted;
      if (first === undefined) return callback(new UnresolvedHostError('ENODATA'), []);
      return options.all === true ? callback(null, vetted) : callback(null, first.address, first.family);
    });
  };
}

async function vettedAddresses(
  hostname: string,
  policy: AddressPolicy,
  resolver: HostResolver,
): Promise<LookupAddress[]> {
  const answer = await resolver.resolve(hostname);
  if ('problem' in answer) throw new UnresolvedHostError(answer.problem);
  // One forbidden record condemns them all: a name that mixes public and private addresses is an attack or a mistake.
  if (!answer.addresses.every((address) => policy.allows(address))) throw new BlockedAddressError();
  return answer.addresses.slice(0, maxAddressesTried).map((address) => ({ address, family: isIP(address) }));
}

/**
 * Tells each exchange the address its request is written to. undici shows sockets on a diagnostics channel only, in the
 * same tick in which it starts the exchange.
 */
function observeSockets(): { expect: (exchange: Exchange) => void; stop: () => void } {
  let starting: Exchange | null = null;
  const onSendHeaders = (message: unknown): void => {
    if (starting !== null) starting.remoteAddress = (message as { socket: Socket }).socket.remoteAddress ?? null;
    starting = null;
  };
  subscribe(sendHeadersChannel, onSendHeaders);
  return {
    expect(exchange) {
      starting = exchange;
    },
    stop() {
      unsubscribe(sendHeadersChannel, onSendHeaders);
    },
  };
}

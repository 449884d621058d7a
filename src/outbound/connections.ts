import { createHash } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { LookupAddress } from 'node:dns';
import { createRequire } from 'node:module';
import { isIP } from 'node:net';
import type { LookupFunction, Socket } from 'node:net';
import { callbackify } from 'node:util';
import type * as Undici from 'undici';
import type { AddressPolicy } from './addresses.ts';
import { Dial, takeDialTimes } from './dial-times.ts';
import type { HostResolver } from './host-resolver.ts';
import type { Exchange } from './exchange.ts';
import { BlockedAddressError, UnresolvedHostError } from './result.ts';
import { isAddress } from './url.ts';

/** The settings of all connections. */
export interface ConnectionSettings {
  readonly policy: AddressPolicy;
  readonly resolver: HostResolver;
  /** The timeout of one attempt to connect, in milliseconds. */
  readonly timeoutMs: number;
  readonly connectionsPerOrigin: number;
  /** How long unused connections of an origin are kept, in milliseconds; default 60,000. */
  readonly idleMs?: number;
}

/** Where a request goes: a URL, or its parts. */
export type Target = Readonly<Pick<URL, 'origin' | 'pathname' | 'search'>>;

/** The client certificate (PEM) of a connection. Connections are shared by requests of one owner with one certificate alone. */
export interface ClientIdentity {
  readonly owner: string;
  readonly certificate: string;
  readonly key: string;
}

/** A request without its origin and path. */
interface WireRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer | null;
}

/** Open connections by origin: the only place in the service that makes HTTP requests. */
export interface Connections {
  /** Sends a request over a connection of its origin, opening one if necessary; reports the answer to the exchange. */
  send(target: Target & { readonly identity?: ClientIdentity | null }, request: WireRequest, exchange: Exchange): void;
  /** The number of origins with connections in use or not idle for too long. */
  origins(): number;
  /** Destroys all connections. */
  close(): Promise<void>;
}

interface OriginPool {
  readonly pool: Undici.Pool;
  active: number;
  idleSince: number;
}

const maxResponseHeaderBytes = 16_384;
const maxAddressesTried = 8;
const addressAttemptMs = 1_000;
const maxOrigins = 5_000;
/**
 * How long an unused connection is kept where the server does not say how long it keeps it (where it does, two seconds less
 * than that): shorter than servers of the field wait, of which the most impatient close after two seconds. A request that
 * meets a server's closing is an attempt that failed: it may not be repeated at once, since it may have arrived.
 */
const keepAliveMs = 1_500;
/** Maximum lifetime of a connection, even if its server allows more: a changed DNS record must take effect. */
const connectionLifeMs = 60_000;
// The library is loaded with the first connection: a start makes none.
const loadUndici = (): typeof Undici => createRequire(import.meta.url)('undici') as typeof Undici;
const sendHeadersChannel = 'undici:client:sendHeaders';

/** Creates an empty set of connections; `send` opens them. */
export function createConnections(settings: ConnectionSettings): Connections {
  const { idleMs = connectionLifeMs } = settings;
  const pools = new Map<string, OriginPool>();
  const sockets = observeSockets();
  let connect: Undici.buildConnector.connector | undefined;

  // Not undici's Agent: it never closes the pool of an origin after a request to it was aborted.
  function sweep(longestIdleMs: number): void {
    for (const [origin, { pool, active, idleSince }] of pools) {
      if (active > 0 || performance.now() - idleSince < longestIdleMs) continue;
      pools.delete(origin);
      void pool.destroy();
    }
  }

  function poolOf(origin: string, identity: ClientIdentity | null): OriginPool {
    const key = identity === null ? origin : `${origin} ${fingerprintOf(identity)}`;
    const known = pools.get(key);
    if (known !== undefined) return known;
    if (pools.size >= maxOrigins) sweep(0);
    const opened = {
      // A connector resumes its TLS sessions: each identity has its own.
      pool: createPool(
        origin,
        settings,
        identity ? createConnector(settings, identity) : (connect ??= createConnector(settings)),
      ),
      active: 0,
      idleSince: 0,
    };
    pools.set(key, opened);
    return opened;
  }

  const sweeping = setInterval(() => sweep(idleMs), idleMs);
  sweeping.unref();

  return {
    send({ origin, pathname, search, identity = null }, request, exchange) {
      const entry = poolOf(origin, identity);
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

function fingerprintOf({ owner, certificate, key }: ClientIdentity): string {
  return createHash('sha256')
    .update(JSON.stringify([owner, certificate, key]))
    .digest('base64');
}

async function holdOpen(entry: OriginPool, exchange: Exchange): Promise<void> {
  entry.active += 1;
  await exchange.result;
  entry.active -= 1;
  entry.idleSince = performance.now();
}

function createPool(
  origin: string,
  settings: ConnectionSettings,
  connect: Undici.buildConnector.connector,
): Undici.Pool {
  const { Pool } = loadUndici();
  return new Pool(origin, {
    connect,
    connections: settings.connectionsPerOrigin,
    pipelining: 1,
    // With HTTP/2 several exchanges would share a socket, and aborting one could not destroy it.
    allowH2: false,
    // Exchange has one deadline for the whole call.
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: maxResponseHeaderBytes,
    keepAliveTimeout: keepAliveMs,
    keepAliveMaxTimeout: connectionLifeMs,
    clientTtl: connectionLifeMs,
  });
}

/**
 * A connector that only connects to addresses that the policy allows. It checks a literal address itself, because Node
 * calls no lookup for one. For a name, the lookup checks the addresses and returns exactly these to Node, so that no
 * second DNS answer can differ. TLS still checks the certificate against the name.
 */
function createConnector(
  { policy, resolver, timeoutMs }: ConnectionSettings,
  identity: ClientIdentity | null = null,
): Undici.buildConnector.connector {
  // Node begins to look a name up within the call that opens the socket.
  let current: Dial | null = null;
  const open = loadUndici().buildConnector({
    allowH2: false,
    timeout: timeoutMs,
    lookup: createVettedLookup(policy, resolver, () => current),
    autoSelectFamily: true,
    autoSelectFamilyAttemptTimeout: addressAttemptMs,
    ...(identity ? { cert: identity.certificate, key: identity.key } : {}),
  });
  return (target, callback) => {
    const port = Number(target.port);
    if (isAddress(target.hostname) && !policy.allows(target.hostname, port)) {
      queueMicrotask(() => callback(new BlockedAddressError(), null));
      return;
    }
    const dial = new Dial();
    current = dial;
    // The connector returns the socket, which its type does not say.
    const opening = open(target, (...outcome) => {
      const [error, socket] = outcome;
      // Defence in depth: checks the address of the connected socket again, before any byte is written to it.
      if (error === null && !policy.allows(socket.remoteAddress ?? '', port)) {
        socket.destroy();
        callback(new BlockedAddressError(), null);
        return;
      }
      if (error === null) dial.opened(socket, { isSecure: target.protocol === 'https:' });
      else dial.failed(error);
      callback(...outcome);
    }) as unknown as Socket;
    opening.prependOnceListener('connect', () => dial.connected());
    current = null;
  };
}

function createVettedLookup(
  policy: AddressPolicy,
  resolver: HostResolver,
  currentDial: () => Dial | null,
): LookupFunction {
  const lookUp = callbackify((hostname: string) => vettedAddresses(hostname, policy, resolver));
  return (hostname, options, callback) => {
    const dial = currentDial();
    lookUp(hostname, (error, vetted) => {
      dial?.resolved();
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
  // A single forbidden address refuses the name: public and private addresses under one name are an attack or a mistake.
  if (!answer.addresses.every((address) => policy.allows(address))) throw new BlockedAddressError();
  return answer.addresses.slice(0, maxAddressesTried).map((address) => ({ address, family: isIP(address) }));
}

/**
 * Sets the remote address of each exchange, and the times of a connection that was opened for it. undici publishes the socket of a request only on a diagnostics channel, in
 * the same tick in which it starts the exchange.
 */
function observeSockets(): { expect: (exchange: Exchange) => void; stop: () => void } {
  let starting: Exchange | null = null;
  const onSendHeaders = (message: unknown): void => {
    const { socket } = message as { socket: Socket };
    if (starting !== null) {
      starting.remoteAddress = socket.remoteAddress ?? null;
      starting.dialTimes = takeDialTimes(socket);
    }
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

import { setTimeout } from 'node:timers/promises';
import { keepResults } from '../lib/keep-results.ts';
import type { OutboundGate } from '../lib/outbound-gate.ts';
import { createAddressPolicy } from './addresses.ts';
import type { AddressPolicy, OpenEndpoint } from './addresses.ts';
import { createHostResolver } from './host-resolver.ts';
import type { HostResolver } from './host-resolver.ts';
import { createConnections, type ClientIdentity, type Target } from './connections.ts';
import { Exchange } from './exchange.ts';
import { refusedResult } from './result.ts';
import type { OutboundFailure, OutboundResult } from './result.ts';
import { addressProblem, hostOf, isAddress, readUrl } from './url.ts';
import type { UrlProblem } from './url.ts';

export type { OutboundErrorCode, OutboundResult, OutboundTimes } from './result.ts';

/** The settings and limits of outbound calls. */
export interface OutboundHttpOptions {
  /** Refuses all calls while it is held. */
  readonly gate: OutboundGate;
  /** Ranges of private addresses that may be called, such as `10.0.0.0/8`. */
  readonly allowCidrs: readonly string[];
  /** Private addresses with a port that may be called, by their literal address only. */
  readonly openEndpoints?: readonly OpenEndpoint[];
  /** Whether only addresses within `allowCidrs` may be called: for calls that are not encrypted. */
  readonly onlyRanges?: true;
  /** The deadline of a whole call, including its wait for a connection, in milliseconds. */
  readonly timeoutMs: number;
  /** The number of bytes that are read of an answer's body. */
  readonly maxResponseBytes: number;
  /** Whether answers are bytes (`bytes`) instead of text (`body`). */
  readonly keepsBytes?: true;
  /** Connections to one origin at most; all endpoints of all tenants at that origin share them. */
  readonly connectionsPerOrigin: number;
  readonly resolver?: HostResolver;
}

/** The options of a call with a body. */
interface OutboundMessage {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
  /** The client certificate of the call. */
  readonly identity?: ClientIdentity;
  /** Aborts the call; its error code is then `aborted`. */
  readonly signal?: AbortSignal;
}

/** The options of a call with any method. */
interface OutboundRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  readonly identity?: ClientIdentity;
  readonly signal?: AbortSignal;
}

/** Makes the HTTP calls to URLs that users entered; no other part of the service may make any. */
export interface OutboundHttp {
  /** Makes one call with the method POST, like `request`. */
  post(url: string, message: OutboundMessage): Promise<OutboundResult>;
  /**
   * Makes one call and never rejects: a refused URL, a blocked address or a timeout is a result. Follows no redirects
   * and decompresses no answer. A status whose headers arrived before the deadline counts, even if the body is cut.
   */
  request(url: string, message: OutboundRequest): Promise<OutboundResult>;
  /**
   * Checks a URL before it is stored. Resolving its host may take a second at most; a host that does not resolve (yet)
   * is no problem, because every connection checks the address again.
   */
  checkUrl(url: string, rules: { httpsOnly: boolean }): Promise<UrlProblem | null>;
  /** Refuses new calls, waits for the current ones (at most timeoutMs) and closes all connections. */
  close(): Promise<void>;
}

const checkUrlDnsMs = 1_000;
/** Headers that callers must not set; `host` would also change the name that the certificate is checked against. */
const reservedHeaders = new Set(['host', 'content-length', 'connection', 'transfer-encoding', 'accept-encoding']);

/** Creates the client. Throws when one of `allowCidrs` is not in CIDR notation. */
export function createOutboundHttp(options: OutboundHttpOptions): OutboundHttp {
  const policy = createAddressPolicy(options.allowCidrs, options.openEndpoints, options);
  const resolver = options.resolver ?? createHostResolver();
  const connections = createConnections({ ...options, policy, resolver });
  const underWay = new Set<Promise<OutboundResult>>();
  let closed = false;

  async function request(target: string, message: OutboundRequest): Promise<OutboundResult> {
    if (closed) return refusedResult({ errorCode: 'aborted', errorDetail: 'the service stops' });
    if (options.gate.heldFor !== null)
      return refusedResult({ errorCode: 'outbound_held', errorDetail: options.gate.heldFor });
    const vetted = vetRequest(target, message);
    if ('refusal' in vetted) return refusedResult(vetted.refusal);

    const exchange = new Exchange(options, message.signal);
    if (exchange.ended) return exchange.result;
    const headers = { ...message.headers, 'accept-encoding': 'identity' };
    underWay.add(exchange.result);
    connections.send(
      { ...vetted.target, identity: message.identity ?? null },
      { method: message.method, headers, body: message.body ?? null },
      exchange,
    );
    const result = await exchange.result;
    underWay.delete(exchange.result);
    return result;
  }

  return {
    request,
    post: (url, message) => request(url, { ...message, method: 'POST' }),
    checkUrl: (url, rules) => checkUrl(url, rules, policy, resolver),
    async close() {
      closed = true;
      await Promise.all(underWay);
      await connections.close();
    },
  };
}

const maxTargets = 1_000;

// The same few URLs are called over and over, and reading one takes longer than signing a body.
const findTarget = keepResults(maxTargets, (text): { target: Target } | { refusal: OutboundFailure } => {
  const read = readUrl(text, { httpsOnly: false });
  if ('problem' in read) return { refusal: { errorCode: 'bad_url', errorDetail: read.problem.rule } };
  const { origin, pathname, search } = read.url;
  return { target: { origin, pathname, search } };
});

function vetRequest(url: string, message: OutboundRequest): { target: Target } | { refusal: OutboundFailure } {
  const found = findTarget(url);
  const reserved = Object.keys(message.headers).find((name) => reservedHeaders.has(name.toLowerCase()));
  if ('refusal' in found || reserved === undefined) return found;
  return { refusal: { errorCode: 'bad_request', errorDetail: reserved } };
}

async function checkUrl(
  text: string,
  rules: { httpsOnly: boolean },
  policy: AddressPolicy,
  resolver: HostResolver,
): Promise<UrlProblem | null> {
  const read = readUrl(text, rules);
  if ('problem' in read) return read.problem;
  const host = hostOf(read.url);
  if (isAddress(host)) return policy.allows(host, Number(read.url.port)) ? null : addressProblem;
  const waiting = new AbortController();
  const answer = await Promise.race([
    resolver.resolve(host),
    setTimeout(checkUrlDnsMs, null, { signal: waiting.signal }).catch(() => null),
  ]);
  waiting.abort();
  if (answer === null || 'problem' in answer) return null;
  return answer.addresses.every((address) => policy.allows(address)) ? null : addressProblem;
}

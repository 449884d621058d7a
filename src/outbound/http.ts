import { setTimeout } from 'node:timers/promises';
import { createAddressPolicy } from './addresses.ts';
import type { AddressPolicy, OpenEndpoint } from './addresses.ts';
import { createHostResolver } from './host-resolver.ts';
import type { HostResolver } from './host-resolver.ts';
import { createConnections } from './connections.ts';
import { Exchange } from './exchange.ts';
import { refusedResult } from './result.ts';
import type { OutboundFailure, OutboundResult } from './result.ts';
import { addressProblem, hostOf, isAddress, readUrl } from './url.ts';
import type { UrlProblem } from './url.ts';

export type { OutboundErrorCode, OutboundResult } from './result.ts';

/** The bounds within which the service calls others. */
export interface OutboundHttpOptions {
  /** Ranges beside the global ones that may be called, such as `10.0.0.0/8`. */
  readonly allowCidrs: readonly string[];
  /** Single ports of private addresses that may be called by their literal address. */
  readonly openEndpoints?: readonly OpenEndpoint[];
  /** Total deadline of a call, in milliseconds: its wait for a connection included. */
  readonly timeoutMs: number;
  /** How much of an answer's body is read, in bytes. */
  readonly maxResponseBytes: number;
  /** Connections kept to one origin; all endpoints of all tenants at that origin share them. */
  readonly connectionsPerOrigin: number;
  readonly resolver?: HostResolver;
}

/** What is sent with a method that carries a body. */
interface OutboundMessage {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Buffer;
  /** Ends the call early; the result then says `aborted`. */
  readonly signal?: AbortSignal;
}

/** What is sent with any method. */
interface OutboundRequest {
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Buffer;
  readonly signal?: AbortSignal;
}

/** The one way out of the service: every HTTP call to an address that somebody else chose. */
export interface OutboundHttp {
  /** `request` with the method POST. */
  post(url: string, message: OutboundMessage): Promise<OutboundResult>;
  /**
   * Makes one call. Resolves to what became of it and does not reject: a refused URL, a blocked address, a timeout are
   * values. Redirects are not followed; the answer is never decompressed; the status counts once its headers arrived
   * before the deadline, even if the body is then cut.
   */
  request(url: string, message: OutboundRequest): Promise<OutboundResult>;
  /**
   * Judges a URL before it is stored. A name is resolved for at most a second; one that does not resolve (yet) is no
   * problem, for each connect judges again.
   */
  checkUrl(url: string, rules: { httpsOnly: boolean }): Promise<UrlProblem | null>;
  /** Refuses new calls, waits for those under way (at most timeoutMs), closes every connection. */
  close(): Promise<void>;
}

const checkUrlDnsMs = 1_000;
/** `host` would also change the name that the certificate is checked against. */
const reservedHeaders = new Set(['host', 'content-length', 'connection', 'transfer-encoding', 'accept-encoding']);

/** Opens the way out. Throws when one of `allowCidrs` is not an address range. */
export function createOutboundHttp(options: OutboundHttpOptions): OutboundHttp {
  const policy = createAddressPolicy(options.allowCidrs, options.openEndpoints);
  const resolver = options.resolver ?? createHostResolver();
  const connections = createConnections({ ...options, policy, resolver });
  const underWay = new Set<Promise<OutboundResult>>();
  let closed = false;

  async function request(target: string, message: OutboundRequest): Promise<OutboundResult> {
    if (closed) return refusedResult({ errorCode: 'aborted', errorDetail: null });
    const vetted = vetRequest(target, message);
    if ('refusal' in vetted) return refusedResult(vetted.refusal);

    const exchange = new Exchange(options, message.signal);
    if (exchange.settled) return exchange.result;
    const headers = { ...message.headers, 'accept-encoding': 'identity' };
    underWay.add(exchange.result);
    connections.send(vetted.url, { method: message.method, headers, body: message.body ?? null }, exchange);
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

function vetRequest(target: string, message: OutboundRequest): { url: URL } | { refusal: OutboundFailure } {
  const read = readUrl(target, { httpsOnly: false });
  if ('problem' in read) return { refusal: { errorCode: 'bad_url', errorDetail: read.problem.rule } };
  const reserved = Object.keys(message.headers).find((name) => reservedHeaders.has(name.toLowerCase()));
  if (reserved !== undefined) return { refusal: { errorCode: 'bad_request', errorDetail: reserved } };
  return read;
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

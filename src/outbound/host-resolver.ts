import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';

/** The addresses of a name, or the error code that says why there are none (`ENOTFOUND`, `ETIMEOUT`, …). */
type HostAnswer = { readonly addresses: readonly string[] } | { readonly problem: string };

/** Turns host names into addresses. Never rejects. */
export interface HostResolver {
  resolve(hostname: string): Promise<HostAnswer>;
}

/** The sources and limits of a resolver; the defaults are for production. */
export interface HostResolverOptions {
  /** DNS servers as `address:port`; default: those of the machine. */
  readonly servers?: readonly string[];
  /** The hosts file; default `/etc/hosts`. */
  readonly hostsFile?: string;
  /** The longest time that an answer is cached, in milliseconds, even if its TTL is longer; default 60,000. */
  readonly maxTtlMs?: number;
}

interface CachedAnswer {
  readonly answer: HostAnswer;
  readonly ttlMs: number;
}

interface CacheEntry {
  readonly pending: Promise<CachedAnswer>;
  expiresAt: number;
}

const queryTimeoutMs = 1_000;
const queryTries = 2;
const defaultMaxTtlMs = 60_000;
const minTtlMs = 1_000;
const failureTtlMs = 5_000;
const hostsTtlMs = 10_000;
const maxCachedNames = 2_000;
/** Without ::1: an operator who allows 127.0.0.1/32 would otherwise find `localhost` refused for its second address. */
const localhostAnswer: HostAnswer = { addresses: ['127.0.0.1'] };

/**
 * A resolver that uses c-ares instead of `getaddrinfo`, which has four threads for all lookups of the process, so that
 * a few names whose servers hang would block all others. It looks a name up in this order: `localhost` is 127.0.0.1,
 * the hosts file, A and AAAA records. It caches answers for their TTL (1 to 60 s) and failures for 5 s, of at most
 * 2,000 names.
 */
export function createHostResolver(options: HostResolverOptions = {}): HostResolver {
  const dns = new Resolver({ timeout: queryTimeoutMs, tries: queryTries });
  if (options.servers !== undefined) dns.setServers(options.servers);
  const maxTtlMs = options.maxTtlMs ?? defaultMaxTtlMs;
  const readHosts = keepFor(hostsTtlMs, () => readHostsFile(options.hostsFile ?? '/etc/hosts'));
  const cache = new Map<string, CacheEntry>();

  async function resolveAnew(name: string): Promise<CachedAnswer> {
    const fixed = (await readHosts()).get(name);
    if (fixed !== undefined) return { answer: { addresses: fixed }, ttlMs: hostsTtlMs };
    return queryDns(dns, name, maxTtlMs);
  }

  function lookUp(name: string): CacheEntry {
    // c-ares throws synchronously for a name that it cannot encode.
    const pending = resolveAnew(name).catch(() => ({ answer: { problem: 'EBADNAME' }, ttlMs: failureTtlMs }));
    const entry: CacheEntry = { pending, expiresAt: Number.POSITIVE_INFINITY };
    cache.delete(name);
    dropOldest(cache);
    cache.set(name, entry);
    return entry;
  }

  return {
    async resolve(hostname) {
      const name = hostname.toLowerCase().replace(/\.$/, '');
      if (name === 'localhost' || name.endsWith('.localhost')) return localhostAnswer;
      const known = cache.get(name);
      const entry = known !== undefined && performance.now() < known.expiresAt ? known : lookUp(name);
      const { answer, ttlMs } = await entry.pending;
      if (entry.expiresAt === Number.POSITIVE_INFINITY) entry.expiresAt = performance.now() + ttlMs;
      return answer;
    },
  };
}

async function queryDns(dns: Resolver, name: string, maxTtlMs: number): Promise<CachedAnswer> {
  const families = await Promise.allSettled([dns.resolve4(name, { ttl: true }), dns.resolve6(name, { ttl: true })]);
  const records = families.flatMap((family) => (family.status === 'fulfilled' ? family.value : []));
  if (records.length === 0) return { answer: { problem: dnsProblem(families) }, ttlMs: failureTtlMs };
  const shortestMs = Math.min(...records.map((record) => record.ttl)) * 1_000;
  return {
    answer: { addresses: records.map((record) => record.address) },
    ttlMs: Math.min(maxTtlMs, Math.max(minTtlMs, shortestMs)),
  };
}

function dnsProblem(families: readonly PromiseSettledResult<unknown>[]): string {
  const codes = families.flatMap((family) => (family.status === 'rejected' ? [errorCode(family.reason)] : []));
  // ENODATA for one family is normal; an error of the other family says more.
  return codes.find((code) => code !== 'ENODATA') ?? 'ENODATA';
}

function errorCode(reason: unknown): string {
  return reason instanceof Error && 'code' in reason ? String(reason.code) : 'EUNKNOWN';
}

async function readHostsFile(path: string): Promise<ReadonlyMap<string, readonly string[]>> {
  const names = new Map<string, string[]>();
  // A missing hosts file is like an empty one.
  const text = await readFile(path, 'utf8').catch(() => '');
  for (const line of text.split('\n')) {
    const [address, ...aliases] = line.replace(/#.*/, '').trim().toLowerCase().split(/\s+/);
    if (address === undefined || address === '') continue;
    for (const alias of aliases) names.set(alias, [...(names.get(alias) ?? []), address]);
  }
  return names;
}

function keepFor<Value>(ms: number, make: () => Promise<Value>): () => Promise<Value> {
  let kept: Promise<Value> | null = null;
  let expiresAt = 0;
  return () => {
    if (kept === null || performance.now() >= expiresAt) {
      kept = make();
      expiresAt = performance.now() + ms;
    }
    return kept;
  };
}

function dropOldest(cache: Map<string, CacheEntry>): void {
  if (cache.size < maxCachedNames) return;
  const oldest = cache.keys().next();
  if (!oldest.done) cache.delete(oldest.value);
}

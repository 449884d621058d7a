import { isIPv4, isIPv6 } from 'node:net';

/** Decides which addresses the service may connect to. */
export interface AddressPolicy {
  /**
   * True for a global address, an address within the operator's ranges, or an open endpoint at this port. False for
   * every other text.
   */
  allows(address: string, port?: number): boolean;
}

/** An address and a port. */
export interface OpenEndpoint {
  readonly address: string;
  readonly port: number;
}

/** A CIDR range: all addresses of the same length with the same first `bits` bits. */
export interface Cidr {
  readonly bytes: readonly number[];
  readonly bits: number;
}

/**
 * IPv4 ranges that are not globally reachable (IANA special-purpose registry), and the address of Azure's host agent.
 */
const refusedIpv4Ranges = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '168.63.129.16/32',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
].map(requireCidr);

/** The only IPv6 range that IANA assigns for global use; ::/8, fc00::/7, fe80::/10, ff00::/8 and others lie outside. */
const globalUnicastRange = requireCidr('2000::/3');

/** Special-purpose parts of the global range: protocol assignments such as Teredo, documentation, 6to4. */
const refusedIpv6Ranges = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'].map(requireCidr);

/** The NAT64 prefix: the last four bytes of such an address are the IPv4 address that a gateway will call. */
const nat64Range = requireCidr('64:ff9b::/96');

/**
 * A policy that allows global addresses (unless `onlyRanges`), the ranges `allowCidrs` and the `openEndpoints`. Throws when one of the ranges
 * is not in CIDR notation.
 */
export function createAddressPolicy(
  allowCidrs: readonly string[],
  openEndpoints: readonly OpenEndpoint[] = [],
  { onlyRanges = false }: { onlyRanges?: boolean } = {},
): AddressPolicy {
  const allowed = allowCidrs.map(requireCidr);
  return {
    allows(address, port) {
      if (openEndpoints.some((open) => open.address === address && open.port === port)) return true;
      const bytes = parseAddress(address);
      if (bytes === null) return false;
      return (isGlobal(bytes) && !onlyRanges) || allowed.some((range) => contains(range, bytes));
    },
  };
}

/** The 4 or 16 bytes of an address; null for any other text, and for an address with a zone (`fe80::1%eth0`). */
export function parseAddress(text: string): readonly number[] | null {
  if (isIPv4(text)) return text.split('.').map(Number);
  if (!isIPv6(text) || text.includes('%')) return null;
  const [head = '', tail] = text.split('::');
  const left = groupBytes(head);
  if (tail === undefined) return left;
  const right = groupBytes(tail);
  return [...left, ...Array<number>(16 - left.length - right.length).fill(0), ...right];
}

/** Parses `10.0.0.0/8`, `fd00::/8` or a single address; null for any other text. */
export function parseCidr(text: string): Cidr | null {
  const [address = '', suffix, ...rest] = text.trim().split('/');
  const bytes = parseAddress(address);
  if (bytes === null || rest.length > 0) return null;
  const width = bytes.length * 8;
  if (suffix === undefined) return { bytes, bits: width };
  if (!/^\d{1,3}$/.test(suffix) || Number(suffix) > width) return null;
  return { bytes, bits: Number(suffix) };
}

/** IPv4 addresses in IPv6 notation: a dual-stack socket reports its IPv4 callers like this. */
const mappedIpv4Range = requireCidr('::ffff:0:0/96');
// 64 bits: the smallest IPv6 network that a customer of a provider gets and can choose any address from.
const customerBytes = 8;
const maxNameChars = 64;

/**
 * The key under which rate limits count a caller: an IPv4 address (also in IPv6 notation) as a whole, of an IPv6
 * address the /64 network, which belongs to one caller. Any other text is its own key.
 */
export function callerNetwork(address: string): string {
  const bytes = parseAddress(address.replace(/%.*/s, ''));
  if (bytes === null) return address.slice(0, maxNameChars);
  if (bytes.length === 4) return bytes.join('.');
  if (contains(mappedIpv4Range, bytes)) return bytes.slice(12).join('.');
  return `${Buffer.from(bytes.slice(0, customerBytes)).toString('hex')}::/64`;
}

function requireCidr(text: string): Cidr {
  const range = parseCidr(text);
  if (range === null) throw new Error(`Not an address range: ${JSON.stringify(text)}. Write it like 10.0.0.0/8.`);
  return range;
}

function isGlobal(bytes: readonly number[]): boolean {
  if (bytes.length === 4) return !refusedIpv4Ranges.some((range) => contains(range, bytes));
  if (contains(nat64Range, bytes)) return isGlobal(bytes.slice(12));
  return contains(globalUnicastRange, bytes) && !refusedIpv6Ranges.some((range) => contains(range, bytes));
}

function contains(range: Cidr, bytes: readonly number[]): boolean {
  if (range.bytes.length !== bytes.length) return false;
  return bytes.every((byte, index) => {
    const significant = Math.min(8, Math.max(0, range.bits - index * 8));
    const mask = (0xff00 >> significant) & 0xff;
    return (byte & mask) === ((range.bytes[index] ?? 0) & mask);
  });
}

function groupBytes(groups: string): number[] {
  if (groups === '') return [];
  return groups.split(':').flatMap((group) => {
    if (group.includes('.')) return group.split('.').map(Number);
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
}

import { isIPv4, isIPv6 } from 'node:net';

/** Decides which addresses the service may connect to. */
export interface AddressPolicy {
  /**
   * True for a global address, one inside the operator's ranges, or an endpoint that is open at this port; false for all
   * else, unreadable text included.
   */
  allows(address: string, port?: number): boolean;
}

/** One port of one address. */
export interface OpenEndpoint {
  readonly address: string;
  readonly port: number;
}

/** A range of addresses: 4 or 16 bytes, of which the first `bits` bits count. */
export interface Cidr {
  readonly bytes: readonly number[];
  readonly bits: number;
}

/** IPv4 that is not globally reachable (IANA special-purpose registry), and Azure's host agent, which only looks global. */
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

/** The only IPv6 space that IANA hands out; it leaves out ::/8, 100::/64, 5f00::/16, fc00::/7, fe80::/10, ff00::/8 … */
const globalUnicastRange = requireCidr('2000::/3');

/** Parts of the global unicast space that reach something else: protocol assignments (Teredo), documentation, 6to4. */
const refusedIpv6Ranges = ['2001::/23', '2001:db8::/32', '2002::/16', '3fff::/20'].map(requireCidr);

/** The well-known NAT64 prefix: its last four bytes are the IPv4 address that will be reached. */
const nat64Range = requireCidr('64:ff9b::/96');

/**
 * The policy that refuses every non-global address outside `allowCidrs`, `openEndpoints` apart. Throws when one of those
 * is not a CIDR range.
 */
export function createAddressPolicy(
  allowCidrs: readonly string[],
  openEndpoints: readonly OpenEndpoint[] = [],
): AddressPolicy {
  const allowed = allowCidrs.map(requireCidr);
  return {
    allows(address, port) {
      if (openEndpoints.some((open) => open.address === address && open.port === port)) return true;
      const bytes = parseAddress(address);
      if (bytes === null) return false;
      return isGlobal(bytes) || allowed.some((range) => contains(range, bytes));
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

/** Reads `10.0.0.0/8`, `fd00::/8` or a single address; null when the text is none of them. */
export function parseCidr(text: string): Cidr | null {
  const [address = '', suffix, ...rest] = text.trim().split('/');
  const bytes = parseAddress(address);
  if (bytes === null || rest.length > 0) return null;
  const width = bytes.length * 8;
  if (suffix === undefined) return { bytes, bits: width };
  if (!/^\d{1,3}$/.test(suffix) || Number(suffix) > width) return null;
  return { bytes, bits: Number(suffix) };
}

/** IPv4 addresses in IPv6 notation, as a socket that listens on both tells them. */
const mappedIpv4Range = requireCidr('::ffff:0:0/96');
// What one customer of a provider is given at least: within it, anybody may choose any address.
const customerBytes = 8;
const maxNameChars = 64;

/**
 * The name under which limits count a caller: IPv4 by address, also in IPv6 notation; IPv6 by its /64, which one caller
 * has to itself. Text that is no address is its own name.
 */
export function callerNetwork(address: string): string {
  const bytes = parseAddress(address.replace(/%.*$/, ''));
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

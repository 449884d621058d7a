import { BlockList, isIPv4 } from 'node:net';
import { expect } from 'chai';
import * as fc from 'fast-check';
import { callerNetwork, createAddressPolicy, parseAddress, parseCidr } from '../../src/outbound/addresses.ts';
import { globalAddresses, words } from './ssrf-corpus.ts';

const refusedRanges = words(`
  0.0.0.0/8 10.0.0.0/8 100.64.0.0/10 127.0.0.0/8 168.63.129.16/32 169.254.0.0/16 172.16.0.0/12 192.0.0.0/24
  192.0.2.0/24 192.88.99.0/24 192.168.0.0/16 198.18.0.0/15 198.51.100.0/24 203.0.113.0/24 224.0.0.0/4 240.0.0.0/4
  ::/8 100::/64 2001::/23 2001:db8::/32 2002::/16 3fff::/20 5f00::/16 fc00::/7 fe80::/10 fec0::/10 ff00::/8
`);

/** Node's own matcher, written independently of ours. One family only: it would match IPv4 against IPv6 ranges too. */
function nodeBlockList(family: 'ipv4' | 'ipv6'): BlockList {
  const list = new BlockList();
  for (const range of refusedRanges) {
    const [address = '', bits] = range.split('/');
    if (isIPv4(address) === (family === 'ipv4')) list.addSubnet(address, Number(bits), family);
  }
  return list;
}

const anyByte = fc.integer({ min: 0, max: 255 });
const ipv4 = fc.tuple(anyByte, anyByte, anyByte, anyByte).map((bytes) => bytes.join('.'));
const globalGroup = fc.integer({ min: 0, max: 0xffff }).map((group) => group.toString(16));
const unicast = fc
  .tuple(fc.integer({ min: 0x2000, max: 0x3fff }), fc.array(globalGroup, { minLength: 7, maxLength: 7 }))
  .map(([first, rest]) => [first.toString(16), ...rest].join(':'));

describe('address policy', () => {
  const policy = createAddressPolicy([]);

  it('refuses the first and the last address of every special range', () => {
    for (const range of refusedRanges) {
      for (const address of edgesOf(range)) expect(policy.allows(address), `${address} of ${range}`).to.equal(false);
    }
  });

  it('lets everybody reach global addresses, down to the neighbours of what is refused', () => {
    for (const address of globalAddresses) expect(policy.allows(address), address).to.equal(true);
  });

  it("agrees with Node's matcher on random IPv4", () => {
    const list = nodeBlockList('ipv4');
    fc.assert(
      fc.property(ipv4, (address) => policy.allows(address) === !list.check(address, 'ipv4')),
      { numRuns: 5_000 },
    );
  });

  it("agrees with Node's matcher on random global unicast IPv6", () => {
    const list = nodeBlockList('ipv6');
    fc.assert(
      fc.property(unicast, (address) => policy.allows(address) === !list.check(address, 'ipv6')),
      { numRuns: 5_000 },
    );
  });

  it('refuses every IPv4 in an IPv6 disguise, and judges NAT64 by the IPv4 inside', () => {
    fc.assert(
      fc.property(ipv4, (address) => {
        for (const disguise of [`::ffff:${address}`, `::${address}`, `::ffff:0:${address}`, `64:ff9b:1::${address}`]) {
          expect(policy.allows(disguise), disguise).to.equal(false);
        }
        expect(policy.allows(`64:ff9b::${address}`)).to.equal(policy.allows(address));
      }),
    );
  });

  it('refuses text that is no address', () => {
    for (const text of ['', 'localhost', '127.1', '01.2.3.4', '1.2.3.4.5', '[::1]', '2001:200::1%eth0', '8.8.8.8/32']) {
      expect(policy.allows(text), text).to.equal(false);
    }
  });

  it("opens the operator's ranges and nothing beside them", () => {
    const opened = createAddressPolicy(['10.1.0.0/16', '127.0.0.1', 'fd12::/16', ' 172.16.0.0/12 ']);
    for (const address of ['10.1.0.0', '10.1.255.255', '127.0.0.1', 'fd12::1', '172.20.0.1', '8.8.8.8']) {
      expect(opened.allows(address), address).to.equal(true);
    }
    for (const address of ['10.0.255.255', '10.2.0.0', '127.0.0.2', 'fd13::1', '::ffff:127.0.0.1', '169.254.169.254']) {
      expect(opened.allows(address), address).to.equal(false);
    }
  });

  it('does not start with a range that cannot be read', () => {
    for (const range of [
      '',
      '10.0.0.0/33',
      '::/129',
      '10.0.0/8',
      '10.0.0.0/',
      '10.0.0.0/8/8',
      '10.0.0.0/-1',
      'private',
    ]) {
      expect(parseCidr(range), range).to.equal(null);
      expect(() => createAddressPolicy([range]), range).to.throw('Not an address range');
    }
  });

  it('reads addresses into their bytes', () => {
    expect(parseAddress('1.2.3.4')).to.deep.equal([1, 2, 3, 4]);
    expect(parseAddress('::')).to.deep.equal(Array(16).fill(0));
    expect(parseAddress('1:2:3:4:5:6:7:8')).to.deep.equal([0, 1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8]);
    expect(parseAddress('a::1.2.3.4')).to.deep.equal([0, 10, ...Array(10).fill(0), 1, 2, 3, 4]);
    expect(parseAddress('ffff::')).to.deep.equal([255, 255, ...Array(14).fill(0)]);
  });
});

function edgesOf(range: string): string[] {
  const { bytes, bits } = parseCidr(range)!;
  const last = bytes.map((byte, index) => byte | (0xff >> Math.min(8, Math.max(0, bits - index * 8))));
  return [bytes, last].map((edge) => (edge.length === 4 ? edge.join('.') : hexGroups(edge)));
}

function hexGroups(bytes: readonly number[]): string {
  return Buffer.from(bytes)
    .toString('hex')
    .replaceAll(/(.{4})(?=.)/g, '$1:');
}

describe('the network of a caller', () => {
  const names: [string, string][] = [
    ['203.0.113.7', '203.0.113.7'],
    ['::ffff:203.0.113.7', '203.0.113.7'],
    ['::ffff:cb00:7107', '203.0.113.7'],
    ['2001:db8:0:7::1', '20010db800000007::/64'],
    ['2001:DB8:0:7:ffff:ffff:ffff:ffff', '20010db800000007::/64'],
    ['2001:db8:0:8::', '20010db800000008::/64'],
    ['fe80::1%eth0', 'fe80000000000000::/64'],
    ['::1', '0000000000000000::/64'],
    ['unknown', 'unknown'],
    ['x'.repeat(9000), 'x'.repeat(64)],
  ];
  for (const [address, name] of names) {
    it(`${address.slice(0, 40)} counts as ${name}`, () => expect(callerNetwork(address)).to.equal(name));
  }
});

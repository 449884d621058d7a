/** A list written as text. */
export function words(text: string): string[] {
  return text.trim().split(/\s+/);
}

/** Hosts, as they stand in a URL, that must never be connected to. */
export const forbiddenHosts: readonly string[] = [
  // Loopback, in every spelling that a URL parser or a C library accepts.
  ...words(`
    127.0.0.1 127.1 127.0.1 2130706433 0x7f000001 0x7f.1 0x7f.0x0.0x0.0x1 0177.0.0.1 017700000001 0177.0x0.0.1
    127.0.0.1. 127.255.255.254 １２７.０.０.１ 127。0。0。1 ⑫7.0.0.1 %31%32%37.0.0.1 0 0.0.0.0 0x0
    localhost LOCALHOST localhost. a.localhost
  `),
  // Private, shared, link-local, metadata and host agents.
  ...words(`
    10.0.0.1 10.255.255.255 172.16.0.1 172.31.255.255 192.168.0.1 100.64.0.1 100.127.255.255 100.100.100.200
    169.254.169.254 169.254.170.2 0xa9fea9fe 2852039166 0251.0376.0251.0376 168.63.129.16 192.0.0.192
  `),
  // Special purpose, documentation, benchmark, multicast, reserved.
  ...words(`
    192.0.2.1 192.88.99.1 198.18.0.1 198.19.255.255 198.51.100.7 203.0.113.9 224.0.0.1 239.255.255.255 240.0.0.1
    255.255.255.255
  `),
  // IPv6: loopback, and IPv4 in disguise.
  ...words(`
    [::] [::1] [0:0:0:0:0:0:0:1] [::ffff:127.0.0.1] [::ffff:7f00:1] [::127.0.0.1] [::7f00:1] [::ffff:0:127.0.0.1]
    [::5efe:7f00:1] [1::1] [64:ff9b::7f00:1] [64:ff9b::10.0.0.1] [64:ff9b::169.254.169.254] [64:ff9b:1::7f00:1]
    [2002:7f00:1::] [2001:0:7f00:1::]
  `),
  // IPv6: all that is not global unicast, and what is set apart in it.
  ...words(`
    [100::1] [2001::1] [2001:10::1] [2001:db8::1] [3fff::1] [4000::1] [5f00::1] [e000::1] [fc00::1] [fd00:ec2::254]
    [fe80::1] [febf::1] [fec0::1] [ff02::1] [ff0e::1]
  `),
];

/** Whole URLs that must be refused; PORT stands for the canary's port. */
export const forbiddenUrls: readonly string[] = [
  ...words(`
    http://ok@127.0.0.1:PORT/ http://ok:pw@127.0.0.1:PORT/ http://example.com@127.0.0.1:PORT/
    http://example.com:80@127.0.0.1:PORT/ https://user@example.com/
    http:127.0.0.1:PORT http:/127.0.0.1:PORT http:///127.0.0.1:PORT/ http://///127.0.0.1:PORT/ HTTP://127.0.0.1:PORT/
    http://127.0.0.1:PORT#@example.com/ http://127.0.0.1:0PORT/ http://127.0.0.1:PORT/?u=http://example.com/
    http://[::1%25lo]:PORT/ http://[fe80::1%25eth0]:PORT/ http://[::ffff:127.0.0.1]:PORT@example.com:x/
    http://example.com:0/ http://example.com:65536/ http://127.0.0.1:0/ http:// https:// http:/// //127.0.0.1:PORT/ /hook hook
    file:///etc/passwd gopher://127.0.0.1:PORT/_x ftp://127.0.0.1:PORT/ ws://127.0.0.1:PORT/ data:text/plain,x
    javascript:alert(1) blob:http://127.0.0.1:PORT/x unix:/var/run/docker.sock http+unix://%2Fvar%2Frun/
    jar:http://127.0.0.1!/
  `),
  '',
  ' http://127.0.0.1:PORT/',
  'ht\ntp://127.0.0.1:PORT/',
  'http://127.0.0.1\t:PORT/',
  'http://127.0.0.1\n:PORT/',
  'http:\\\\127.0.0.1:PORT\\',
  'http://127.0.0.1:PORT\\@example.com/',
  'http://exa mple.com/',
  'http://example.com/\0',
];

/** Addresses that everybody may reach: the neighbours of what is refused, and well-known resolvers. */
export const globalAddresses: readonly string[] = words(`
  1.1.1.1 8.8.8.8 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 168.63.129.15
  168.63.129.17 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 192.0.1.0 192.0.3.0 192.167.255.255
  192.169.0.0 198.17.255.255 198.20.0.0 223.255.255.255
  2001:200::1 2001:4860:4860::8888 2003::1 2400::1 2606:4700::1111 2620:fe::fe 3ffe::1
  64:ff9b::8.8.8.8 64:ff9b::808:808
`);

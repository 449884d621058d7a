import { isIP } from 'node:net';

/** Why a URL is refused as a destination: which rule it breaks, and a sentence for whoever entered it. */
export interface UrlProblem {
  readonly rule: 'format' | 'length' | 'scheme' | 'credentials' | 'port' | 'address';
  readonly message: string;
}

/** The longest URL that is accepted, in characters. */
const maxUrlChars = 2_048;

/** One message for literals and names alike: which private address a name has is nobody's business. */
export const addressProblem: UrlProblem = {
  rule: 'address',
  message:
    'The host of the URL is not a public address. The operator can open private ranges with OUTBOUND_ALLOW_CIDRS.',
};

const controlOrSpace = /[\s\p{Cc}]/u;

/**
 * Reads a destination as WHATWG URL (which turns 0x7f.1, 2130706433 and full-width digits into 127.0.0.1) and checks all
 * that needs no look at addresses: http or https, no user information, any port but 0.
 */
export function readUrl(text: string, { httpsOnly }: { httpsOnly: boolean }): { url: URL } | { problem: UrlProblem } {
  if (text.length > maxUrlChars) return refuse('length', `The URL must have at most ${maxUrlChars} characters.`);
  // The WHATWG parser drops these silently, and what is stored should be what is called.
  if (controlOrSpace.test(text)) return refuse('format', 'The URL must not contain spaces or control characters.');
  const url = URL.parse(text);
  if (url === null) return refuse('format', 'The URL must be absolute, such as https://www.example.com/path.');
  if (url.protocol !== 'https:' && (httpsOnly || url.protocol !== 'http:')) {
    return refuse('scheme', `The URL must start with https://${httpsOnly ? '' : ' or http://'}.`);
  }
  if (url.username !== '' || url.password !== '')
    return refuse('credentials', 'The URL must not contain a user name or password.');
  if (url.port === '0') return refuse('port', 'The URL must not name port 0.');
  return { url };
}

/** The host as it is resolved or dialled: lower case, IPv6 without brackets. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1');
}

/** True when the host is an address and not a name. */
export function isAddress(host: string): boolean {
  return isIP(host) !== 0;
}

function refuse(rule: UrlProblem['rule'], message: string): { problem: UrlProblem } {
  return { problem: { rule, message } };
}

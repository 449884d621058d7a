import { isIP } from 'node:net';

/** Why a URL may not be called: the rule that it breaks, and a sentence for the user who entered it. */
export interface UrlProblem {
  readonly rule: 'format' | 'length' | 'scheme' | 'credentials' | 'port' | 'address';
  readonly message: string;
}

/** The longest URL that may be called, in characters. */
const maxUrlChars = 2_048;

/** The same message for literal addresses and names, so that nobody can learn which private address a name has. */
export const addressProblem: UrlProblem = {
  rule: 'address',
  message:
    'The host of the URL is not a public address. The operator can open private ranges with OUTBOUND_ALLOW_CIDRS.',
};

const controlOrSpace = /[\s\p{Cc}]/u;

/**
 * Parses a URL by WHATWG rules (which turn 0x7f.1, 2130706433 and full-width digits into 127.0.0.1) and checks
 * everything but its address: http or https, no user information, any port but 0.
 */
export function readUrl(text: string, { httpsOnly }: { httpsOnly: boolean }): { url: URL } | { problem: UrlProblem } {
  if (text.length > maxUrlChars) return refuse('length', `The URL must have at most ${maxUrlChars} characters.`);
  // The WHATWG parser drops these characters silently; the stored URL has to be the URL that is called.
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

/** The host to resolve or connect to: lower case, IPv6 without brackets. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[(.*)\]$/, '$1');
}

/** True if the host is a literal address. */
export function isAddress(host: string): boolean {
  return isIP(host) !== 0;
}

function refuse(rule: UrlProblem['rule'], message: string): { problem: UrlProblem } {
  return { problem: { rule, message } };
}

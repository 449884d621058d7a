import { readUrl, type UrlProblem } from '../outbound/url.ts';
import type { Permissions } from './run.ts';

const placeholder = /\[secret ([A-Za-z][A-Za-z0-9_]{0,63})\]/g;
/** Characters that a secret may have in a URL without being escaped: tokens of bots have a colon. */
const plainSecret = /^[A-Za-z0-9:._~-]+$/;

/**
 * Reads the URL of a request of a plugin, in whose path and query `[secret NAME]` may stand for a secret. It is https, but for the
 * hosts that may be called without encryption.
 */
export function readTarget(text: string, network: Permissions['network']): { url: URL } | { problem: UrlProblem } {
  const read = readUrl(text.replace(placeholder, 'secret'), { httpsOnly: false });
  if ('problem' in read) return read;
  const { protocol, host } = read.url;
  if (protocol === 'https:' || network?.plainHosts?.includes(host)) return read;
  return { problem: { rule: 'scheme', message: 'The URL must start with https://.' } };
}

/** Names of the secrets in a URL. */
export function secretsInUrl(text: string): string[] {
  return Array.from(text.matchAll(placeholder), ([, name = '']) => name);
}

/** Returns a text, such as the value of a header, with its secrets in clear. */
export function textWithSecrets(text: string, valueOf: (name: string) => string): string {
  return text.replace(placeholder, (_, name: string) => valueOf(name));
}

/** Returns the URL with its secrets in clear. */
export function withSecrets(text: string, valueOf: (name: string) => string): string {
  return text.replace(placeholder, (_, name: string) => {
    const value = valueOf(name);
    return plainSecret.test(value) ? value : encodeURIComponent(value);
  });
}

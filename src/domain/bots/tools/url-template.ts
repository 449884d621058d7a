import { readUrl } from '../../../outbound/url.ts';

/** A URL with `{NAME}` for arguments, as far as it can be known before a call. */
export interface UrlTemplate {
  /** `name` or `name:port`, as the account approves it. */
  host: string;
  /** Names of the arguments that it has places for. */
  names: string[];
}

const place = /\{([A-Za-z0-9_-]{1,64})\}/g;
// Parts of the host, where nothing may be filled in.
const authority = /^https?:\/\/[^/?#\\{}]+(?:[/?]|$)/i;

/** Reads the URL of a tool; a sentence where it cannot be called, or an argument could change its host. */
export function readTemplate(text: string): UrlTemplate | { problem: string } {
  if (!authority.test(text)) return { problem: 'must begin with https:// or http:// and a host without placeholders' };
  if (text.includes('#')) return { problem: 'must have no fragment (`#`): servers do not get it' };
  const names = [...text.matchAll(place)].map(([, name = '']) => name);
  const plain = text.replace(place, 'x');
  if (/[{}]/.test(plain)) {
    return { problem: 'has braces that are no place for an argument such as {order}; secrets go into headers' };
  }
  const read = readUrl(plain, { httpsOnly: false });
  if ('problem' in read) return { problem: `cannot be called: ${read.problem.message.replace(/\.$/, '')}` };
  return { host: read.url.host, names: [...new Set(names)] };
}

/**
 * The URL with these arguments percent-encoded in their places; null where one is empty, or would be read as anything but a
 * value: `..` would lead to another path.
 */
export function fillTemplate(text: string, values: ReadonlyMap<string, string>): URL | null {
  const order: string[] = [];
  const marked = text.replace(place, (_, name: string) => `qz${order.push(encode(values.get(name) ?? '')) - 1}zq`);
  if (order.includes('')) return null;
  const filled = new URL(marked).href.replace(/qz(\d+)zq/g, (_, index: string) => order[Number(index)] ?? '');
  const url = URL.parse(filled);
  return url?.href === filled ? url : null;
}

function encode(value: string): string {
  return encodeURIComponent(value.toWellFormed()).replaceAll("'", '%27');
}

import { createHash } from 'node:crypto';
import type { OpenEndpoint } from '../outbound/addresses.ts';

const port = 38366;
const hooks = '/play/hooks';

/**
 * Where the built-in receiver gets webhooks: the only loopback address and port that the service may call with DEMO. It is
 * the installation's own, derived from SECRET_KEY, so that services on one machine do not get each other's posts, and
 * remains the same when PORT or HOST change.
 */
export function receiverEndpoint(secretKey: string): OpenEndpoint {
  const digest = createHash('sha256').update(`switchboard demo receiver ${secretKey}`).digest();
  const [third = 0, fourth = 0] = digest;
  return { address: `127.83.${third}.${1 + (fourth % 254)}`, port };
}

/** The URL that a webhook to the receiver has. */
export function receiverUrl({ address }: OpenEndpoint): string {
  return `http://${address}:${port}${hooks}`;
}

/** Whether a path is one to which the receiver takes posts: `/play/hooks`, or below. */
export function isHook(path: string): boolean {
  return path === hooks || path.startsWith(`${hooks}/`);
}

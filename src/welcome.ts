import type { AddressInfo } from 'node:net';
import type { Config } from './config.ts';
import type { Seeded } from './seed.ts';

/** Where to call a service that listens there. */
export function serviceUrl({ address, port }: AddressInfo): string {
  const anywhere = address === '0.0.0.0' || address === '::';
  const host = anywhere ? '127.0.0.1' : address.includes(':') ? `[${address}]` : address;
  return `http://${host}:${port}`;
}

/** What a start tells the person who started it: where the service listens, the new token, and a first command. */
export function welcome({ config, url, seeded }: { config: Config; url: string; seeded: Seeded | null }): string {
  const token = seeded?.generatedToken;
  const lines = ['', `Switchboard listens on ${url}`];
  if (token) {
    lines.push('', `The administrator's API access token, shown only this once:`, `  ${token}`);
    lines.push('', 'Try it:', `  curl -H 'api_access_token: ${token}' ${url}/api/v1/profile`);
  } else {
    lines.push('', 'Try it:', `  curl ${url}/readyz`);
  }
  if (config.demo)
    lines.push('', 'See a customer, a bot and a webhook at work, in another terminal:', '  npm run demo');
  return `${lines.join('\n')}\n\n`;
}

import type { AddressInfo } from 'node:net';
import type { Config } from './config.ts';
import type { Seeded } from './seed.ts';

/** What a start tells the person who started it: where the service listens, the new token, and a first command. */
export function welcome({
  config,
  address,
  seeded,
}: {
  config: Config;
  address: AddressInfo;
  seeded: Seeded | null;
}): string {
  const host = address.address.includes(':') ? `[${address.address}]` : address.address;
  const url = `http://${host}:${address.port}`;
  const token = seeded?.generatedToken;
  const lines = ['', `Switchboard listens on ${url}`];
  if (token) lines.push('', `Access token of the administrator, shown this once: ${token}`);
  const shown = token ?? '$SWITCHBOARD_TOKEN';
  lines.push('', 'Try:', `  curl -H 'api_access_token: ${shown}' ${url}/api/v1/profile`);
  if (config.demo && token) lines.push('', `See a customer, a bot and a webhook at work: SWITCHBOARD_TOKEN=${token} npm run demo`);
  return `${lines.join('\n')}\n\n`;
}

import type { AddressInfo } from 'node:net';
import { defaultDataDir, type Config } from '../config.ts';
import type { Seeded } from './seed.ts';

/** The URL at which this machine reaches a service bound to the address. */
export function serviceUrl({ address, port }: AddressInfo): string {
  const anywhere = address === '0.0.0.0' || address === '::';
  const host = anywhere ? '127.0.0.1' : address.includes(':') ? `[${address}]` : address;
  return `http://${host}:${port}`;
}

/** The command line for a service whose data is in this folder. */
export function commandFor(dataDir: string, command: string): string {
  const quoted = /^[\w./-]+$/.test(dataDir) ? dataDir : `'${dataDir.replaceAll("'", `'\\''`)}'`;
  return dataDir === defaultDataDir ? command : `DATA_DIR=${quoted} ${command}`;
}

/** The text that a start prints: where the service listens, the new token, and a first command. */
export function welcome({ config, url, seeded }: { config: Config; url: string; seeded: Seeded | null }): string {
  const token = seeded?.generatedToken;
  const lines = ['', `Switchboard listens on ${url}`];
  if (token) {
    lines.push('', `The administrator's API access token, shown only this once:`, `  ${token}`);
    lines.push('', 'Try it:', `  curl -H 'api_access_token: ${token}' ${url}/api/v1/profile`);
  } else {
    lines.push('', 'Try it:', `  curl ${url}/readyz`);
    const command = commandFor(config.dataDir, 'npx switchboard token');
    lines.push('', `Lost the administrator's access token? With this service's settings, ${command} makes another.`);
  }
  if (config.demo) {
    lines.push('', 'See a customer, a bot and a webhook at work, in another terminal:');
    lines.push(`  ${commandFor(config.dataDir, 'npm run demo')}`);
  }
  return `${lines.join('\n')}\n\n`;
}

/** The text that Ctrl-C prints: what the shutdown waits for, and how to skip the wait. */
export function farewell({ requests, deliveries }: { requests: number; deliveries: number }, delayMs: number): string {
  const waits = `${requests} requests and ${deliveries} deliveries under way`;
  return `\nStopping: waiting for ${waits}, ${delayMs / 1000} s at most. Press Ctrl-C again to end at once.\n`;
}

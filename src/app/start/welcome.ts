import type { AddressInfo } from 'node:net';
import { defaultDataDir, isInstalled, type Config } from '../../config.ts';
import type { HoldReason } from '../../lib/outbound-gate.ts';
import type { FrontDoor } from '../front-doors.ts';
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

const labelWidth = 11;

/** Parts of the text that a start prints. */
export interface Welcome {
  config: Config;
  url: string;
  seeded: Seeded | null;
  /** Signs the administrator in to the console, once; null after the first start. */
  consoleLink: string | null;
  /** Why nothing is sent; null while everything is. */
  heldFor: HoldReason | null;
  doors: readonly FrontDoor[];
}

/** The text that a start prints: where the service listens, the new token, and a first command. */
export function welcome({ config, url, seeded, consoleLink, heldFor }: Welcome): string {
  const token = seeded?.generatedToken;
  const lines = ['', `Switchboard listens on ${url}`, ...holdHint(heldFor, config)];
  if (consoleLink !== null) lines.push('', 'Open the console, signed in once and within 30 minutes:', consoleLink);
  if (token) {
    lines.push('', `The administrator's API access token, shown only this once:`, `  ${token}`);
    lines.push('', 'Try it:', `  curl -H 'api_access_token: ${token}' ${url}/api/v1/profile`);
  } else {
    lines.push('', 'Try it:', `  curl ${url}/readyz`);
    const command = commandFor(config.dataDir, 'npx switchboard token');
    lines.push('', `Lost the administrator's access token? With this service's settings, ${command} makes another.`);
  }
  return [...lines, ...embeddingHint(config), ...demoHint(config), '', ''].join('\n');
}

/**
 * The same for people at a terminal: the pages in a table, and lines that can be copied as a whole, 80 characters at most as
 * long as the service's own address is short.
 */
export function welcomeToTerminal({ config, url, seeded, doors, heldFor }: Welcome): string {
  const token = seeded?.generatedToken;
  const lines = ['', `Switchboard listens on ${url}`, ...holdHint(heldFor, config), ''];
  for (const { label, url: link, hint } of doors) {
    lines.push(`  ${label.padEnd(labelWidth)}${link}`);
    if (hint !== undefined) lines.push(`  ${' '.repeat(labelWidth)}${hint}`);
  }
  if (token) {
    lines.push('', `The administrator's access token, shown only this once, and a first call:`);
    lines.push('', `  TOKEN=${token}`, `  curl -H "api_access_token: $TOKEN" ${url}/api/v1/profile`);
  } else {
    const command = commandFor(config.dataDir, 'npx switchboard token');
    lines.push('', `Lost the administrator's access token? This makes another:`, `  ${command}`);
  }
  return [...lines, ...embeddingHint(config), ...demoHint(config), '', ''].join('\n');
}

function holdHint(heldFor: HoldReason | null, { dataDir }: Config): string[] {
  if (heldFor === null) return [];
  if (heldFor === 'off') return ['', 'OUTBOUND is off: this service sends nothing.'];
  return [
    '',
    'This database is a copy of an installation that lives elsewhere, so nothing is',
    'sent. To send from here: start with --adopt. For a staging system, call first:',
    `  ${commandFor(dataDir, 'npx switchboard neutralize')}`,
  ];
}

function embeddingHint({ llmBaseUrl, llmEmbeddingModel }: Config): string[] {
  if (llmBaseUrl === null || llmEmbeddingModel !== null) return [];
  return ['', 'AI bots answer more questions with an embedding model too: set LLM_EMBEDDING_MODEL.'];
}

function demoHint({ demo, dataDir }: Config): string[] {
  if (!demo) return [];
  return [
    '',
    'See a customer, a bot and a webhook at work, in another terminal:',
    `  ${commandFor(dataDir, isInstalled ? 'npx switchboard demo' : 'npm run demo')}`,
  ];
}

/** Returns the text that Ctrl-C prints: the reason why the shutdown waits, and how to skip the wait. */
export function farewell({ requests, deliveries }: { requests: number; deliveries: number }, delayMs: number): string {
  const waits = `${requests} requests and ${deliveries} deliveries under way`;
  return `\nStopping: waiting for ${waits}, ${delayMs / 1000} s at most. Press Ctrl-C again to end at once.\n`;
}

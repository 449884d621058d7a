import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Writes the folder of a plugin, whose code is `bot.js`; the manifest has what it is not given. */
export function writePackage(folder: string, manifest: { id: string } & Record<string, unknown>, code: string): void {
  mkdirSync(folder, { recursive: true });
  const events = ['message_created'];
  const whole = { name: manifest.id, version: '1.0.0', apiVersion: '1', main: 'bot.js', events, ...manifest };
  writeFileSync(join(folder, 'plugin.json'), JSON.stringify(whole));
  writeFileSync(join(folder, 'bot.js'), code);
}

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const made: string[] = [];

const manifest = {
  id: 'sample',
  name: 'Sample',
  version: '1.0.0',
  apiVersion: '1',
  main: 'bot.ts',
  events: ['message_created'],
  permissions: { conversation: ['reply', 'note', 'handoff', 'label'] },
};

/** A package in a folder of its own; `on` is the code of the handlers. Returns its path. */
export function makeBot(on: string, changes: Record<string, unknown> = {}, head = ''): string {
  const code = `import { defineBot } from 'switchboard/bot';\n${head}\nexport default defineBot({ on: {\n${on}\n} });\n`;
  return makePackage({ 'plugin.json': JSON.stringify({ ...manifest, ...changes }), 'bot.ts': code });
}

/** Like makeBot, for an automation that hears the events of `on`. */
export function makeAutomation(on: string, changes: Record<string, unknown> = {}): string {
  const code = `import { defineAutomation } from 'switchboard/bot';\nexport default defineAutomation({ on: {\n${on}\n} });\n`;
  return makePackage({
    'plugin.json': JSON.stringify({ ...manifest, kind: 'automation', ...changes }),
    'bot.ts': code,
  });
}

/** Files in a folder named `sample`. */
export function makePackage(files: Readonly<Record<string, string>>): string {
  const parent = mkdtempSync(join(tmpdir(), 'switchboard-bots-'));
  made.push(parent);
  for (const [name, text] of Object.entries(files)) {
    const path = join(parent, 'sample', name);
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  return join(parent, 'sample');
}

export function removeBots(): void {
  for (const parent of made.splice(0)) rmSync(parent, { recursive: true, force: true });
}

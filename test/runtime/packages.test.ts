import { readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { bundlePlugin } from '../../src/runtime/bundle.ts';
import { PluginError, parseManifest, readManifest, validateConfig } from '../../src/runtime/manifest.ts';
import { readRegistry } from '../../src/runtime/registry.ts';
import { directoryOf, manifestOf } from './helpers.ts';

const goodBot = `import { defineBot } from 'switchboard/bot';
export default defineBot({ on: { message_created(ctx) { ctx.reply('hi'); } } });`;

async function problemsOf(work: () => unknown): Promise<string> {
  try {
    await work();
  } catch (error) {
    expect(error).to.be.instanceOf(PluginError);
    return (error as PluginError).problems.join('\n');
  }
  throw new Error('It was accepted');
}

describe('runtime: manifest', () => {
  it('fills in what may be left out: nothing is granted', () => {
    const manifest = parseManifest({ ...manifestOf(), permissions: {} });
    expect(manifest.permissions).to.deep.equal({
      conversation: [],
      contact: [],
      notes_read: false,
      receive_own: false,
    });
    expect(manifest.limits).to.deep.equal({ sliceMs: 500, wallMs: 20_000, heapMb: 32 });
    expect(validateConfig(manifest, { a: 1 }).problems).to.have.length(1);
  });

  it('keeps what is said', () => {
    const { permissions, limits } = parseManifest(
      manifestOf({ permissions: { contact: ['name'], notes_read: true }, limits: { sliceMs: 100 } }),
    );
    expect(permissions).to.deep.equal({ conversation: [], contact: ['name'], notes_read: true, receive_own: false });
    expect(limits).to.deep.equal({ sliceMs: 100, wallMs: 20_000, heapMb: 32 });
  });

  it('names every problem at once', async () => {
    const wrong = manifestOf({ id: 'X', version: '1', main: 'bot.sh', events: ['nothing'], surplus: 1 });
    const problems = await problemsOf(() => parseManifest(wrong));
    expect(problems).to.contain('plugin.json: `main` must name a .ts or .js file');
    for (const word of ['`id`', '`version`', '`main`', '`events[0]`', '`surplus`']) expect(problems).to.contain(word);
  });

  for (const [title, changes, word] of [
    ['an unknown permission', { permissions: { network: true } }, 'network'],
    ['an unknown action', { permissions: { conversation: ['assign'] } }, 'conversation[0]'],
    ['a slice that is too long', { limits: { sliceMs: 701 } }, 'sliceMs'],
    ['another API version', { apiVersion: '2' }, 'apiVersion'],
    [
      'a pattern in the settings',
      { config: { type: 'object', properties: { a: { type: 'string', pattern: '(a+)+$' } } } },
      'pattern',
    ],
    [
      'a reference in the settings',
      { config: { type: 'object', properties: { a: { $ref: 'https://example.com/x' } } } },
      '$ref',
    ],
    [
      'a default that cannot apply',
      { config: { type: 'object', properties: { a: { type: 'array', items: { type: 'string', minimum: 3 } } } } },
      'minimum',
    ],
  ] as const) {
    it(`refuses ${title}`, async () => {
      expect(await problemsOf(() => parseManifest(manifestOf(changes)))).to.contain(word);
    });
  }

  it('refuses files that are missing, no JSON, or too large', async () => {
    for (const [files, word] of [
      [{}, 'cannot be read'],
      [{ 'plugin.json': '{' }, 'not JSON'],
      [{ 'plugin.json': ' '.repeat(70_000) }, 'larger'],
      [{ 'plugin.json': '[]' }, 'object'],
    ] as const) {
      const { path, remove } = directoryOf(files);
      expect(await problemsOf(() => readManifest(path))).to.contain(word);
      remove();
    }
  });

  it('checks settings against the schema and fills in defaults, without touching what it was given', () => {
    const manifest = parseManifest(
      manifestOf({
        config: {
          type: 'object',
          additionalProperties: false,
          required: ['greeting'],
          properties: {
            greeting: { type: 'string', default: 'Hello', maxLength: 10 },
            mail: { type: 'string', format: 'email' },
          },
        },
      }),
    );
    const settings = {};
    expect(validateConfig(manifest, settings)).to.deep.equal({ config: { greeting: 'Hello' }, problems: [] });
    expect(settings).to.deep.equal({});
    expect(validateConfig(manifest, { greeting: 'x'.repeat(11), mail: 'no', other: 1 }).problems).to.have.length(3);
    expect(validateConfig(manifest, { greeting: 'a\0' }).problems).to.have.length(1);
    expect(validateConfig(manifest, 'text').problems).to.have.length(1);
  });
});

describe('runtime: bundle', () => {
  async function bundle(files: Record<string, string>, main = 'bot.ts'): Promise<{ code: string; hash: string }> {
    const { path, remove } = directoryOf(files);
    try {
      return await bundlePlugin(path, main);
    } finally {
      remove();
    }
  }

  it('makes one script of TypeScript, JSON and files below', async () => {
    const files = {
      'bot.ts': `import { text } from './lib/text.ts'; import data from './data.json'; import type { Bot } from 'switchboard/bot';
        ${goodBot.replace(`'hi'`, 'text as string + data.x')}`,
      'lib/text.ts': `export const text: string = 'from below';`,
      'data.json': '{ "x": "from json" }',
    };
    const first = await bundle(files);
    expect(first.code).to.contain('from below').and.contain('from json');
    expect(first.code).not.to.match(/\bimport\b|\brequire\b/);
    expect(first.hash).to.match(/^[0-9a-f]{64}$/);
    expect(await bundle(files)).to.deep.equal(first);
  });

  for (const [title, source, word] of [
    ['a builtin', `import 'fs'`, 'part of Node.js'],
    ['a builtin with its scheme', `import 'node:child_process'`, 'part of Node.js'],
    ['a builtin by require', `require('fs')`, 'part of Node.js'],
    ['a builtin by import()', `import('fs')`, 'part of Node.js'],
    ['a package', `import 'koa'`, 'cannot be imported'],
    ['a file outside', `import '../../../etc/passwd'`, 'outside'],
    ['an absolute path', `import '/etc/passwd'`, 'cannot be imported'],
    ['a URL', `import 'https://example.com/x.js'`, 'cannot be imported'],
    ['a file URL', `import 'file:///etc/passwd'`, 'cannot be imported'],
    ['a data URL', `import 'data:text/javascript,1'`, 'cannot be imported'],
    ['another kind of file', `import './addon.node'`, 'must name'],
    ['a file that is missing', `import './nothing.ts'`, 'no file'],
    ['broken code', `export default {`, 'bot.ts:1'],
    ['await at the top', `await 1; export default 1`, 'await'],
    ['a link to outside', `import './link.ts'`, 'link'],
  ] as const) {
    it(`refuses ${title}`, async () => {
      const { path, remove } = directoryOf({ 'bot.ts': source, 'addon.node': '' });
      symlinkSync(import.meta.filename, join(path, 'link.ts'));
      expect(await problemsOf(() => bundlePlugin(path, 'bot.ts')))
        .to.contain(word)
        .and.not.contain(path);
      remove();
    });
  }

  it('refuses a main file outside the package, and too much code', async () => {
    expect(await problemsOf(() => bundle({ 'bot.ts': '' }, '../bot.ts'))).to.contain('outside');
    const large = `export default '${'x'.repeat(600_000)}'`;
    expect(await problemsOf(() => bundle({ 'bot.ts': large }))).to.contain('characters');
    expect(await problemsOf(() => bundle({ 'bot.ts': large.repeat(2).padEnd(1_200_000) }))).to.contain('larger');
  });
});

describe('runtime: registry', () => {
  it('reads both folders, and leaves out what is broken', async () => {
    const { path, remove } = directoryOf({
      'plugins/one/plugin.json': JSON.stringify(manifestOf({ id: 'one' })),
      'plugins/one/bot.ts': goodBot,
      'plugins/README.md': '',
      'bots/two/plugin.json': JSON.stringify(manifestOf({ id: 'two' })),
      'bots/two/bot.ts': goodBot,
      'bots/again/plugin.json': JSON.stringify(manifestOf({ id: 'one' })),
      'bots/again/bot.ts': goodBot,
      'bots/broken/plugin.json': '{}',
      'bots/empty/notes.txt': '',
      'bots/escapes/plugin.json': JSON.stringify(manifestOf({ id: 'escapes' })),
      'bots/escapes/bot.ts': `import 'fs'`,
    });
    const registry = await readRegistry(path);
    remove();
    expect(registry.list().map(({ id, source, directory }) => [id, source, directory])).to.deep.equal([
      ['one', 'plugins', 'plugins/one'],
      ['two', 'bots', 'bots/two'],
    ]);
    expect(registry.get('two')?.bundle.code).to.contain('hi');
    expect(registry.get('escapes')).to.equal(undefined);
    expect(registry.broken.map(({ directory }) => directory)).to.deep.equal([
      'bots/again',
      'bots/broken',
      'bots/escapes',
    ]);
    expect(registry.broken[0]?.problems[0]).to.contain('taken by plugins/one');
  });

  it('is empty where there is nothing', async () => {
    const registry = await readRegistry('/nowhere');
    expect([registry.list(), registry.broken]).to.deep.equal([[], []]);
  });

  it('reads the packages of this repository', async () => {
    const registry = await readRegistry(join(import.meta.dirname, '../..'));
    expect(registry.broken).to.deep.equal([]);
    expect(registry.get('faq')?.manifest.events).to.deep.equal(['message_created']);
    expect(readFileSync(join(import.meta.dirname, '../../bots/README.md'), 'utf8')).to.contain('queue_full');
  });
});

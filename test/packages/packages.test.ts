import { cpSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { tryPackage } from '../../src/cli/try-package.ts';
import { parseManifest, parseManifestText, validateConfig } from '../../src/packages/manifest/manifest.ts';
import { PluginError } from '../../src/packages/plugin-error.ts';
import { findRivalry, readPackage } from '../../src/packages/read/read.ts';
import { readRegistry } from '../../src/packages/registry.ts';
import type { Registry } from '../../src/packages/registry.ts';
import { noPermissions } from '../../src/sandbox/run.ts';
import { directoryOf, manifestOf } from '../sandbox/helpers.ts';

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

describe('packages: manifest', () => {
  it('fills in what may be left out: nothing is granted', () => {
    const [manifest] = parseManifest({ ...manifestOf(), permissions: {} }).parts;
    expect(manifest.permissions).to.deep.equal(noPermissions);
    expect(Object.values(noPermissions).filter((granted) => granted && granted.length !== 0)).to.deep.equal([]);
    expect(manifest.limits).to.deep.equal({ sliceMs: 500, wallMs: 20_000, heapMb: 32 });
    expect(validateConfig(manifest, { a: 1 }).problems).to.have.length(1);
  });

  it('keeps what is said', () => {
    const [{ permissions, limits }] = parseManifest(
      manifestOf({ permissions: { contact: ['name'], notes_read: true }, limits: { sliceMs: 100 } }),
    ).parts;
    expect(permissions).to.deep.equal({ ...noPermissions, contact: ['name'], notes_read: true });
    expect(limits).to.deep.equal({ sliceMs: 100, wallMs: 20_000, heapMb: 32 });
  });

  it('names every problem at once', async () => {
    const wrong = manifestOf({ id: 'X', version: '1', main: 'bot.sh', events: ['nothing'], surplus: 1 });
    const problems = await problemsOf(() => parseManifest(wrong));
    expect(problems).to.contain('plugin.json: `main` must name a .ts or .js file');
    const typo = await problemsOf(() => parseManifest(manifestOf({ permision: {} })));
    expect(typo).to.equal('plugin.json: unknown field `permision`; did you mean `permissions`?');
    for (const word of ['`id`', '`version`', '`main`', '`events[0]`', '`surplus`']) expect(problems).to.contain(word);
  });

  for (const [title, changes, word] of [
    ['an unknown permission', { permissions: { network: true } }, 'network'],
    ['an unknown action', { permissions: { conversation: ['delete'] } }, 'conversation[0]'],
    ['a host with a path', { permissions: { network: { hosts: ['shop.example/a'] } } }, 'hosts[0]'],
    ['a host in capitals', { permissions: { network: { hosts: ['Shop.example'] } } }, 'hosts[0]'],
    ['a host with a dot at its end', { permissions: { network: { hosts: ['shop.example.'] } } }, 'hosts[0]'],
    ['a host that is a pattern', { permissions: { network: { hosts: ['*.shop.example'] } } }, 'hosts[0]'],
    ['a port that no host has', { permissions: { network: { hosts: ['shop.example:65536'] } } }, 'no such port'],
    [
      'a secret for a host that is not listed',
      {
        permissions: {
          network: { hosts: ['shop.example'] },
          secrets: [{ name: 'KEY', hosts: ['shop.example', 'evil.example'] }],
        },
      },
      'bound to evil.example',
    ],
    [
      'a secret that is named twice',
      {
        permissions: {
          network: { hosts: ['shop.example'] },
          secrets: [
            { name: 'KEY', hosts: ['shop.example'] },
            { name: 'KEY', hosts: ['shop.example:443'] },
          ],
        },
      },
      'twice',
    ],
    [
      'a secret setting with a default',
      { config: { type: 'object', properties: { a: { type: 'string', 'x-secret': true, default: 'x' } } } },
      'no secret',
    ],
    [
      'a secret setting that is no text',
      { config: { type: 'object', properties: { a: { type: 'integer', 'x-secret': true } } } },
      'must be string',
    ],
    [
      'a secret within another setting',
      {
        config: {
          type: 'object',
          properties: { a: { type: 'array', items: { type: 'string', 'x-secret': true } } },
        },
      },
      'first level',
    ],
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

  it('refuses text that is no JSON, without repeating it, and JSON that is no manifest', async () => {
    expect(await problemsOf(() => parseManifestText('secret')))
      .to.match(/^plugin.json is not JSON/)
      .and.not.contain('secret');
    expect(await problemsOf(() => parseManifestText('{"a":1,}'))).to.contain('at position 7');
    expect(await problemsOf(() => parseManifestText('[]'))).to.contain('object');
  });

  it('refuses more settings than can be compiled in no time', async () => {
    const many = (count: number) =>
      Object.fromEntries(Array.from({ length: count }, (_, index) => [`s${index}`, { type: 'string' }]));
    const groups = Object.fromEntries(
      Array.from({ length: 5 }, (_, index) => [`g${index}`, { type: 'object', properties: many(45) }]),
    );
    const nested = (depth: number): object =>
      depth === 0 ? { type: 'string' } : { type: 'array', items: nested(depth - 1) };
    const configs = [groups, { a: nested(9) }];
    for (const properties of configs) {
      const text = JSON.stringify(manifestOf({ config: { type: 'object', properties } }));
      expect(await problemsOf(() => parseManifestText(text))).to.contain('more than 200 settings');
    }
    const few = JSON.stringify(manifestOf({ config: { type: 'object', properties: many(50) } }));
    expect(parseManifestText(few).parts[0].config.properties).to.have.property('s49');
  });

  it('checks settings against the schema and fills in defaults, without touching what it was given', () => {
    const [manifest] = parseManifest(
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
    ).parts;
    const settings = {};
    expect(validateConfig(manifest, settings)).to.deep.equal({ config: { greeting: 'Hello' }, problems: [] });
    expect(settings).to.deep.equal({});
    expect(validateConfig(manifest, { greeting: 'x'.repeat(11), mail: 'no', other: 1 }).problems).to.have.length(3);
    expect(validateConfig(manifest, { greeting: 'a\0' }).problems).to.have.length(1);
    expect(validateConfig(manifest, 'text').problems).to.have.length(1);
  });
});

/** Reads a package of these files through the door that the service and `plugin check` use. */
async function readFiles(files: Record<string, string>): Promise<{ code: string; hash: string }> {
  const { path, remove } = directoryOf({ 'sample/plugin.json': JSON.stringify(manifestOf()), ...inSample(files) });
  try {
    return (await readPackage(join(path, 'sample'))).bundle;
  } finally {
    remove();
  }
}

function inSample(files: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(files).map(([name, text]) => [`sample/${name}`, text]));
}

describe('packages: bundle', () => {
  it('makes one script of TypeScript, JSON and files below', async () => {
    const files = {
      'bot.ts': `import { text } from './lib/text.ts'; import data from './data.json'; import type { Bot } from 'switchboard/bot';
        ${goodBot.replace(`'hi'`, 'text as string + data.x')}`,
      'lib/text.ts': `export const text: string = 'from below';`,
      'data.json': '{ "x": "from json" }',
    };
    const first = await readFiles(files);
    expect(first.code).to.contain('from below').and.contain('from json');
    expect(first.code).not.to.match(/\bimport\b|\brequire\b/);
    expect(first.hash).to.match(/^[0-9a-f]{64}$/);
    expect(await readFiles(files)).to.deep.equal(first);
  });

  it('takes JSON with its import attribute, links inside the package, and code that no other file imports', async () => {
    const { path, remove } = directoryOf({
      'sample/plugin.json': JSON.stringify(manifestOf()),
      'sample/bot.ts': `import data from './link.json' with { type: 'json' }; import { x } from './lib/x.js';
        const later = () => import('./lib/x.js'); export default { on: { message_created: () => [data, x, later] } };`,
      'sample/lib/data.json': '\ufeff{ "said": "through a link" }',
      'sample/lib/x.js': `module.exports = { x: require('../lib/data.json') };`,
    });
    symlinkSync('lib/data.json', join(path, 'sample/link.json'));
    symlinkSync(join(path, 'sample'), join(path, 'linked'));
    const { bundle } = await readPackage(join(path, 'sample'));
    expect(bundle.code)
      .to.contain('through a link')
      .and.not.match(/\brequire\(|\bimport\(/);
    // The folder may be a link: its name counts where the name matters, and its files are those of the real folder.
    expect((await readPackage(join(path, 'linked'))).bundle).to.deep.equal(bundle);
    const { ok, report } = await tryPackage(join(path, 'linked'));
    expect([ok, report.join('\n')]).to.satisfy(
      ([isOk, text]: [boolean, string]) => isOk && text.includes('is not the name of the folder, `linked`'),
    );
    remove();
  });
});

describe('packages: registry', () => {
  const pack = (folder: string, id: string, code = goodBot): Record<string, string> => ({
    [`${folder}/plugin.json`]: JSON.stringify(manifestOf({ id })),
    [`${folder}/bot.ts`]: code,
  });
  const found = (registry: Registry) => registry.list().map(({ id, directory }) => [id, directory]);
  const problemsIn = (registry: Registry) =>
    Object.fromEntries(registry.broken.map(({ directory, problems }) => [directory, problems.join('\n')]));

  it('reads both folders, and leaves out what is broken', async () => {
    const { path, remove } = directoryOf({
      ...pack('plugins/one', 'one'),
      'plugins/README.md': '',
      ...pack('bots/two', 'two'),
      'bots/broken/plugin.json': '{}',
      'bots/empty/notes.txt': '',
      ...pack('bots/escapes', 'escapes', `import 'fs'`),
    });
    const registry = await readRegistry(path);
    remove();
    expect(found(registry)).to.deep.equal([
      ['one', 'plugins/one'],
      ['two', 'bots/two'],
    ]);
    expect(registry.get('two')).to.deep.include({ id: 'two', source: 'bots' });
    expect(registry.get('two')?.bundle.code).to.contain('hi');
    expect(registry.get('escapes')).to.equal(undefined);
    expect(registry.broken.map(({ directory }) => directory)).to.deep.equal(['bots/broken', 'bots/escapes']);
  });

  it('two packages with one id: a copied folder is refused by its name, and check and registry name both', async () => {
    const { path, remove } = directoryOf(pack('bots/faq', 'faq'));
    cpSync(join(path, 'bots/faq'), join(path, 'bots/dup'), { recursive: true });
    const registry = await readRegistry(path);
    const sentence = 'the id `faq` must be the name of the folder, `dup`; `bots/faq` has that id';
    expect(found(registry)).to.deep.equal([['faq', 'bots/faq']]);
    expect(problemsIn(registry)).to.have.all.keys('bots/dup').and.property('bots/dup').that.contains(sentence);
    const { ok, report } = await tryPackage(join(path, 'bots/dup'));
    expect([ok, report.join()]).to.deep.equal([false, `error: plugin.json: ${sentence}`]);
    expect((await tryPackage(join(path, 'bots/faq'))).ok).to.equal(true);
    remove();
  });

  it('two packages with one id: the first has it, and the other is refused', async () => {
    const { path, remove } = directoryOf({
      ...pack('plugins/faq', 'faq', goodBot.replace('hi', 'shipped')),
      ...pack('bots/faq', 'faq'),
      ...pack('plugins/old', 'old'),
      ...pack('bots/old', 'old', 'broken {'),
    });
    const registry = await readRegistry(path);
    expect(found(registry), 'nobody said anything').to.deep.equal([
      ['faq', 'plugins/faq'],
      ['old', 'plugins/old'],
    ]);
    const problems = problemsIn(registry);
    expect(problems).to.have.all.keys('bots/old', 'bots/faq');
    expect(problems['bots/faq']).to.contain('The packages plugins/faq and bots/faq claim the same id `faq`');
    const shared = join(path, 'shared');
    cpSync(join(path, 'bots/faq'), join(shared, 'solo'), { recursive: true });
    expect(await findRivalry(join(path, 'plugins/solo'), 'solo', [shared])).to.deep.equal([
      `The packages plugins/solo and shared/solo claim the same id \`solo\`: the one that was there first stays, the other is refused; rename one of them`,
    ]);
    for (const [folder, other] of [
      ['plugins/faq', 'bots/faq'],
      ['bots/faq', 'plugins/faq'],
    ] as const) {
      const { ok, report } = await tryPackage(join(path, folder));
      expect(ok).to.equal(false);
      expect(report.join()).to.contain(`The packages ${folder} and ${other} claim the same id`);
    }
    remove();
  });

  it('is empty where there is nothing', async () => {
    const registry = await readRegistry('/nowhere');
    expect([registry.list(), registry.broken]).to.deep.equal([[], []]);
    expect(await problemsOf(() => readPackage('/nowhere'))).to.equal('There is no folder "/nowhere"');
  });

  it('reads the packages of this repository', async () => {
    const registry = await readRegistry(join(import.meta.dirname, '../..'));
    expect(registry.broken).to.deep.equal([]);
    expect(registry.get('faq')?.manifest.parts[0].events).to.deep.equal(['message_created']);
  });
});

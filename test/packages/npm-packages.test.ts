import { expect } from 'chai';
import { mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { tryPackage } from '../../src/cli/try-package.ts';
import { PluginError } from '../../src/packages/plugin-error.ts';
import { readPackage } from '../../src/packages/read/read.ts';
import { readRegistry } from '../../src/packages/registry.ts';
import { directoryOf, manifestOf } from '../sandbox/helpers.ts';

/** The files of an npm package below `node_modules`. */
function installed(name: string, fields: object, files: Record<string, string>, below = 'bots/sample'): Files {
  const folder = `${below}/node_modules/${name}`;
  const manifest = JSON.stringify({ name, version: '1.2.3', license: 'MIT', ...fields });
  const named = Object.entries(files).map(([file, text]) => [`${folder}/${file}`, text]);
  return { [`${folder}/package.json`]: manifest, ...(Object.fromEntries(named) as Files) };
}

type Files = Record<string, string>;

function plugin(code: string, dependencies: readonly string[]): Files {
  const listed = Object.fromEntries(dependencies.map((name) => [name, '^1']));
  return {
    'bots/sample/plugin.json': JSON.stringify(manifestOf({ permissions: { conversation: ['reply'] } })),
    'bots/sample/package.json': JSON.stringify({ name: 'sample', version: '1.0.0', dependencies: listed }),
    'bots/sample/bot.ts': code,
  };
}

const replying = (text: string) => `export default { on: { message_created(ctx) { ctx.reply(${text}); } } };`;

async function problemsOf(work: Promise<unknown>): Promise<readonly string[]> {
  try {
    await work;
  } catch (error) {
    expect(error).to.be.instanceOf(PluginError);
    return (error as PluginError).problems;
  }
  throw new Error('It was accepted');
}

describe('packages: npm packages', function () {
  this.timeout(300_000);
  let root: { path: string; remove: () => void } | null = null;
  afterEach(() => {
    root?.remove();
    root = null;
  });

  function write(...files: Files[]): string {
    root = directoryOf(Object.assign({}, ...files) as Files);
    return join(root.path, 'bots/sample');
  }

  const checked = async (folder: string): Promise<string> => (await tryPackage(folder, () => [])).report.join('\n');

  it('are part of the bundle, resolved as npm lays them out, with their sizes and licences', async () => {
    const names = ['modern', '@scope/old', 'swaps', 'events'];
    const code = `import modern, { kind } from 'modern';
import old from '@scope/old';
import part from 'modern/part';
import swaps from 'swaps';
import emitter from 'events';
import data from 'modern/data.json' with { type: 'json' };
${replying("[modern, kind, old, part, swaps, emitter, data.is, typeof global].join(' ')")}`;
    const folder = write(
      plugin(code, names),
      installed(
        'modern',
        {
          type: 'module',
          license: { type: 'ISC' },
          sideEffects: false,
          imports: { '#inner': './inner.mjs' },
          exports: {
            '.': { node: './node.js', import: './main.mjs', require: './main.cjs' },
            './part': './part.js',
            './data.json': './data.json',
          },
        },
        {
          'main.mjs': `export { default } from '#inner'; export const kind = 'import';`,
          'inner.mjs': `export default 'modern';`,
          'main.cjs': `module.exports = 'required';`,
          'part.js': `export default 'part';`,
          'data.json': '{"is":"data"}',
          'node.js': `import 'node:fs';`,
        },
      ),
      installed(
        '@scope/old',
        { main: 'lib' },
        {
          'lib/index.js': `let optional = ''; try { optional = require('fs'); } catch { optional = 'without'; }
            const root = typeof global === 'object' && global.Object === Object ? 'global' : Function('return this')();
            module.exports = [require('./other'), require('nested'), require('modern'), optional, root, process.env.NODE_ENV].join('+');`,
          'lib/other.js': `module.exports = 'other';`,
        },
      ),
      installed(
        '@scope/old/node_modules/nested',
        {},
        { 'index.js': `module.exports = require('nested/v.json').v;`, 'v.json': '{"v":"2"}' },
      ),
      installed('nested', {}, { 'index.js': `module.exports = '1';` }),
      installed(
        'swaps',
        { browser: { fs: false, './lib/a.js': './lib/b.js' }, module: './lib/a.js', main: './none.js' },
        {
          'lib/a.js': `export default 'a';`,
          'lib/b.js': `import * as fs from 'fs'; export default Object.keys(fs).join() || 'b';`,
        },
      ),
      installed('events', {}, { 'index.js': `module.exports = 'polyfill';` }),
    );
    const report = await checked(folder);
    expect(report).to.contain(
      'modern import other+2+required+without+global+production part default polyfill data object'.replace(
        'undefined',
        'object',
      ),
    );
    expect(report).to.match(/^npm package modern 1\.2\.3 \(ISC\), \d+ bytes$/m);
    const { packages } = await readPackage(folder);
    const sizes = Object.fromEntries(packages.map(({ folder: place, bytes }) => [place, bytes]));
    expect(Object.keys(sizes)).to.deep.equal([
      'node_modules/@scope/old',
      'node_modules/@scope/old/node_modules/nested',
      'node_modules/events',
      'node_modules/modern',
      'node_modules/swaps',
    ]);
    expect(sizes['node_modules/@scope/old']).to.be.greaterThan(sizes['node_modules/events']!);
    // A folder of PLUGIN_DIRS gives the same code.
    const ofService = (await readRegistry(root!.path)).get('sample');
    expect(ofService?.bundle.hash).to.equal((await readPackage(folder)).bundle.hash);
    expect(ofService?.packages).to.deep.equal(packages);
  });

  it('are refused with the package and its importer where they are no pure JavaScript, or not declared or installed', async () => {
    const bad: [code: string, said: string][] = [
      [`import 'undeclared';`, 'package.json does not list undeclared there: npm install --save-prod undeclared'],
      [
        `import 'absent';`,
        'The npm package absent is not installed in `node_modules` of the plugin: run npm install there',
      ],
      [
        `import './node_modules/builtin/index.js';`,
        'is a file of an npm package: import it by the name of the package',
      ],
      [`import 'builtin/hidden.js';`, '"builtin/hidden.js" is not exported by its package'],
    ];
    const worse: [name: string, code: string, said: string][] = [
      ['builtin', `import 'node:child_process';`, '"node:child_process" is part of Node.js'],
      ['plain', `require('fs');`, '"fs" is part of Node.js'],
      ['native', `require('./build/addon.node');`, 'must name a .js, .mjs, .cjs or .json file'],
      ['evals', `module.exports = eval('require')('fs');`, 'npm packages that call it are refused'],
      ['leaves', `require('../../plugin.json');`, 'is outside the folder of its npm package'],
      ['enters', `require('../plain/index.js');`, 'is outside the folder of its npm package'],
      ['computes', `module.exports = (name) => require(name);`, 'patterns are not expanded'],
      ['typed', `require('./code.ts');`, 'must name a .js, .mjs, .cjs or .json file'],
      ['lacks', `require('missing');`, 'The npm package missing is not installed'],
      ['loads', `import('https://example.com/x.js');`, 'cannot be imported'],
    ];
    const names = worse.map(([name]) => name);
    const exported = { builtin: { exports: './index.js' } } as Record<string, object>;
    const code = [...bad.map(([text]) => text), ...names.map((name) => `import '${name}';`)].join('\n');
    const folder = write(
      plugin(`${code}\n${replying("'x'")}`, [...names, 'absent']),
      ...worse.map(([name, text]) =>
        installed(name, exported[name] ?? {}, { 'index.js': `\n${text}`, 'hidden.js': '' }),
      ),
      installed('native', {}, { 'index.js': `\nrequire('./build/addon.node');`, 'build/addon.node': '' }),
      installed('typed', {}, { 'index.js': `\nrequire('./code.ts');`, 'code.ts': '' }),
    );
    const told = (await problemsOf(readPackage(folder))).join('\n');
    for (const [index, [, said]] of bad.entries())
      expect(told).to.match(new RegExp(`^bot\\.ts:${index + 1}: .*${RegExp.escape(said)}`, 'm'));
    for (const [name, , said] of worse.filter(([each]) => each !== 'evals')) {
      const line = told.split('\n').find((each) => each.startsWith(`node_modules/${name}/index.js:2: `));
      expect(line, `${name}\n${told}`)
        .to.contain(said)
        .and.contain(`(in the npm package ${name}, which bot.ts imports)`);
    }
    const evals = write(
      plugin(`import 'evals';\n${replying("'x'")}`, ['evals']),
      installed('evals', {}, { 'index.js': worse[3]![1] }),
    );
    expect(await problemsOf(readPackage(evals))).to.deep.equal([
      'node_modules/evals/index.js:1: eval() could load what is not seen here: npm packages that call it are refused; `new Function` is not (in the npm package evals, which bot.ts imports)',
    ]);
  });

  it('may lie above the folder of an author, but not for a service, and never be links', async () => {
    const folder = write(
      plugin(`import above from 'above';\n${replying('above')}`, ['above']),
      installed('above', {}, { 'index.js': `module.exports = require('other');` }, '.'),
      installed('other', {}, { 'index.js': `module.exports = 'from above';` }, '.'),
    );
    expect(await checked(folder)).to.contain('from above');
    const broken = async () => (await readRegistry(root!.path)).broken.flatMap(({ problems }) => problems).join();
    expect(await broken()).to.contain('The npm package above is not installed');
    const { bundle } = await readPackage(folder);
    renameSync(join(root!.path, 'node_modules'), join(folder, 'node_modules'));
    expect((await readRegistry(root!.path)).get('sample')?.bundle).to.deep.equal(bundle);
    const modules = join(folder, 'node_modules');
    renameSync(join(modules, 'other'), join(root!.path, 'elsewhere'));
    symlinkSync(join(root!.path, 'elsewhere'), join(modules, 'other'));
    for (const said of [await broken(), (await problemsOf(readPackage(folder))).join()]) {
      expect(said).to.contain('"node_modules/other" is a link: packages must be installed as folders');
    }
    rmSync(join(modules, 'other'));
    mkdirSync(join(modules, 'other'));
    symlinkSync(join(root!.path, 'elsewhere/package.json'), join(modules, 'other/package.json'));
    symlinkSync(join(root!.path, 'elsewhere/index.js'), join(modules, 'other/index.js'));
    expect(await broken()).to.match(/is a link|is not installed|There is no file/);
  });

  it('leave errors in the lines of the author, and name the package that is too large', async () => {
    const long = `module.exports = () => '${'x'.repeat(300_000)}';\n`;
    const bot = `import long from 'long';\n\nexport default { on: { message_created() {\n  throw new Error(String(long().length));\n} } };`;
    const folder = write(plugin(bot, ['long']), installed('long', {}, { 'index.js': long }));
    expect(await checked(folder)).to.contain('bot.ts:4:9');
    const many = Object.fromEntries(Array.from({ length: 220 }, (_, index) => [`f${index}.js`, '']));
    const all = Object.keys(many)
      .map((file) => `require('./${file}');`)
      .join('\n');
    const large = write(plugin(`import 'wide';`, ['wide']), installed('wide', {}, { 'index.js': all, ...many }));
    expect((await problemsOf(readPackage(large))).join()).to.match(
      /^The package has more than 200 files, \d+ files are those of the npm package wide: import a part of it \(wide\/…\)$/,
    );
    const huge = write(
      plugin(`import a from 'huge';\nimport b from 'huge/b.js';\n${replying('a + b')}`, ['huge']),
      installed(
        'huge',
        {},
        {
          'index.js': `module.exports = '${'x'.repeat(400_000)}'`,
          'b.js': `module.exports = '${'y'.repeat(400_000)}'`,
        },
      ),
    );
    expect((await problemsOf(readPackage(huge))).join()).to.match(
      /^The bundled code has more than 524288 characters, 800\d{3} bytes of them of the npm package huge$/,
    );
  });
});

import { expect } from 'chai';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { installElsewhere, packProject, runIn } from '../support/packed.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const tsc = join(root, 'node_modules/typescript/bin/tsc');

const manifest = {
  id: 'echo',
  name: 'Echo',
  version: '1.0.0',
  apiVersion: '1',
  main: 'bot.ts',
  events: ['message_created'],
  permissions: { conversation: ['reply'] },
};

function echo(content: string): string {
  return `import { defineBot } from 'switchboard/bot';

export default defineBot({
  on: {
    message_created(ctx) {
      ctx.reply(${content});
    },
  },
});
`;
}

function filesBelow(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1));
}

// The tarball of `npm pack` is what authors of bots install in their own repositories.
describe('the package that npm pack makes', function () {
  this.timeout(120_000);
  const made: string[] = [];
  let folder: string;
  let installed: string;

  before(() => {
    const packed = mkdtempSync(join(tmpdir(), 'switchboard-packed-'));
    folder = installElsewhere(packProject(packed));
    made.push(packed, folder);
    installed = join(folder, 'node_modules/switchboard');
    mkdirSync(join(folder, 'echo'));
    writeFileSync(join(folder, 'echo/plugin.json'), JSON.stringify(manifest));
    const compilerOptions = {
      types: ['node'],
      module: 'nodenext',
      target: 'es2024',
      strict: true,
      noEmit: true,
      skipLibCheck: false,
    };
    writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['echo'] }));
  });

  after(() => {
    for (const path of made) rmSync(path, { recursive: true, force: true });
  });

  it('leaves nothing behind in the project', () => {
    expect(existsSync(join(root, 'dist'))).to.equal(false);
  });

  it('has the program as JavaScript, and of TypeScript only declarations and bots', () => {
    const files = filesBelow(installed);
    expect(files).to.include.members([
      'dist/cli/main.js',
      'dist/packages/bot-api.js',
      'dist/packages/bot-api.d.ts',
      'dist/testing/testing.d.ts',
    ]);
    expect(files).to.include.members([
      'schemas/runtime/plugin.json',
      'bots/faq/bot.ts',
      'plugins/ai-bot/bot.ts',
      'README.md',
      'LICENSE',
    ]);
    const typeScript = files.filter(
      (file) => file.endsWith('.ts') && !/\.d\.ts$|^(?:bots|plugins|templates)\//.test(file),
    );
    expect(typeScript).to.deep.equal([]);
    const foreign = files.filter((file) => /^(?:test|bench|scripts|src|node_modules|\.)/.test(file));
    expect(foreign).to.deep.equal([]);
  });

  it('imports no TypeScript and nothing that is not there', () => {
    for (const file of filesBelow(join(installed, 'dist')).filter((path) => path.endsWith('.js'))) {
      const code = readFileSync(join(installed, 'dist', file), 'utf8');
      const imported = [...code.matchAll(/(?:\bfrom|\bimport|\bimport\s*\()\s*'(\.{1,2}\/[^']+)'/g)].map(
        ([, path]) => path!,
      );
      for (const path of imported) {
        expect(existsSync(join(installed, 'dist', file, '..', path)), `${file} imports ${path}`).to.equal(true);
      }
    }
  });

  it('gives the types of the API to a bot', () => {
    writeFileSync(join(folder, 'echo/bot.ts'), echo('`You said ${ctx.message.content}`'));
    expect(runIn(folder, process.execPath, tsc, '-p', '.')).to.include({ code: 0, output: '' });
    writeFileSync(join(folder, 'echo/bot.ts'), echo('ctx.mesage.content'));
    const { code, output } = runIn(folder, process.execPath, tsc, '-p', '.');
    expect(code).to.not.equal(0);
    expect(output).to.include("Property 'mesage' does not exist").and.include('echo/bot.ts');
  });

  it('gives the test kit to the tests of a bot, with its types', () => {
    writeFileSync(join(folder, 'echo/bot.ts'), echo('`You said ${ctx.message.content}`'));
    const test = (expected: string) => `import { test } from 'node:test';
import { simulate } from 'switchboard/testing';

test('echoes', async () => {
  const sim = await simulate('echo', { contact: { name: 'Kim' } });
  await sim.customer('Hello');
  sim.expectReply(${expected});
});
`;
    const path = join(folder, 'echo/test/echo.test.ts');
    mkdirSync(join(folder, 'echo/test'));
    writeFileSync(path, test("'You said Hello'"));
    expect(runIn(folder, process.execPath, tsc, '-p', '.')).to.include({ code: 0, output: '' });
    expect(runIn(folder, process.execPath, '--test', path)).to.include({ code: 0 });
    writeFileSync(path, test("'Goodbye'"));
    const failed = runIn(folder, process.execPath, '--test', path);
    expect(failed.code).to.equal(1);
    expect(failed.output).to.include('customer: Hello');
    writeFileSync(path, test('5'));
    expect(runIn(folder, process.execPath, tsc, '-p', '.').output).to.include('echo/test/echo.test.ts');
  });

  it('makes a bot whose types know the sandbox alone, and whose tests know Node', () => {
    const begun = runIn(folder, 'npx', 'switchboard', 'plugin', 'new', 'fresh');
    expect(begun).to.include({ code: 0 }).and.property('output').not.include('npm install');
    const types = (project: string) => runIn(folder, process.execPath, tsc, '-p', project);
    for (const project of ['fresh', 'fresh/test']) expect(types(project)).to.include({ code: 0, output: '' });
    const add = (file: string) => {
      const path = join(folder, 'fresh', file);
      writeFileSync(path, `${readFileSync(path, 'utf8')}\nexport const bytes = Buffer.from('x');\n`);
    };
    add('test/bot.test.ts');
    expect(types('fresh/test')).to.include({ code: 0, output: '' });
    add('bot.ts');
    expect(types('fresh').output).to.match(/fresh\/bot\.ts.*'Buffer'/);
  });

  it('checks a bot in the sandbox', () => {
    writeFileSync(join(folder, 'echo/bot.ts'), echo('`You said ${ctx.message.content}`'));
    const { code, output } = runIn(folder, 'npx', 'switchboard', 'plugin', 'check', 'echo');
    expect(output).to.include('message_created on a sample event: ok, reply');
    expect(code).to.equal(0);
  });
});

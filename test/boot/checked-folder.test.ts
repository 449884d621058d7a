import { expect } from 'chai';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommand, type Ended } from '../support/command.ts';
import { runIn } from '../support/packed.ts';
import { makeBot, removeBots } from '../testing/helpers.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const launcher = join(root, 'bin/switchboard.js');

function plugin(...args: string[]): Promise<Ended> {
  return runCommand(['plugin', ...args], { env: { PATH: process.env['PATH'] ?? '' }, cwd: root });
}

/** The report of `plugin check --json`, errors and warnings apart. */
async function check(directory: string): Promise<{ ok: boolean; errors: string[]; warnings: string[] }> {
  const { output } = await plugin('check', directory, '--json');
  const { ok, report } = JSON.parse(output) as { ok: boolean; report: { level: string; message: string }[] };
  const of = (wanted: string) => report.filter(({ level }) => level === wanted).map(({ message }) => message);
  return { ok, errors: of('error'), warnings: of('warning') };
}

describe('the folder of a plugin', function () {
  this.timeout(120_000);
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'switchboard-folders-'));
  });
  after(() => {
    rmSync(folder, { recursive: true, force: true });
    removeBots();
  });

  it('check and the other commands take a folder that is not called by the id, and check warns of it', async () => {
    const bot = makeBot("message_created(ctx) { ctx.reply('Hi ' + ctx.message.content); },", {
      permissions: { conversation: ['reply'] },
    });
    const cloned = join(folder, 'my-sample-bot');
    mkdirSync(join(cloned, 'test'), { recursive: true });
    for (const name of ['plugin.json', 'bot.ts']) writeFileSync(join(cloned, name), readFileSync(join(bot, name)));
    const { ok, errors, warnings } = await check(cloned);
    expect([ok, errors]).to.deep.equal([true, []]);
    expect(warnings).to.deep.equal([
      'plugin.json:1: the id `sample` is not the name of the folder, `my-sample-bot`: a service refuses it in a folder of PLUGIN_DIRS; `plugin install` takes it',
    ]);
    const played = await plugin('check', cloned, '--say', 'there');
    expect(played).to.include({ code: 0 }).and.property('output').include('bot: Hi there');
    const env = { PATH: process.env['PATH'] ?? '', PLUGIN_DIRS: folder };
    const listed = await runCommand(['plugin', 'check', cloned], { env, cwd: root });
    expect(listed).to.include({ code: 1 }).and.property('output').include('must be the name of the folder');
  });

  it('check says what is wrong with package.json', async () => {
    const bot = makeBot('message_created(ctx) { ctx.reply("Hi"); },', { permissions: { conversation: ['reply'] } });
    const told = async (text: string) => {
      writeFileSync(join(bot, 'package.json'), text);
      const { errors, warnings } = await check(bot);
      return { errors, warnings };
    };
    expect((await told('{')).errors.join()).to.match(/^package\.json:1: it is not JSON: /);
    expect((await told('[]')).errors).to.deep.equal(['package.json:1: it must be a JSON object']);
    expect(await told('{\n"name": "My Bot",\n"version": "one" }')).to.deep.equal({
      errors: [],
      warnings: [
        'package.json:2: npm publishes no package of this `name`: use lowercase letters, digits and -',
        'package.json:3: npm publishes no package of this `version`: it must be like 1.2.3',
      ],
    });
    expect(await told('{"name": "@me/sample",\n"version": "0.9.0"}')).to.deep.equal({
      errors: [],
      warnings: [
        'package.json:2: the version 0.9.0 is not the one of plugin.json, 1.0.0, by which services and archives go',
      ],
    });
    expect(await told('{}')).to.deep.equal({ errors: [], warnings: [] });
  });

  it('check names the folder that is not there', async () => {
    expect((await check('/no/such/place')).errors).to.deep.equal(['There is no folder "/no/such/place"']);
  });

  it('check says of globals that the sandbox has not got what to use instead, and advises no types of Node', async () => {
    const bot = makeBot(
      'message_created(ctx) {\n  Buffer.from("x");\n  console.log(process.env);\n  setTimeout(() => fetch("x"), 1);\n},',
    );
    const { errors } = await check(bot);
    expect(
      errors.filter((error) => error.includes('Cannot find name')).map((error) => error.slice(0, -9)),
    ).to.have.members([
      "bot.ts:5: Cannot find name 'Buffer': it is not in the sandbox",
      "bot.ts:6: Cannot find name 'console': it is not in the sandbox, use `ctx.log`",
      "bot.ts:6: Cannot find name 'process': it is not in the sandbox, use `ctx.config` or `secret(name)` for settings",
      "bot.ts:7: Cannot find name 'setTimeout': it is not in the sandbox, use `ctx.schedule`",
      "bot.ts:7: Cannot find name 'fetch': it is not in the sandbox, use `ctx.fetch`",
    ]);
    expect(errors.join()).to.not.include('@types/node');
  });

  it('test says what to install where the package is not installed', () => {
    const bot = makeBot('message_created() {},');
    writeFileSync(
      join(bot, 'bot.test.ts'),
      "import 'node:test';\nimport { simulate } from 'switchboard/testing';\nsimulate;",
    );
    const { code, output, errors } = runIn(root, process.execPath, launcher, 'plugin', 'test', bot);
    expect([code, output]).to.deep.equal([1, '']);
    expect(errors).to.match(/^The tests import "switchboard\/testing", and .*npm install --save-dev .*\.tgz.*\n$/);
  });

  it('new makes a project that CI can test: what it depends on, types for the sandbox and for tests, and a workflow', async () => {
    const project = join(folder, 'repository');
    mkdirSync(project, { recursive: true });
    const devDependencies = { switchboard: 'file:../archives/switchboard-0.1.0.tgz' };
    writeFileSync(join(project, 'package.json'), JSON.stringify({ name: 'mine', devDependencies }));
    const made = await plugin('new', join(project, 'bots/near'));
    expect(made.output).to.include('npm install --prefix');
    const readJson = (name: string) => JSON.parse(readFileSync(join(project, 'bots/near', name), 'utf8'));
    const { devDependencies: needed, scripts, type } = readJson('package.json');
    expect(needed).to.have.all.keys('switchboard', 'typescript', '@types/node');
    expect([needed.switchboard, type]).to.deep.equal(['file:../../../archives/switchboard-0.1.0.tgz', 'module']);
    expect(readJson('tsconfig.json').compilerOptions.types).to.deep.equal([]);
    expect(readJson('test/tsconfig.json').compilerOptions.types).to.deep.equal(['node']);
    const workflow = readFileSync(join(project, 'bots/near/.github/workflows/test.yml'), 'utf8');
    const run = [...workflow.matchAll(/- run: npm (?:run )?(\w+)/g)].map(([, name]) => name);
    expect(run).to.deep.equal(['ci', 'types', 'check', 'test']);
    expect(scripts).to.include.all.keys('types', 'check', 'test');
    await plugin('new', join(folder, 'alone'));
    const { devDependencies: alone } = JSON.parse(readFileSync(join(folder, 'alone/package.json'), 'utf8'));
    expect(alone.switchboard).to.match(/^npm:@switchboard\/service@\^\d/);
  });
});

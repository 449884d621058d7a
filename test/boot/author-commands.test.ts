import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runCommand, type Ended } from '../support/command.ts';
import { runIn } from '../support/packed.ts';
import { makeBot, removeBots } from '../testing/helpers.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const launcher = join(root, 'bin/switchboard.js');
const templates = readdirSync(join(root, 'templates'));
const packages = ['bots', 'plugins']
  .flatMap((place) => readdirSync(join(root, place)).map((name) => join(place, name)))
  .filter((place) => existsSync(join(root, place, 'plugin.json')));

function plugin(...args: string[]): Promise<Ended> {
  return runCommand(['plugin', ...args], { env: { PATH: process.env['PATH'] ?? '' }, cwd: root });
}

/** Runs the tests of a package, which print to the process's own output. */
function test(path: string): Ended {
  return runIn(root, process.execPath, launcher, 'plugin', 'test', path);
}

interface Report {
  ok: boolean;
  report: { level: string; message: string }[];
  transcript?: string[];
}

/** The report of `plugin check --json`, errors and warnings apart. */
async function check(directory: string): Promise<{ ok: boolean; errors: string[]; warnings: string[] }> {
  const { output } = await plugin('check', directory, '--json');
  const { ok, report } = JSON.parse(output) as Report;
  const of = (wanted: string) => report.filter(({ level }) => level === wanted).map(({ message }) => message);
  return { ok, errors: of('error'), warnings: of('warning') };
}

describe('commands for authors of plugins', function () {
  this.timeout(120_000);
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'switchboard-commands-'));
  });
  after(() => {
    rmSync(folder, { recursive: true, force: true });
    removeBots();
  });

  it('each says with --help what it does, and an example', async () => {
    for (const command of ['new', 'check', 'test', 'dev', 'doctor']) {
      const { code, output } = await plugin(command, '--help');
      expect(code, command).to.equal(0);
      expect(output, command).to.include(`$ npx switchboard plugin ${command}`).and.include('--json');
    }
  });

  for (const template of templates) {
    it(`new makes a plugin of the template ${template} that passes its check and its tests`, async () => {
      const path = join(folder, `my-${template}`);
      const made = await plugin('new', path, '--template', template, '--json');
      expect(JSON.parse(made.output)).to.deep.include({ id: `my-${template}`, template });
      const { ok, errors, warnings } = await check(path);
      expect([errors, warnings, ok]).to.deep.equal([[], [], true]);
      const { code, errors: told, output } = test(join(root, 'templates', template));
      expect(code, output + told).to.equal(0);
    });
  }

  it('new makes a project whose schema the editor finds, and whose archive holds all that the bot may import', async () => {
    const project = join(folder, 'project');
    const installed = join(project, 'node_modules/switchboard/schemas/runtime');
    mkdirSync(installed, { recursive: true });
    writeFileSync(join(installed, 'plugin.json'), '{}');
    for (const path of [join(project, 'near'), join(project, 'bots/far')]) {
      expect((await plugin('new', path)).code).to.equal(0);
      const { $schema: schema } = JSON.parse(readFileSync(join(path, 'plugin.json'), 'utf8')) as { $schema: string };
      expect(existsSync(join(path, schema)), schema).to.equal(true);
      mkdirSync(join(path, 'lib'));
      for (const name of ['lib/words.ts', 'lib/words.json', 'old.js']) writeFileSync(join(path, name), '{}');
      const { output } = runIn(path, 'npm', 'pack', '--dry-run', '--json');
      const [{ files }] = JSON.parse(output) as [{ files: { path: string }[] }];
      expect(files.map((file) => file.path)).to.have.members([
        'README.md',
        'bot.ts',
        'lib/words.json',
        'lib/words.ts',
        'old.js',
        'package.json',
        'plugin.json',
      ]);
    }
  });

  for (const place of packages) {
    it(`the package ${place} passes its check and its tests`, async () => {
      const { ok, errors, warnings } = await check(join(root, place));
      expect([errors, warnings, ok]).to.deep.equal([[], [], true]);
      const { code, output, errors: told } = test(join(root, place));
      expect(code, output + told).to.equal(0);
      expect(readdirSync(join(root, place))).to.include('README.md');
    });
  }

  it('new refuses a name that is no id, and a folder with something in it', async () => {
    expect(await plugin('new', join(folder, 'My_Bot')))
      .to.deep.include({ code: 1 })
      .and.property('errors')
      .include('lowercase');
    expect(await plugin('new', join(root, 'templates/rule')))
      .property('errors')
      .to.include('is not empty');
    expect((await plugin('new', join(folder, 'x'), '--template', 'none')).code).to.equal(1);
  });

  it('check finds what the code uses without asking for it, with line and remedy', async () => {
    const code = `async message_created(ctx) {
  ctx.reply('Hi ' + ctx.contact.email);
  const { name } = ctx.contact;
  ctx.label.add('x' + name);
  // ctx.note('not code')
  const text = "ctx.handoff('nor this')" + /ctx.open\\(\\)/.source;
  if (text === '') ctx.log.info(\`\${ctx.conversation.id} \${ctx.contact?.identifier}\`);
},`;
    const bot = makeBot(code, { permissions: { conversation: ['reply', 'note'], contact: ['name'] } });
    const { ok, errors, warnings } = await check(bot);
    expect(ok).to.equal(false);
    const at = (line: number, what: string, fix: string) =>
      `bot.ts:${line}: \`${what}\` is used, but plugin.json does not ask for it: add ${fix}`;
    for (const wanted of [
      at(5, 'ctx.contact.email', '"email" to permissions.contact'),
      at(7, 'ctx.label', '"label" to permissions.conversation'),
      at(10, 'ctx.contact.identifier', '"identifier" to permissions.contact'),
    ]) {
      expect(
        errors.filter((error) => error.startsWith(wanted)),
        `${wanted}\nin\n${errors.join('\n')}`,
      ).to.have.length(1);
    }
    expect(errors.join('\n')).to.not.match(/handoff|ctx\.open|ctx\.note|ctx\.reply/);
    expect(warnings.join('\n')).to.match(
      /plugin\.json:1: permissions\.conversation names "note", which the code does not use/,
    );
  });

  it('check finds a cause of a handoff that plugin.json does not ask for', async () => {
    const code = `message_created(ctx) { if (ctx.message.content === 'x') ctx.handoff({ reason: 'cause', cause: 'keyword' }); },`;
    const permissions = { conversation: ['handoff'] };
    expect((await check(makeBot(code, { permissions }))).errors.join('\n')).to.include(
      'add "handoff_cause": true to permissions',
    );
    const { errors, warnings } = await check(makeBot(code, { permissions: { ...permissions, handoff_cause: true } }));
    expect([errors, warnings]).to.deep.equal([[], []]);
  });

  it('check runs no program of the package, a TypeScript least of all', async () => {
    const bot = makeBot('message_created(ctx) { ctx.reply("Hi"); },', { permissions: { conversation: ['reply'] } });
    const own = join(bot, 'node_modules/typescript');
    const trace = join(folder, 'was-run');
    mkdirSync(join(own, 'bin'), { recursive: true });
    writeFileSync(join(own, 'package.json'), '{"name": "typescript", "version": "7.0.0", "type": "commonjs"}');
    writeFileSync(join(own, 'bin/tsc'), `require('node:fs').writeFileSync(${JSON.stringify(trace)}, '');`);
    expect((await check(bot)).ok).to.equal(true);
    expect(existsSync(trace)).to.equal(false);
  });

  it('check finds hosts, methods, secrets and other doors that plugin.json does not list', async () => {
    const code = `async message_created(ctx) {
  const { fetch } = ctx;
  await ctx.fetch(\`https://api.two.example/\${ctx.message.id}\`, { headers: { key: secret('KEY') } });
  await fetch('https://api.one.example', { method: 'POST' });
  await ctx.fetch(ctx.message.content);
  await ctx.storage.incr('n');
  await ctx.storage.contact.get('n');
  await ctx.kb.search(ctx.history[0]?.content ?? '');
},`;
    const bot = makeBot(
      code,
      { permissions: { network: { hosts: ['api.one.example'] }, storage: { scopes: ['conversation'] }, llm: true } },
      "import { secret } from 'switchboard/bot';",
    );
    const { errors, warnings } = await check(bot);
    const said = errors.map((error) => error.replace(/ is used.*: add /, ' add ').replace(/ \(plugin\.json.*/, ''));
    expect(said.toSorted()).to.deep.equal(
      [
        'bot.ts:6: `fetch from api.two.example` add "api.two.example" to permissions.network.hosts',
        'bot.ts:7: `fetch with POST` add "POST" to permissions.network.methods',
        'bot.ts:6: `secret(\'KEY\')` add "KEY" to permissions.secrets',
        'bot.ts:10: `ctx.storage.contact` add "contact" to permissions.storage.scopes',
        'bot.ts:11: `ctx.kb` add "kb": true to permissions',
        'bot.ts:11: `ctx.history` add "history": 20 to permissions',
      ].toSorted(),
    );
    expect(warnings.join('\n')).to.include('permissions.llm is asked for, but the code does not use');
  });

  it('check sees members by their names in brackets and calls by name, and says where it cannot see', async () => {
    const code = `async message_created(ctx: MessageContext<{ host: string }>) {
  ctx['label'].add('seen');
  await ctx.call('kb.search', { query: 'hours' });
  const action = ctx.message.content as 'reply';
  ctx[action]('Hello');
  const held = { context: ctx };
  held.context.resolve();
  String(ctx);
  answer(ctx, 'text');
  JSON.stringify(ctx.contact);
  const field = ctx.message.content as 'email';
  ctx.contact[field];
  const name = ctx.message.content;
  const options = { method: ctx.message.content as 'POST' };
  await ctx.fetch('https://' + ctx.config.host, { headers: { key: secret(name) } });
  await ctx.fetch('https://api.one.example/', options);
  await ctx.call(name, 1);
  new Function('ctx', 'ctx.open()')(ctx);
},`;
    const helpers = `import { secret, type MessageContext } from 'switchboard/bot';
function answer(ctx: MessageContext, text: string) { ctx.reply(text); }`;
    const granted = {
      conversation: ['reply'],
      network: { hosts: ['api.one.example'], methods: ['GET', 'POST'] },
      secrets: [{ name: 'KEY', hosts: ['api.one.example'] }],
    };
    const bot = makeBot(code, { permissions: granted }, helpers);
    const { errors, warnings } = await check(bot);
    const used = errors.flatMap((error) => /: `(.*)` is used/.exec(error)?.[1] ?? []);
    expect(used.toSorted()).to.deep.equal(['ctx.kb', 'ctx.label']);
    const written = readFileSync(join(bot, 'bot.ts'), 'utf8').split('\n');
    for (const [where, warning] of [
      ['ctx[action]', '`ctx[…]`: which member'],
      ['context: ctx', '`ctx` gets another name'],
      ['String(ctx);', '`ctx` is passed to `String`'],
      ['JSON.stringify', '`ctx.contact` is passed to `JSON.stringify`'],
      ['contact[field]', '`ctx.contact[…]`: which member'],
      ["ctx.fetch('https://' +", 'the host of this `fetch` is computed'],
      ['secret(name)', 'the name of this `secret` is computed'],
      ["/', options)", 'the method of this `fetch` is computed'],
      ['ctx.call(name', '`ctx.call(…)`: what this calls'],
      ['new Function', '`new Function` makes code out of text'],
    ] as const) {
      const line = written.findIndex((text) => text.includes(where)) + 1;
      const told = warnings.filter((text) => text.startsWith(`bot.ts:${line}: ${warning}`));
      expect(told, `${warning} in line ${line}\n${warnings.join('\n')}`).to.have.length(1);
    }
    expect(warnings.join('\n')).to.not.include('passed to `answer`');
  });

  it('check finds type errors, with their lines', async () => {
    const bot = makeBot('message_created(ctx) {\n  ctx.replay("Hi");\n  fetch("https://x.example");\n},');
    const { ok, errors } = await check(bot);
    expect(ok).to.equal(false);
    expect(errors.join('\n'))
      .to.match(/bot\.ts:5: Property 'replay' does not exist/)
      .and.match(/bot\.ts:6: Cannot find name 'fetch'/);
  });

  it('check prints replies and log, and plays a message', async () => {
    const bot = makeBot(
      'message_created(ctx) { ctx.log.info("heard", { n: 1 }); ctx.reply("You said " + ctx.message.content); },',
      {
        permissions: { conversation: ['reply'] },
      },
    );
    const { code, output } = await plugin('check', bot, '--say', 'good\u001b[31m morning');
    expect(code).to.equal(0);
    expect(output).to.include('reply {"content":"You said Hello').and.include('log info: heard {"n":1}');
    expect(output).to.include('bot: You said good\\u{1b}[31m morning');
    expect(output).to.not.include('\u001b');
  });

  it('dev chats over a pipe, and ends with 0 at its end', async () => {
    const bot = makeBot(
      'message_created(ctx) { ctx.log.info("heard"); ctx.reply("You said " + ctx.message.content); },',
    );
    const child = spawn(process.execPath, [launcher, 'plugin', 'dev', bot], { cwd: root });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    child.stdin.end('Hello\n/human\nAnybody?\n/back\n/wait 30\nAgain\n/state\n/what\n');
    expect(await once(child, 'close')).to.deep.equal([0, null]);
    expect(output).to.include('bot: You said Hello').and.include('bot: You said Again').and.include('log info: heard');
    expect(output)
      .to.include('"status":"pending"')
      .and.include('There is no command /what')
      .and.not.include('said Anybody');
  });

  it('dev reads the bot again when a file changes, and keeps the version before while there is a mistake', async () => {
    const bot = makeBot('message_created(ctx) { ctx.reply("first"); },');
    const child = spawn(process.execPath, [launcher, 'plugin', 'dev', bot], { cwd: root });
    let output = '';
    child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
    const heard = async (text: string) => {
      while (!output.includes(text)) await once(child.stdout, 'data');
      output = '';
    };
    await heard('lists the commands');
    child.stdin.write('one\n');
    await heard('bot: first');
    const code = readFileSync(join(bot, 'bot.ts'), 'utf8');
    writeFileSync(join(bot, 'bot.ts'), code.replace('"first"', '"second"'));
    await heard('read again');
    child.stdin.write('two\n');
    await heard('bot: second');
    writeFileSync(join(bot, 'bot.ts'), 'export default {');
    await heard('the version before stays');
    child.stdin.write('three\n');
    await heard('bot: second');
    child.stdin.end();
    expect(await once(child, 'close')).to.deep.equal([0, null]);
  });

  it('dev and test refuse what cannot be used, in a sentence', async () => {
    const broken = makeBot('message_created() {},', { version: 'one' });
    expect(await plugin('dev', broken))
      .to.include({ code: 1 })
      .and.property('errors')
      .include('`version`');
    const untested = makeBot('message_created() {},');
    expect(test(untested)).to.include({ code: 1 }).and.property('errors').include('There are no tests');
  });

  it('doctor says what is there', async () => {
    const { code, output } = await plugin('doctor', '--json');
    expect(code).to.equal(0);
    const { findings } = JSON.parse(output) as { findings: { name: string; state: string }[] };
    expect(findings.filter(({ state }) => state === 'ok').map(({ name }) => name)).to.include.members([
      'Node.js',
      'sandbox',
      'TypeScript',
    ]);
  });
});

import { expect } from 'chai';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { createDatabase } from '../support/postgres.ts';
import { installElsewhere, packProject } from '../support/packed.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const page = readFileSync(join(root, 'docs/plugins.md'), 'utf8');
/** What `installElsewhere` does in place of these, since tests have no network. */
const setup = /^(?:npm ci |mkdir \.\.\/my-bots |npm install )/;
/** Runs until it is told to end. */
const start = 'npx switchboard start';

/** The commands of the page, in its order. */
function commandsOf(markdown: string): string[] {
  const blocks = [...markdown.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, block]) => block ?? '');
  return blocks.flatMap((block) => block.split('\n')).filter((line) => line.trim() !== '');
}

/** The members of an interface in the source of the API of bots. */
function membersOf(source: string, name: string): string[] {
  const body = new RegExp(`export interface ${name}\\b[^{]*\\{\\n(.*?)\\n\\}`, 's').exec(source)?.[1] ?? '';
  return [...body.matchAll(/^ {2}(?:readonly )?(\w+)[?(:<]/gm)].map(([, member]) => member ?? '');
}

/** The properties of `permissions` in the schema of plugin.json. */
function permissionsOf(schema: string): object {
  return (JSON.parse(schema) as { $defs: { permissions: { properties: object } } }).$defs.permissions.properties;
}

async function isReady(url: string): Promise<boolean> {
  return fetch(`${url}/readyz`).then(
    ({ ok }) => ok,
    () => false,
  );
}

describe('docs/plugins.md', function () {
  this.timeout(180_000);
  const made: string[] = [];
  let service: ChildProcess | undefined;
  after(async () => {
    if (service?.exitCode === null) {
      service.kill('SIGTERM');
      await once(service, 'close');
    }
    for (const path of made) rmSync(path, { recursive: true, force: true });
  });

  it('leads from an empty folder to a running bot, by its commands as they are', async () => {
    const packed = mkdtempSync(join(tmpdir(), 'switchboard-docs-'));
    const folder = installElsewhere(packProject(packed));
    made.push(packed, folder);
    // A start leaves its address in a DATA_DIR that is there, as it is with the embedded database: not in the package, which
    // the next installation empties.
    mkdirSync(join(folder, '.data'));
    const port = String(20_000 + (process.pid % 20_000));
    const env = {
      PATH: `${join(root, 'node_modules/.bin')}:${process.env['PATH']}`,
      HOME: process.env['HOME'] ?? '',
      DATABASE_URL: await createDatabase(),
      SECRET_KEY: 'a key for the tests of the documentation',
      DEMO: 'true',
      PORT: port,
    };
    const commands = commandsOf(page).filter((line) => !setup.test(line));
    expect(commands).to.include(start).and.to.have.length.above(15);
    const begin = commands.indexOf(start);
    const run = async (lines: readonly string[]) => {
      const script = lines.join('\n').replaceAll('127.0.0.1:3000', `127.0.0.1:${port}`);
      const child = spawn('bash', ['-euo', 'pipefail', '-c', script], {
        cwd: folder,
        env,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const [output, errors] = [text(child.stdout), text(child.stderr)];
      const [code] = (await once(child, 'close')) as [number];
      expect(code, `${await output}\n${await errors}`).to.equal(0);
      return output;
    };
    const written = await run(commands.slice(0, begin));
    expect(written).to.include('bot: Hello, Sam Sample! How can I help?').and.include('Made hello');
    service = spawn('npx', ['switchboard', 'start'], { cwd: folder, env, stdio: 'ignore' });
    for (let look = 0; look < 900 && !(await isReady(`http://127.0.0.1:${port}`)); look += 1) await sleep(200);
    const played = await run(commands.slice(begin + 1));
    expect(played).to.include('Welcome, there! How can I help?'.replace('there', 'Kim'));
    expect(played).to.match(/^Run \d+ ended as recorded: ok, with the same 2 actions\.$/m);
    expect(played)
      .to.include('What can I do for you?')
      .and.match(/: [1-9]\d* would end otherwise/);
    expect(played).to.include('hello 0.2.0 is installed.').and.include('hello 0.1.0 runs.');
  });

  it('has every member of ctx, with an example', () => {
    const source = readFileSync(join(root, 'src/packages/bot-api.ts'), 'utf8');
    const members = membersOf(source, 'Context');
    expect(members).to.include.members(['reply', 'storage', 'fetch', 'history']).and.have.length.above(20);
    const rows = page.split('\n').filter((line) => line.startsWith('| `ctx.'));
    for (const member of members) {
      const row = rows.find((line) => new RegExp(`^\\| \`ctx\\.${member}\\b`).test(line));
      expect(row, member).to.match(new RegExp(`\\|.*\\|.*ctx\\.${member}\\b`));
    }
  });

  it("has every outcome, permission, limit and command, and no address that is nobody's", () => {
    const names = (file: string, pattern: RegExp) =>
      [...readFileSync(join(root, file), 'utf8').matchAll(pattern)].map(([, name]) => name ?? '');
    const outcomes = /export type RunOutcome =([^;]+);/.exec(
      readFileSync(join(root, 'src/sandbox/run.ts'), 'utf8'),
    )?.[1];
    const wanted = [
      ...[...(outcomes ?? '').matchAll(/'(\w+)'/g)].map(([, name]) => name ?? ''),
      ...Object.keys(permissionsOf(readFileSync(join(root, 'schemas/runtime/plugin.json'), 'utf8'))),
    ];
    expect(wanted).to.include.members(['queue_full', 'storage', 'forward']).and.have.length.above(25);
    for (const name of wanted) expect(page, name).to.include(`\`${name}\``);
    const commands = ['plugin-commands.ts', 'plugin/author/author-commands.ts', 'plugin/runs/run-commands.ts'].flatMap(
      (file) => names(`src/cli/${file}`, /(?:ommand\(plugin|of\(parent), '(\w+)'/g),
    );
    expect(commands).to.include.members(['new', 'rollback', 'backtest']).and.have.length.above(14);
    for (const command of commands) expect(page, command).to.match(new RegExp(`\\b${command}\\b`));
    expect(page).to.not.match(/git clone|example\.com\b/);
  });

  it('has every outcome that comes from applying the actions of a run', () => {
    // No run changes conversations in bulk.
    const verbs = globSync(['src/domain/conversations/**/*.ts', 'src/domain/bots/{storage,schedules}.ts'], {
      cwd: root,
      exclude: ['**/bulk-actions.ts'],
    });
    const codes = [...verbs, 'src/runs/bot-runner.ts'].flatMap((file) => {
      const source = readFileSync(join(root, file), 'utf8');
      const thrown =
        /(?:ApiError|super)\(\s*\d+,\s*'(\w+)'|\bforbidden\([^;]*, '(\w+)'\)|errorCode = '(\w+)'|\? '(\w+)' : result/g;
      const named = [...source.matchAll(thrown)].flatMap((match) =>
        match.slice(1).filter((code) => code !== undefined),
      );
      const usual = {
        not_found: /\bnotFound\(/,
        validation_failed: /\binvalid\(/,
        forbidden: /\bforbidden\('[^']*'\)/,
      };
      return [...named, ...Object.entries(usual).flatMap(([code, call]) => (call.test(source) ? [code] : []))];
    });
    expect(codes).to.include.members([
      'bot_suppressed',
      'loop_suspected',
      'superseded',
      'plugin_disabled',
      'storage_full',
    ]);
    const rows = page.slice(page.indexOf('| outcome | meaning |')).split('\n\n', 1)[0];
    for (const code of new Set(codes)) expect(rows, code).to.match(new RegExp(`^\\|.*\`${code}\`.*\\|.*\\|`, 'm'));
  });

  it('has every member of a simulation', () => {
    const source = readFileSync(join(root, 'src/testing/api.ts'), 'utf8');
    for (const member of membersOf(source, 'Simulation').filter((name) => name !== 'now')) {
      expect(page, member).to.include(`sim.${member}`);
    }
  });
});

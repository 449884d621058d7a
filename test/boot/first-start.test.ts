import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { frontDoors } from '../../src/app/front-doors.ts';
import { loadConfig } from '../../src/config.ts';
import { freePort } from '../support/service.ts';
import { columns, endAtTerminal, shown, startAtTerminal, terminal, type Shown } from '../support/terminal.ts';
import { newFolder, removeFolders } from './helpers.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const launcher = join(root, 'bin/switchboard.js');
const program = `${process.execPath} ${launcher} start`;

/** Runs a shell script; its output. */
async function bash(script: string): Promise<string> {
  const child = spawn('bash', ['-euo', 'pipefail', '-c', script], {
    cwd: newFolder(),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [output, errors] = [text(child.stdout), text(child.stderr)];
  const [code] = (await once(child, 'close')) as [number];
  expect(code, `${await output}\n${await errors}`).to.equal(0);
  return output;
}

/** Returns a block of commands of a page, by a line that it has. */
function commandsOf(page: string, line: string): string {
  const blocks = [...readFileSync(join(root, page), 'utf8').matchAll(/^```sh\n(.*?)^```$/gms)];
  const found = blocks.map(([, block]) => block ?? '').find((block) => block.includes(line));
  return found ?? expect.fail(`${page} has no commands with ${line}`);
}

describe('the first start at a terminal', function () {
  this.timeout(180_000);
  let env: Record<string, string>;
  let started: Shown;
  let url: string;
  let first: string;

  before(async function () {
    if (!existsSync(terminal)) {
      process.stderr.write(`  Skipped without ${terminal}\n`);
      this.skip();
    }
    const port = String(await freePort());
    url = `http://127.0.0.1:${port}`;
    env = { PORT: port, DATA_DIR: newFolder(), OUTBOUND_ALLOW_CIDRS: '127.0.0.1/32' };
    started = startAtTerminal(program, env);
    first = await shown(started, /npm run demo\n/);
  });

  after(async () => {
    await endAtTerminal(started);
    removeFolders();
  });

  it('shows each page in a line, and no line is broken at 80 columns', async () => {
    const pages = [...first.matchAll(/^ {2}(\S.{0,9}?) {2,}(http\S+)$/gm)].map(
      ([, label, link]) => [label, link] as const,
    );
    const config = loadConfig({
      DATABASE_URL: 'postgresql://u:p@127.0.0.1/x',
      SECRET_KEY: 'x'.repeat(40),
      DEMO: 'true',
    });
    expect(pages.map(([label]) => label)).to.include.members(['Chat page', 'Console', 'API docs', 'Receiver']);
    for (const { label, url: path } of frontDoors({
      config,
      url: '',
      chat: null,
      consoleLink: /#link=[\w-]+/.exec(first)?.[0].replace(/^/, '/console') ?? null,
    }))
      expect(pages).to.deep.include([label, `${url}${path}`]);
    for (const [, link = ''] of pages) {
      const page = await fetch(link);
      expect([page.status, page.headers.get('content-type')], link).to.deep.equal([200, 'text/html; charset=utf-8']);
    }
    // A line of the log would be one, too: nothing fails at a first start, however busy the machine is.
    const long = first.split('\n').filter((line) => line.length > columns && !line.includes('DATA_DIR='));
    expect(long).to.deep.equal([]);
  });

  it('shows a token and a call that works as it is printed', async () => {
    const commands = /^ {2}TOKEN=swu_\w+\n {2}curl .*$/m.exec(first)?.[0] ?? '';
    expect(JSON.parse(await bash(commands.replace('curl', 'curl -s')))).to.include({
      email: 'administrator@example.com',
    });
  });

  it('leads browsers from the root to a page, and nobody else', async () => {
    const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
    const page = await fetch(url, { headers: { accept: browser } });
    expect([page.status, page.redirected, page.headers.get('content-type')]).to.deep.equal([
      200,
      true,
      'text/html; charset=utf-8',
    ]);
    for (const accept of ['*/*', 'application/json']) {
      const other = await fetch(url, { headers: { accept }, redirect: 'manual' });
      expect([other.status, other.headers.get('vary')], accept).to.deep.equal([404, 'Origin, accept']);
    }
    expect((await fetch(url, { method: 'POST', headers: { accept: browser } })).status).to.equal(404);
  });

  it('has everything that the first calls of the documentation need', async () => {
    const token = /TOKEN=(\S+)/.exec(first)?.[1] ?? '';
    const played =
      `${commandsOf('docs/api.md', 'call $API/inboxes ')}\n${commandsOf('docs/webhook-bot.md', 'set_agent_bot')}`
        .replace('TOKEN=…', `TOKEN=${token}`)
        .replace('http://127.0.0.1:3000', url)
        .replace('sleep 1;', 'until call $IT/messages | grep -q 9:00; do sleep 0.2; done;');
    expect(played).to.include(token).and.include('until call');
    const answers = (await bash(played)).trim().split('\n');
    const replies = answers.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(answers.join('\n')).to.include('We are here Monday to Friday').and.include('whsec_');
    expect(replies.filter((reply) => 'error' in reply)).to.deep.equal([]);
  });

  it('is the only one to show a token, and a later one says how to get another', async () => {
    await endAtTerminal(started);
    started = startAtTerminal(program, env);
    const again = await shown(started, /npm run demo\n/);
    expect(again).to.include(`${url}/play`).and.include('npx switchboard token\n').and.not.match(/swu_/);
    await endAtTerminal(started);
    const { DATA_DIR: _, ...others } = env;
    const own = {
      ...others,
      DATABASE_URL: 'postgresql://u:xyzzy@127.0.0.1:9/none',
      SECRET_KEY: 'x'.repeat(40),
      DATABASE_START_TIMEOUT_MS: '1000',
    };
    const away = startAtTerminal(program, own);
    await once(away.child, 'exit');
    expect(away.output()).not.to.match(/xyzzy|swu_|Receiver/);
  });
});

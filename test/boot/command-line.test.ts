import { expect } from 'chai';
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { tryLock } from '../../src/postgres/embedded/file-lock.ts';
import { kill, newFolder, removeFolders, until } from './helpers.ts';

const launcher = fileURLToPath(new URL('../../bin/switchboard.js', import.meta.url));
const children = new Set<ChildProcess>();

function launch(args: string[], env: Record<string, string> = {}): ChildProcess {
  const options = { env: { PATH: process.env['PATH'] ?? '', ...env }, cwd: newFolder() };
  const child = spawn(process.execPath, [launcher, ...args], options);
  children.add(child);
  child.once('exit', () => children.delete(child));
  return child;
}

async function run(
  args: string[],
  env?: Record<string, string>,
): Promise<{ code: number; output: string; errors: string }> {
  const child = launch(args, env);
  const [output, errors] = [text(child.stdout!), text(child.stderr!)];
  const [code] = (await once(child, 'exit')) as [number];
  return { code, output: await output, errors: await errors };
}

/** Resolves with the service's URL once it says so. */
async function urlOf(service: ChildProcess): Promise<string> {
  for await (const line of createInterface(service.stdout!)) {
    const url = /http:\/\/127\.0\.0\.1:\d+/.exec(line)?.[0];
    if (url) return url;
  }
  throw new Error('The service ended');
}

async function answers(url: string): Promise<boolean> {
  return fetch(url).then(
    async (response) => {
      await response.body?.cancel();
      return response.ok;
    },
    () => false,
  );
}

function isFree(dataDir: string): boolean {
  const release = tryLock(join(dataDir, 'lock'));
  release?.();
  return release !== null;
}

describe('command line', function () {
  this.timeout(90_000);

  afterEach(() => {
    for (const child of children) child.kill('SIGKILL');
    removeFolders();
  });

  it('lists its commands', async () => {
    const { code, output } = await run(['--help']);
    expect(code).to.equal(0);
    for (const command of ['start', 'migrate', 'seed', 'demo', 'plugin'])
      expect(output).to.match(new RegExp(`^  ${command} `, 'm'));
  });

  it('refuses commands, options and arguments that it does not know, in a sentence', async () => {
    for (const args of [['begin'], ['start', '--fast'], ['start', 'now'], ['plugin', 'check'], ['plugin', 'burn']]) {
      const { code, errors } = await run(args);
      expect(code, args.join(' ')).to.equal(1);
      expect(errors).to.match(/^error: .+\n(?:.*\n)*\(switchboard --help/);
    }
  });

  it('names every wrong setting, without a stack trace', async () => {
    const { code, errors } = await run(['start'], { PORT: 'x', ROLE: 'y' });
    expect(code).to.equal(1);
    expect(errors).to.include('PORT must be').and.include('ROLE must be').and.not.include('    at ');
  });

  it('brings up the service on an empty folder, and ends it in order when told to', async () => {
    const service = launch(['start'], { PORT: '0', DATA_DIR: newFolder() });
    const url = await urlOf(service);
    await until(() => answers(`${url}/readyz`));
    service.kill('SIGTERM');
    const [code] = (await once(service, 'exit')) as [number];
    expect(code).to.equal(0);
  });

  it('ends with the process that it was told to belong to', async () => {
    const dataDir = newFolder();
    const script = `require('child_process').spawn(process.execPath, process.argv.slice(1), { stdio: 'inherit' })`;
    const env = { PATH: process.env['PATH'] ?? '', PORT: '0', DATA_DIR: dataDir, npm_command: 'start' };
    const parent = spawn(process.execPath, ['-e', script, launcher, 'start'], { env });
    children.add(parent);
    const url = await urlOf(parent);
    await until(() => answers(`${url}/readyz`));
    await kill({ child: parent });
    await until(() => isFree(dataDir));
    expect(await answers(`${url}/healthz`)).to.equal(false);
  });
});

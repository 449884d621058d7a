import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { tryPackage } from '../../src/cli/try-package.ts';
import { FileProblem, PackageFiles } from '../../src/packages/files.ts';
import { readInProcess } from '../../src/packages/read/read-in-process.ts';
import { readRegistry } from '../../src/packages/registry.ts';
import type { Registry } from '../../src/packages/registry.ts';
import { computedMs, directoryOf, manifestOf, until } from '../sandbox/helpers.ts';
import { attempts, packages, secret, writePackage } from './package-corpus.ts';

const goodPackage = {
  'bots/good/plugin.json': JSON.stringify(manifestOf({ id: 'good' })),
  'bots/good/bot.ts': `export default { on: { message_created(ctx) { ctx.reply('hi'); } } };`,
  'bots/zebra/plugin.json': JSON.stringify(manifestOf({ id: 'zebra' })),
  'bots/zebra/bot.ts': `export default { on: { message_created(ctx) { ctx.reply('last'); } } };`,
};

// Exchanges the folder lib and a link for each other, again and again.
const swapping = `const { renameSync } = require('node:fs');
  process.chdir(process.argv[1]);
  for (;;) {
    renameSync('lib', 'away'); renameSync('link', 'lib');
    renameSync('lib', 'link'); renameSync('away', 'lib');
  }`;

/** Processes of this one that read packages. */
function readers(): string[] {
  const read = (pid: string, file: string): string => {
    try {
      return readFileSync(`/proc/${pid}/${file}`, 'utf8');
    } catch {
      return '';
    }
  };
  return readdirSync('/proc').filter(
    (pid) =>
      /^\d+$/.test(pid) &&
      new RegExp(`^PPid:\\s+${process.pid}$`, 'm').test(read(pid, 'status')) &&
      read(pid, 'cmdline').includes('packages/read/reader-process.'),
  );
}

/** The text of a file; null when it is refused. */
function readOrRefuse(files: PackageFiles, path: string): string | null {
  try {
    return files.read(path);
  } catch (error) {
    if (error instanceof FileProblem) return null;
    throw error;
  }
}

describe('packages: hostile packages', function () {
  // As many processes as packages: a machine that is busy takes its time.
  this.timeout(300_000);
  let root: { path: string; remove: () => void };
  let registry: Registry;

  before(async () => {
    const file = JSON.stringify({ secret });
    root = directoryOf({ ...goodPackage, '.data/secret.json': file, 'bots/.data/secret.json': file });
    for (const pack of packages) writePackage(join(root.path, 'bots'), pack);
    registry = await readRegistry(root.path);
  });
  after(() => root.remove());

  for (const { name, title, begins, refusal } of attempts) {
    it(`refuses ${title}`, () => {
      const broken = registry.broken.find(({ directory }) => directory === `bots/${name}`);
      const told = broken?.problems.filter((problem) => begins.some((begin) => problem.startsWith(begin))).join('\n');
      expect(told).to.contain(refusal);
      expect(told).not.to.contain(secret).and.not.contain(root.path);
      expect(registry.get(name)).to.equal(undefined);
      expect(registry.get('good')?.bundle.code).to.contain('hi');
    });
  }

  it('keeps the good packages before and behind them, and leaves no process', () => {
    expect(registry.list().map(({ id }) => id)).to.deep.equal(['good', 'zebra']);
    expect(registry.get('zebra')?.bundle.code).to.contain('last').and.not.contain(secret);
    expect(readers()).to.deep.equal([]);
  });

  it('plugin check says the same of them', async () => {
    const titles = [
      'a FIFO as main file',
      'a linked plugin.json',
      '450,000 nested brackets',
      'an enum that doubles a text',
    ];
    for (const { title, name, refusal } of attempts.filter((attempt) => titles.includes(attempt.title))) {
      const { ok, report } = await tryPackage(join(root.path, 'bots', name));
      expect([ok, report.every((line) => line.startsWith('error: '))], title).to.deep.equal([false, true]);
      expect(report.join('\n')).to.contain(refusal);
    }
  });
});

describe('packages: on a busy machine', function () {
  this.timeout(60_000);
  it('limits the processor time of reading a package, and not the time that passes', async () => {
    const { path, remove } = directoryOf({
      'slow/plugin.json': JSON.stringify(manifestOf({ id: 'slow' })),
      'slow/bot.ts': `export default ${'a?(b):c=>d?'.repeat(24)}0`,
    });
    let usedMs = 0;
    const reading = readInProcess(join(path, 'slow'), { readMs: 2_000 }).then(
      () => null,
      (error: unknown) => String(error),
    );
    await until(() => readers().length === 1);
    const pid = Number(readers()[0]);
    const watch = setInterval(() => void (usedMs = Math.max(usedMs, computedMs(pid))), 5);
    // By then it has started, and bundles.
    await until(() => usedMs > 1_200);
    process.kill(pid, 'SIGSTOP');
    await sleep(2_500);
    process.kill(pid, 'SIGCONT');
    expect(await reading).to.contain('took more than 2 s of processor time');
    clearInterval(watch);
    remove();
    expect(usedMs).to.be.above(1_900);
  });
});

describe('packages: files of a package', function () {
  this.timeout(60_000);
  it('reads no file that was exchanged for a link while it was looked at', async () => {
    const { path, remove } = directoryOf({ 'package/lib/x.json': '"own"', 'outside/x.json': JSON.stringify(secret) });
    symlinkSync('../outside', join(path, 'package/link'));
    const swapper = spawn(process.execPath, ['-e', swapping, join(path, 'package')], { stdio: 'ignore' });
    const read = { own: 0, refused: 0 };
    const end = performance.now() + 15_000;
    try {
      while ((read.own < 100 || read.refused < 10_000) && performance.now() < end) {
        const text = readOrRefuse(new PackageFiles(join(path, 'package')), 'lib/x.json');
        if (text === null) read.refused += 1;
        else {
          expect(text).to.equal('"own"');
          read.own += 1;
        }
      }
    } finally {
      swapper.kill('SIGKILL');
      await once(swapper, 'exit');
      remove();
    }
    expect(read.own).to.be.above(0);
    expect(read.refused).to.be.above(0);
  });
});

import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, cpSync, readFileSync, readdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'chai';
import { sandboxCommand, startSandboxProcess } from '../../src/sandbox/child-process.ts';
import type { SandboxProcess } from '../../src/sandbox/child-process.ts';
import { defaultLimits, runBounds } from '../../src/sandbox/run.ts';
import { createSandbox } from '../../src/sandbox/parent/pool.ts';
import { WatchedProcess } from '../../src/sandbox/parent/watched-process.ts';
import { OngoingRun } from '../../src/sandbox/parent/ongoing-run.ts';
import type { RawResult } from '../../src/sandbox/parent/watched-process.ts';
import { LineReader, readChildMessage } from '../../src/sandbox/wire.ts';
import { botOf, computedMs, directoryOf, requestOf, sandboxPids, unhurried, until } from './helpers.ts';

async function startReady(): Promise<SandboxProcess> {
  const child = startSandboxProcess(256);
  await once(child.stdout, 'data');
  return child;
}

const busyMs = 100;

describe('sandbox: child process', () => {
  it('has no environment, no inherited stream, and the permission model', async () => {
    const sandbox = createSandbox({ size: 1, queueLimit: 1, maxRssMb: 256 });
    await sandbox.run(requestOf(botOf('')));
    const [pid] = sandboxPids();
    const read = (file: string) => readFileSync(`/proc/${pid}/${file}`, 'utf8').split('\0').filter(Boolean);
    expect(read('environ')).to.deep.equal(['TZ=UTC']);
    const flags = read('cmdline');
    expect(flags).to.include.members(['--permission', '--allow-addons', '--disable-sigusr1', '--no-node-snapshot']);
    expect(flags.filter((flag) => /--allow-(?!addons|fs-read)/.test(flag))).to.deep.equal([]);
    expect(flags.filter((flag) => flag.startsWith('--allow-fs-read')).join()).not.to.match(/\*|\.data|=\/(,|$)/);
    await sandbox.close();
    expect(sandboxPids()).not.to.include(pid);
  });

  it('has limits on core files, addresses and processes that it cannot raise', async () => {
    const child = await startReady();
    const limits = readFileSync(`/proc/${child.pid}/limits`, 'utf8');
    const limitOf = (name: string) =>
      new RegExp(`^Max ${name} +(\\d+) +(\\d+)`, 'm').exec(limits)?.slice(1).map(Number) ?? [];
    expect(limitOf('core file size')).to.deep.equal([0, 0]);
    const [addresses = NaN, hardAddresses] = limitOf('address space');
    expect(addresses / 2 ** 30)
      .to.be.above(16)
      .and.below(128);
    expect(hardAddresses).to.equal(addresses);
    const [processes = NaN, hardProcesses] = limitOf('processes');
    expect(processes).to.be.above(32).and.at.most(8192);
    expect(hardProcesses).to.equal(processes);
    child.kill('SIGKILL');
  });

  it('runs for root as a user and a group of its own, without rights', async function () {
    if (process.getuid?.() !== 0) this.skip();
    const children = [await startReady(), await startReady()];
    const accounts = children.map(({ pid }) => {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8');
      const [uid] = new Set(/^Uid:\t(.*)$/m.exec(status)?.[1]?.split('\t'));
      expect(status)
        .to.match(new RegExp(`^Uid:(\t${uid}){4}$`, 'm'))
        .and.match(new RegExp(`^Gid:(\t${uid}){4}$`, 'm'));
      expect(status)
        .to.match(/^Groups:\s*$/m)
        .and.match(/^CapPrm:\t0+$/m)
        .and.match(/^CapEff:\t0+$/m);
      return Number(uid);
    });
    const named = readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .map((line) => Number(line.split(':')[2]));
    for (const account of accounts) expect(account).to.be.within(61_184, 65_519).and.not.be.oneOf(named);
    expect(new Set(accounts).size).to.equal(2);
    for (const child of children) child.kill('SIGKILL');
  });

  it('runs bots as well where no other account may pass to its code', async () => {
    const { path, remove } = directoryOf({});
    const root = join(import.meta.dirname, '../..');
    for (const name of ['src', 'schemas', 'package.json'])
      cpSync(join(root, name), join(path, name), { recursive: true });
    symlinkSync(realpathSync(join(root, 'node_modules')), join(path, 'node_modules'));
    writeFileSync(
      join(path, 'run.ts'),
      `import { createSandbox } from './src/sandbox/parent/pool.ts';
       const sandbox = createSandbox({ size: 1, queueLimit: 1, maxRssMb: 256 });
       console.log(JSON.stringify(await sandbox.run(${JSON.stringify(requestOf(botOf(`ctx.reply('here')`)))})));
       await sandbox.close();`,
    );
    chmodSync(path, 0o700);
    const { stdout, stderr } = spawnSync(process.execPath, [join(path, 'run.ts')], { encoding: 'utf8', env: {} });
    remove();
    expect(stdout, stderr).to.contain('"content":"here"');
  });

  it('loads no second addon and reads no file once it is ready', async () => {
    const addon = join(import.meta.dirname, '../../node_modules/isolated-vm/prebuilds');
    const platform = `${process.platform}-${process.arch}`;
    const [other] = readdirSync(join(addon, platform)).filter((name) => name.endsWith('.musl.node'));
    const file = join(addon, platform, other ?? '');
    // Put into the child before its own code: it waits until the child says that it is ready.
    const intruder = `
      import { createRequire } from 'node:module';
      import { readFileSync } from 'node:fs';
      const write = process.stdout.write.bind(process.stdout);
      const { dlopen } = process;
      const outcomeOf = (work) => { try { work(); return 'done' } catch (error) { return error.code ?? error.message } };
      process.stdout.write = (text) => {
        const tried = [
          () => process.dlopen({ exports: {} }, ${JSON.stringify(file)}),
          () => dlopen.call(process, { exports: {} }, ${JSON.stringify(file)}),
          () => createRequire(${JSON.stringify(file)})(${JSON.stringify(file)}),
          () => Object.defineProperty(process, 'dlopen', { value: dlopen }),
          () => readFileSync(${JSON.stringify(join(import.meta.dirname, '../../src/sandbox/child/serve-runs.ts'))}),
        ];
        return write(JSON.stringify(tried.map(outcomeOf)) + '\\n');
      };`;
    const [program, args] = sandboxCommand(256, ['--import', `data:text/javascript,${encodeURIComponent(intruder)}`]);
    const child = spawn(program, args, { stdio: ['pipe', 'pipe', 'ignore'], env: {} });
    const [line] = (await once(child.stdout, 'data')) as [Buffer];
    child.kill('SIGKILL');
    const [replaced, kept, required, ...rest] = JSON.parse(line.toString()) as string[];
    // Below a folder of mode 700 the account that root gave the child does not even see the file.
    expect(required).to.be.oneOf(['The sandbox loads no further native code', 'MODULE_NOT_FOUND']);
    expect([replaced, kept, ...rest]).to.deep.equal([
      'The sandbox loads no further native code',
      'ERR_ACCESS_DENIED',
      'Cannot redefine property: dlopen',
      'ERR_ACCESS_DENIED',
    ]);
  });

  it('dies with its parent, even while it is busy beyond stopping', async () => {
    const child = await startReady();
    const hash = 'a';
    const { code } = botOf('let b = 7n; for (let i = 0; i < 40; i++) b *= b');
    const limits = { sliceMs: 500, wallMs: 1000, heapMb: 32 };
    const input = JSON.stringify({
      event: {},
      handler: 'message_created',
      config: {},
      seed: 1,
      now: 1,
      run: '',
      bounds: runBounds,
    });
    for (const message of [
      { type: 'bundle', hash, code },
      { type: 'run', run: 1, hash, input, limits },
    ]) {
      child.stdin.write(`${JSON.stringify(message)}\n`);
    }
    const before = computedMs(child.pid);
    await until(() => computedMs(child.pid) - before > busyMs);
    child.stdin.end();
    await until(() => child.exitCode !== null || child.signalCode !== null);
    expect(child.signalCode).to.equal('SIGKILL');
  });

  describe('that was taken over', () => {
    /** Runs a request in a process that executes this script instead of the sandbox. */
    async function runIn(script: string, limits = defaultLimits): Promise<RawResult & { wallMs: number }> {
      const ready = Promise.withResolvers<WatchedProcess>();
      const gone = Promise.withResolvers<void>();
      const start = () => spawn(process.execPath, ['-e', script], { stdio: ['pipe', 'pipe', 'ignore'] });
      const child = new WatchedProcess(
        { start, maxRssMb: 256 },
        { onReady: (started) => ready.resolve(started), onExit: () => gone.resolve() },
      );
      const run = new OngoingRun(requestOf(botOf(''), { limits }), '{}', {});
      const result = (await (await ready.promise).run(run)) as RawResult;
      child.kill('crashed', 'end of test');
      await gone.promise;
      return { ...result, wallMs: run.spentMs };
    }
    const afterReady = (code: string) =>
      `console.log('{"type":"ready"}'); process.stdin.once('data', () => { ${code} }); setInterval(() => 0, 1000)`;

    for (const [title, code, outcome] of [
      ['writes no JSON', `console.log('garbage')`, 'crashed'],
      ['writes bytes', `process.stdout.write(Buffer.from([0xff, 0xfe, 10]))`, 'crashed'],
      ['writes a message of no known type', `console.log('{"type":"x","run":1}')`, 'crashed'],
      ['answers for another run', `console.log('{"type":"failed","run":2,"outcome":"timeout","error":""}')`, 'crashed'],
      ['is ready once more', `console.log('{"type":"ready"}')`, 'crashed'],
      [
        'asks for nothing',
        `console.log('{"type":"step","run":1,"digest":"d","step":{"state":"waiting","requests":[]}}')`,
        'crashed',
      ],
      [
        'asks more often than a run may',
        `for (let i = 0; i < 3; i++) console.log(JSON.stringify({ type: 'step', run: 1, digest: 'd', step: { state: 'waiting', requests: Array.from({ length: 9 }, (_, id) => ({ id, name: 'x', input: 1 })) } }))`,
        'crashed',
      ],
      [
        'logs more than a run may',
        `for (let i = 0; i < 200; i++) console.log('{"type":"log","run":1,"line":{"level":"info","message":"x"}}')`,
        'crashed',
      ],
      ['invents an outcome', `console.log('{"type":"failed","run":1,"outcome":"ok","error":""}')`, 'crashed'],
      ['writes a line without end', `process.stdout.write('x'.repeat(3e6))`, 'output_too_large'],
      ['says nothing', ``, 'unresponsive'],
      ['exits', `process.exit(0)`, 'crashed'],
      ['grows', `globalThis.a = Buffer.alloc(4e8, 1)`, 'rss_limit'],
    ] as const) {
      it(`is killed when it ${title}`, async () => {
        // What it does takes as long as the machine needs: it must be that which ends the run, not the time.
        const limits = outcome === 'unresponsive' ? defaultLimits : unhurried;
        const result = await runIn(afterReady(code), limits);
        expect(result.outcome).to.equal(outcome);
        expect(result.wallMs).to.be.below(defaultLimits.wallMs / 2);
        expect(result.actions).to.deep.equal([]);
      });
    }
    it('is killed when all its turns together take longer than a run may compute', async () => {
      // So long that no turn is too long by itself.
      const limits = { ...defaultLimits, sliceMs: 1_500 };
      const waiting = `{"type":"step","run":1,"digest":"d","step":{"state":"waiting","requests":[{"id":1,"name":"x","input":1}]}}`;
      const result = await runIn(
        `console.log('{"type":"ready"}');
         const burn = (ms) => { for (const end = process.cpuUsage().user + ms * 1000; process.cpuUsage().user < end;); };
         process.stdin.on('data', (text) => { burn(String(text).includes('bundle') ? 0 : 300); console.log('${waiting}'); });`,
        limits,
      );
      expect(result.outcome).to.equal('unresponsive');
      // Processor time of several threads passes faster than time.
      expect(result.wallMs).to.be.above(limits.sliceMs);
    });
  });
});

describe('sandbox: wire', () => {
  it('cuts bytes into lines wherever they are split', () => {
    const bytes = Buffer.from('first\nsécond\n\nlast\n');
    for (let size = 1; size < bytes.length; size += 1) {
      const reader = new LineReader(100);
      const lines: string[] = [];
      for (let at = 0; at < bytes.length; at += size) lines.push(...(reader.read(bytes.subarray(at, at + size)) ?? []));
      expect(lines).to.deep.equal(['first', 'sécond', '', 'last']);
    }
  });

  it('stops at a line that is too long', () => {
    const reader = new LineReader(5);
    expect(reader.read(Buffer.from('12345\n123'))).to.deep.equal(['12345']);
    expect(reader.read(Buffer.from('456'))).to.equal(null);
  });

  it('takes messages as they should be and no other', () => {
    const done = { state: 'done', outcome: 'ok', actions: [] };
    const around = { type: 'step', run: 1, cpuMs: 2.5, digest: 'd' };
    const step = (changes: object) => JSON.stringify({ ...around, step: { ...done, ...changes } });
    expect(readChildMessage(step({}))).to.deep.equal({ ...around, step: done });
    expect(readChildMessage(step({ ...done, extra: 1 }))).to.deep.equal({ ...around, step: done });
    const call = { id: 1, name: 'x', input: { free: 'form' } };
    expect(readChildMessage(step({ state: 'waiting', requests: [{ ...call, extra: 1 }] }))).to.deep.equal({
      ...around,
      step: { state: 'waiting', requests: [call] },
    });
    const log = (changes: object) =>
      JSON.stringify({ type: 'log', run: 1, line: { level: 'info', message: 'x', ...changes } });
    const line = { level: 'info', message: 'x', fields: { a: 1 } };
    expect(readChildMessage(log({ time: 'now', fields: { a: 1 } }))).to.deep.equal({ type: 'log', run: 1, line });
    for (const changes of [
      { level: 'fatal' },
      { message: 5 },
      { message: 'x'.repeat(2000) },
      { fields: 'a' },
      { fields: { a: 'x'.repeat(9000) } },
    ]) {
      expect(readChildMessage(log(changes)), JSON.stringify(changes).slice(0, 100)).to.equal(null);
    }
    for (const changes of [
      { state: 'other' },
      { outcome: 'timeout' },
      { outcome: 5 },
      { outcome: ['ok'] },
      { actions: {} },
      { actions: Array.from({ length: runBounds.channelActions + 1 }, () => ({})) },
      { error: 'x'.repeat(5000) },
      { handlers: [1] },
      { state: 'waiting', requests: [{ id: 'x', name: 'x', input: 1 }] },
      { state: 'waiting', requests: Array.from({ length: 21 }, () => ({ id: 1, name: 'x', input: 1 })) },
    ]) {
      expect(readChildMessage(step(changes)), JSON.stringify(changes).slice(0, 100)).to.equal(null);
    }
    for (const text of [
      '',
      'null',
      '[]',
      '5',
      '{"type":"step"}',
      '{"type":"step","run":1.5,"step":{}}',
      '{"type":"step","run":1}',
    ]) {
      expect(readChildMessage(text), text).to.equal(null);
    }
  });
});

import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect } from 'chai';
import { startSandboxProcess } from '../../src/runtime/child-process.ts';
import { createRunner } from '../../src/runtime/runner.ts';
import { RunnerProcess } from '../../src/runtime/runner-process.ts';
import type { RawResult } from '../../src/runtime/runner-process.ts';
import { LineReader, readChildMessage } from '../../src/runtime/wire.ts';
import { botOf, requestOf, sandboxPids, until } from './helpers.ts';

describe('runtime: child process', () => {
  it('has no environment, no inherited stream, and the permission model', async () => {
    const runner = createRunner({ size: 1, queueLimit: 1, maxRssMb: 256 });
    await runner.run(requestOf(botOf('')));
    const [pid] = sandboxPids();
    const read = (file: string) => readFileSync(`/proc/${pid}/${file}`, 'utf8').split('\0').filter(Boolean);
    expect(read('environ')).to.deep.equal(['TZ=UTC']);
    const flags = read('cmdline');
    expect(flags).to.include.members(['--permission', '--allow-addons', '--no-node-snapshot']);
    expect(flags.filter((flag) => /--allow-(?!addons|fs-read)/.test(flag))).to.deep.equal([]);
    expect(flags.filter((flag) => flag.startsWith('--allow-fs-read')).join()).not.to.match(/\*|\.data|=\/(,|$)/);
    await runner.close();
    expect(sandboxPids()).not.to.include(pid);
  });

  it('dies with its parent, even while it is busy beyond stopping', async () => {
    const child = startSandboxProcess();
    child.stdout.resume();
    const hash = 'a';
    const { code } = botOf('let b = 7n; for (let i = 0; i < 40; i++) b *= b');
    const limits = { sliceMs: 500, wallMs: 1000, heapMb: 32 };
    const { runBounds: bounds } = await import('../../src/runtime/run-types.ts');
    const input = JSON.stringify({
      event: {},
      handler: 'message_created',
      config: {},
      seed: 1,
      now: 1,
      run: '',
      bounds,
    });
    for (const message of [
      { type: 'bundle', hash, code },
      { type: 'run', run: 1, hash, input, limits },
    ]) {
      child.stdin.write(`${JSON.stringify(message)}\n`);
    }
    await new Promise((resolve) => {
      setTimeout(resolve, 400);
    });
    child.stdin.end();
    await until(() => child.exitCode !== null || child.signalCode !== null, 2_000);
    expect(child.signalCode).to.equal('SIGKILL');
  });

  describe('that was taken over', () => {
    /** Runs a request in a process that executes this script instead of the sandbox. */
    async function runIn(script: string): Promise<RawResult> {
      const ready = Promise.withResolvers<RunnerProcess>();
      const gone = Promise.withResolvers<void>();
      const start = () => spawn(process.execPath, ['-e', script], { stdio: ['pipe', 'pipe', 'ignore'] });
      const child = new RunnerProcess(
        { start, maxRssMb: 256, hostCalls: {} },
        { onIdle: (idle) => ready.resolve(idle), onExit: () => gone.resolve() },
      );
      const result = await (await ready.promise).run(requestOf(botOf('')), '{}');
      child.kill('crashed', 'end of test');
      await gone.promise;
      return result;
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
        `console.log('{"type":"step","run":1,"step":{"state":"waiting","requests":[]}}')`,
        'crashed',
      ],
      ['invents an outcome', `console.log('{"type":"failed","run":1,"outcome":"ok","error":""}')`, 'crashed'],
      ['writes a line without end', `process.stdout.write('x'.repeat(3e6))`, 'output_too_large'],
      ['says nothing', ``, 'unresponsive'],
      ['exits', `process.exit(0)`, 'crashed'],
      ['grows', `globalThis.a = Buffer.alloc(4e8, 1)`, 'rss_limit'],
    ] as const) {
      it(`is killed when it ${title}`, async () => {
        const result = await runIn(afterReady(code));
        expect(result.outcome).to.equal(outcome);
        expect(result.wallMs).to.be.below(1_000);
        expect(result.actions).to.deep.equal([]);
      });
    }
  });
});

describe('runtime: wire', () => {
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
    const done = { state: 'done', outcome: 'ok', actions: [], logs: [{ level: 'info', message: 'x' }] };
    const step = (changes: object) => JSON.stringify({ type: 'step', run: 1, step: { ...done, ...changes } });
    expect(readChildMessage(step({}))).to.deep.equal({ type: 'step', run: 1, step: done });
    for (const changes of [
      { state: 'other' },
      { outcome: 'timeout' },
      { outcome: 5 },
      { outcome: ['ok'] },
      { actions: {} },
      { actions: Array.from({ length: 21 }, () => ({})) },
      { logs: [{ level: 'fatal', message: 'x' }] },
      { logs: [{ level: 'info', message: 'x'.repeat(2000) }] },
      { logs: Array.from({ length: 200 }, () => ({ level: 'info', message: 'x' })) },
      { error: 'x'.repeat(5000) },
      { handlers: [1] },
      { state: 'waiting', requests: [{ id: 'x', name: 'x', input: 1 }] },
      { state: 'waiting', requests: Array.from({ length: 21 }, () => ({ id: 1, name: 'x', input: 1 })) },
    ]) {
      expect(readChildMessage(step(changes)), JSON.stringify(changes).slice(0, 100)).to.equal(null);
    }
    for (const line of [
      '',
      'null',
      '[]',
      '5',
      '{"type":"step"}',
      '{"type":"step","run":1.5,"step":{}}',
      '{"type":"step","run":1}',
    ]) {
      expect(readChildMessage(line), line).to.equal(null);
    }
  });
});

import { spawn } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { sandboxCommand, startSandboxProcess, type SandboxProcess } from '../../src/sandbox/child-process.ts';
import { processBounds } from '../../src/sandbox/parent/process-bounds.ts';
import { createSandbox } from '../../src/sandbox/parent/pool.ts';
import { defaultLimits } from '../../src/sandbox/run.ts';
import type { Sandbox } from '../../src/sandbox/run.ts';
import { botOf, computedMs, requestOf, until } from './helpers.ts';

// Longer than a slice with the grace beyond it, and not as long as a process that hangs is given.
const stoppedMs = 900;
const burning = `let x = 0; for (let i = 0; i < 2e7; i++) x += Math.sqrt(i); ctx.reply('' + (x > 0));`;

/** Starts a command that shares a processor with all others that are started so. */
function onOneProcessor(script: string, command: readonly string[]): SandboxProcess {
  const args = ['-c', `exec taskset -c 0 ${script}`, 'sh', ...command];
  return spawn('/bin/sh', args, { env: { PATH: process.env.PATH }, stdio: ['pipe', 'pipe', 'ignore'] });
}

describe('sandbox: on a busy machine', function () {
  this.timeout(120_000);
  let sandbox: Sandbox;
  let pid = 0;

  beforeEach(async () => {
    const start = (maxRssMb: number): SandboxProcess => {
      const child = startSandboxProcess(maxRssMb);
      pid = child.pid!;
      return child;
    };
    sandbox = createSandbox({ size: 1, queueLimit: 10, maxRssMb: 256, start });
    await sandbox.run(requestOf(botOf('')));
  });
  afterEach(() => sandbox.close());

  it('limits the processor time of a slice, and not the time that passes', async () => {
    const [child, before] = [pid, computedMs(pid)];
    const running = sandbox.run(requestOf(botOf(burning), { limits: defaultLimits }));
    await until(() => computedMs(child) > before);
    process.kill(child, 'SIGSTOP');
    await sleep(stoppedMs);
    process.kill(child, 'SIGCONT');
    const { outcome, error, wallMs } = await running;
    expect([outcome, error]).to.deep.equal(['ok', undefined]);
    expect(wallMs).to.be.above(stoppedMs);
    expect(pid).to.equal(child);
  });

  it('counts no time towards the end of a run in which it could not compute', async () => {
    const limits = { ...defaultLimits, wallMs: stoppedMs / 2 };
    const running = sandbox.run(requestOf(botOf(`ctx.reply('there')`), { limits }));
    process.kill(pid, 'SIGSTOP');
    await sleep(stoppedMs);
    process.kill(pid, 'SIGCONT');
    expect((await running).outcome).to.equal('ok');
  });

  it('kills a process that wants no processor and does not answer', async () => {
    const running = sandbox.run(requestOf(botOf(''), { limits: defaultLimits }));
    process.kill(pid, 'SIGSTOP');
    expect((await running).outcome).to.equal('unresponsive');
  });

  it('still ends an endless loop, beside processes that take its time', async () => {
    const burners = Array.from({ length: 4 }, () => spawn(process.execPath, ['-e', 'for(;;);'], { stdio: 'ignore' }));
    const { outcome, cpuMs } = await sandbox.run(requestOf(botOf('for (;;);'), { limits: defaultLimits }));
    for (const burner of burners) burner.kill('SIGKILL');
    expect(outcome).to.equal('timeout');
    expect(cpuMs).to.be.within(defaultLimits.sliceMs, defaultLimits.sliceMs + 200);
  });

  it('gives up a run that gets hardly any processor time, which is not the fault of its bot', async () => {
    const start = (maxRssMb: number): SandboxProcess => {
      const [program, args] = sandboxCommand(maxRssMb);
      return onOneProcessor(`chrt -i 0 "$@"`, [program, ...args]);
    };
    const bounds = { ...processBounds, stallMs: 1_000 };
    const starved = createSandbox({ size: 1, queueLimit: 10, maxRssMb: 256, start, bounds });
    await starved.run(requestOf(botOf('')));
    const burner = onOneProcessor('"$@"', [process.execPath, '-e', 'for(;;);']);
    await until(() => computedMs(burner.pid) > 200);
    const { outcome, error } = await starved.run(requestOf(botOf('for (;;);'), { limits: defaultLimits }));
    burner.kill('SIGKILL');
    expect([outcome, error]).to.deep.equal([
      'unavailable',
      'The machine was too busy: the run was stalled for more than 1 s',
    ]);
    expect(await starved.run(requestOf(botOf('')))).to.include({ outcome: 'ok' });
    await starved.close();
  });

  it('waits for a process that is slow to start without computing, and not for one that computes', async () => {
    const starts = (script: string, bounds: Partial<typeof processBounds>) =>
      createSandbox({
        size: 1,
        queueLimit: 1,
        maxRssMb: 256,
        start: (maxRssMb) => {
          const [program, args] = sandboxCommand(maxRssMb);
          const command = ['-c', `${script}; exec "$@"`, 'sh', program, ...args];
          return spawn('/bin/sh', command, { env: { PATH: process.env.PATH }, stdio: ['pipe', 'pipe', 'ignore'] });
        },
        bounds: { ...processBounds, ...bounds },
      });
    const late = starts('sleep 4', { startComputingMs: 3_500 });
    expect(await late.run(requestOf(botOf('')))).to.include({ outcome: 'ok' });
    await late.close();
    const busy = starts('while :; do :; done', { startComputingMs: 300 });
    expect(await busy.run(requestOf(botOf('')))).to.include({
      outcome: 'unavailable',
      error: 'The sandbox cannot be started',
    });
    await busy.close();
  });
});

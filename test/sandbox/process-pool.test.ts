import { spawn } from 'node:child_process';
import { expect } from 'chai';
import { residentMb, startSandboxProcess } from '../../src/sandbox/child-process.ts';
import type { SandboxProcess } from '../../src/sandbox/child-process.ts';
import { createSandbox } from '../../src/sandbox/parent/pool.ts';
import { botOf, requestOf, until } from './helpers.ts';

describe('sandbox: the pool of sandbox processes', () => {
  /** Starts children, and counts them. */
  function counting(): { pids: number[]; start: (maxRssMb: number) => SandboxProcess } {
    const pids: number[] = [];
    const start = (maxRssMb: number): SandboxProcess => {
      const child = startSandboxProcess(maxRssMb);
      pids.push(child.pid ?? 0);
      return child;
    };
    return { pids, start };
  }
  const isThere = (pid: number) => residentMb(pid) !== null;

  it('starts as many children as runs wait for, and none before', async () => {
    const { pids, start } = counting();
    const pool = createSandbox({ size: 3, queueLimit: 20, maxRssMb: 256, start });
    await new Promise((resolve) => void setImmediate(resolve));
    expect(pids).to.have.length(0);
    await pool.run(requestOf(botOf('')));
    await pool.run(requestOf(botOf('')));
    expect(pids).to.have.length(1);
    await Promise.all([1, 2].map(() => pool.run(requestOf(botOf('')))));
    expect(pids).to.have.length(2);
    await Promise.all(Array.from({ length: 10 }, () => pool.run(requestOf(botOf('')))));
    expect(pids).to.have.length(3);
    await pool.close();
  });

  it('keeps one child warm when asked to, and ends the others when no run comes for a while', async () => {
    const { pids, start } = counting();
    const pool = createSandbox({ size: 3, queueLimit: 20, maxRssMb: 256, start, restMs: 50 });
    pool.warm();
    expect(pids).to.have.length(1);
    process.kill(pids[0]!, 'SIGKILL');
    await until(() => pids.length === 2);
    const runs = () => Promise.all(Array.from({ length: 10 }, () => pool.run(requestOf(botOf('')))));
    await runs();
    const all = pids.length;
    await until(() => pids.filter(isThere).length === 1);
    expect(pids).to.have.length(all);
    expect((await runs()).map(({ outcome }) => outcome)).to.deep.equal(Array.from({ length: 10 }, () => 'ok'));
    await pool.close();
    const cold = createSandbox({ size: 2, queueLimit: 20, maxRssMb: 256, start, restMs: 50 });
    await cold.run(requestOf(botOf('')));
    await until(() => !pids.some(isThere));
    expect(await cold.run(requestOf(botOf('')))).to.include({ outcome: 'ok' });
    await cold.close();
  });

  it('replaces a child that keeps more than its part of the memory, and no other', async () => {
    const startIn = async (maxRssMb: number) => {
      const { pids, start } = counting();
      const one = createSandbox({ size: 1, queueLimit: 2, maxRssMb, start });
      expect(await one.run(requestOf(botOf('')))).to.include({ outcome: 'ok' });
      return { one, pids };
    };
    const roomy = await startIn(256);
    const keptMb = residentMb(roomy.pids[0] ?? 0) ?? 0;
    await roomy.one.run(requestOf(botOf('')));
    expect(roomy.pids).to.have.length(1);
    await roomy.one.close();
    // What a child keeps that has hardly run anything is more than three fifths of this.
    const tight = await startIn(Math.round(keptMb * 1.4));
    await until(() => tight.pids.length === 2);
    expect(await tight.one.run(requestOf(botOf('')))).to.include({ outcome: 'ok' });
    await until(() => tight.pids.length === 3);
    expect(new Set(tight.pids).size).to.equal(3);
    await tight.one.close();
  });

  it('tries again soon after a failed start, whatever failed before the last good one', async () => {
    const failedStarts: unknown[] = [];
    const ways = ['fails', 'works', 'fails', 'works', 'works'];
    const children: SandboxProcess[] = [];
    const flaky = createSandbox({
      size: 1,
      queueLimit: 2,
      maxRssMb: 256,
      log: { warn: (fields) => failedStarts.push((fields as { failed_starts: number }).failed_starts) },
      start: (maxRssMb) => {
        const child =
          ways.shift() === 'fails'
            ? spawn('/bin/false', { stdio: ['pipe', 'pipe', 'ignore'] })
            : startSandboxProcess(maxRssMb);
        children.push(child);
        return child;
      },
    });
    expect(await flaky.run(requestOf(botOf('')))).to.include({ outcome: 'ok' });
    children.at(-1)?.kill('SIGKILL');
    await until(() => failedStarts.length === 2);
    expect(await flaky.run(requestOf(botOf('')))).to.include({ outcome: 'ok' });
    expect(failedStarts).to.deep.equal([1, 1]);
    await flaky.close();
  });

  it('ends what waits when no child can be started', async () => {
    const broken = createSandbox({
      size: 1,
      queueLimit: 2,
      maxRssMb: 256,
      start: () => spawn('/bin/false', { stdio: ['pipe', 'pipe', 'ignore'] }),
    });
    expect(await broken.run(requestOf(botOf('')))).to.include({
      outcome: 'unavailable',
      error: 'The sandbox cannot be started',
    });
    await broken.close();
  });

  it('runs another account at once beside an account that keeps all its children busy', async () => {
    const two = createSandbox({ size: 2, queueLimit: 50, maxRssMb: 256 });
    const owner = (account: number, bot: number) => ({ owner: { account, bot } });
    await Promise.all([1, 2].map(() => two.run(requestOf(botOf(''), owner(9, 9)))));
    const ended: string[] = [];
    const begin = (account: number, bot: number, body: string) =>
      two.run(requestOf(botOf(body), owner(account, bot))).then(({ outcome }) => {
        ended.push(`${account}: ${outcome}`);
        return outcome;
      });
    // Runs of many bots, and many of one.
    const crowd = Array.from({ length: 5 }, (_, bot) => begin(1, bot, 'for (;;);'));
    const rest = Array.from({ length: 10 }, () => begin(1, 1, 'for (;;);'));
    expect(await begin(2, 1, `ctx.reply('at once')`)).to.equal('ok');
    expect(await begin(2, 1, `ctx.reply('at once')`)).to.equal('ok');
    expect(ended).to.deep.equal(['2: ok', '2: ok']);
    await two.close();
    expect(new Set(await Promise.all([...crowd, ...rest]))).to.deep.equal(new Set(['crashed']));
  });

  it('refuses of a full queue the runs of the account that fills it', async () => {
    const one = createSandbox({ size: 1, queueLimit: 6, maxRssMb: 256 });
    const owner = (account: number) => ({ owner: { account, bot: account } });
    await one.run(requestOf(botOf('')));
    const crowd = Array.from({ length: 30 }, () =>
      one.run(requestOf(botOf('for (let i = 0; i < 1e6; i++);'), owner(1))),
    );
    const others = [2, 3].map((account) => one.run(requestOf(botOf(''), owner(account))));
    expect((await Promise.all(others)).map(({ outcome }) => outcome)).to.deep.equal(['ok', 'ok']);
    const outcomes = (await Promise.all(crowd)).map(({ outcome }) => outcome);
    expect(outcomes.filter((outcome) => outcome === 'queue_full').length).to.be.at.least(20);
    await one.close();
  });
});

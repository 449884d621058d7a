import { spawn } from 'node:child_process';
import { EventEmitter } from 'node:events';
import { expect } from 'chai';
import type { SandboxProcess } from '../../src/sandbox/child-process.ts';
import { createSandbox } from '../../src/sandbox/parent/pool.ts';
import type { RunResult, Sandbox } from '../../src/sandbox/run.ts';
import { requestOf } from './helpers.ts';

const done = { state: 'done', outcome: 'ok', actions: [] };

/** Children that do what the hash of a bundle says. */
class FakeChildren {
  readonly #sleepers: ReturnType<typeof spawn>[] = [];
  readonly #held: (() => void)[] = [];
  readonly #hasPid: boolean;

  /** With `hasPid`, each child is a process that sleeps: it uses no processor time, however long a run takes. */
  constructor({ hasPid = false } = {}) {
    this.#hasPid = hasPid;
  }

  readonly start = (): SandboxProcess => {
    const out = new EventEmitter();
    const child = new EventEmitter();
    const say = (message: object) => out.emit('data', Buffer.from(`${JSON.stringify(message)}\n`));
    setImmediate(() => say({ type: 'ready' }));
    const write = (line: string): void => {
      const { type, run, hash } = JSON.parse(line) as { type: string; run: number; hash: string };
      if (type !== 'run') return;
      const end = () => say({ type: 'step', run, cpuMs: 1, digest: '', step: done });
      if (hash === 'held') this.#held.push(end);
      else if (hash !== 'stuck') setTimeout(end, { slow: 250, busy: 20, quick: 1 }[hash]);
    };
    const kill = () => setTimeout(() => child.emit('exit', null, 'SIGKILL'), 5);
    const stdin = { write, on: () => undefined };
    return Object.assign(child, { stdout: out, stdin, kill, pid: this.#pid() }) as unknown as SandboxProcess;
  };

  release(): void {
    for (const end of this.#held.splice(0)) end();
  }

  close(): void {
    for (const sleeper of this.#sleepers) sleeper.kill('SIGKILL');
  }

  #pid(): number | undefined {
    if (!this.#hasPid) return undefined;
    const sleeper = spawn('sleep', ['1000'], { stdio: 'ignore' });
    this.#sleepers.push(sleeper);
    return sleeper.pid;
  }
}

describe('sandbox: turns of accounts', () => {
  let children: FakeChildren;
  let sandbox: Sandbox;

  function open(hasPid = false): void {
    children = new FakeChildren({ hasPid });
    sandbox = createSandbox({ size: 2, queueLimit: 1_000, maxRssMb: 256, start: children.start });
  }
  afterEach(async () => {
    await sandbox.close();
    children.close();
  });

  const run = (
    account: number,
    bot: number,
    hash: string,
    kind: 'bot' | 'automation' | 'channel' = 'bot',
  ): Promise<RunResult> => sandbox.run(requestOf({ hash, code: 'x' }, { owner: { account, bot }, limits, kind }));
  const limits = { sliceMs: 500, wallMs: 20_000, heapMb: 32 };

  /** Starts the crowd of account 1; the returned function says how many of its runs have ended. */
  function crowdOf(runs: readonly (readonly [bot: number, hash: string])[]): () => number {
    let ended = 0;
    for (const [bot, hash] of runs) void run(1, bot, hash).then(() => (ended += 1));
    return () => ended;
  }

  for (const [title, crowd] of [
    ['two hundred runs of a quick bot', Array.from({ length: 200 }, () => [1, 'busy'] as const)],
    ['forty bots that cannot be stopped', Array.from({ length: 40 }, (_, bot) => [bot, 'stuck'] as const)],
    ['forty slow bots', Array.from({ length: 40 }, (_, bot) => [bot, 'slow'] as const)],
  ] as const) {
    it(`a bot that was slow once has its turn at once beside ${title}`, async () => {
      open();
      await run(2, 1, 'slow');
      if (title.includes('quick')) await run(1, 1, 'busy');
      const ended = crowdOf(crowd);
      for (let question = 0; question < 3; question += 1) {
        const before = ended();
        await run(2, 1, 'slow');
        // Those that were under way, and where the answer takes time itself, what a child did meanwhile.
        const meanwhile = title.includes('quick') ? Math.ceil(250 / 20) + 3 : 2;
        expect(ended() - before, `question ${question}`).to.be.at.most(meanwhile);
      }
    });
  }

  it('slow bots of many accounts give way to quick ones, and each has its turn beside them', async () => {
    open();
    const slow = Array.from({ length: 10 }, (_, index) => 10 + index);
    await run(2, 1, 'quick');
    await Promise.all(slow.map((account) => run(account, 1, 'slow')));
    const order: number[] = [];
    const ask = (account: number, hash: string) => run(account, 1, hash).then(() => void order.push(account));
    const crowd = slow.flatMap((account) => [ask(account, 'slow'), ask(account, 'slow')]);
    for (let question = 0; question < 5; question += 1) {
      const before = order.length;
      await ask(2, 'quick');
      expect(order.length - before, 'the two under way, and itself').to.be.at.most(3);
    }
    // Quick runs wait all the time from now on: they may not keep the slow ones from their turns.
    const over = new AbortController();
    const flow = Array.from({ length: 5 }, async () => {
      while (!over.signal.aborted) await ask(2, 'quick');
    });
    await Promise.all(crowd);
    over.abort();
    await Promise.all(flow);
    const turns = order.filter((account) => account !== 2);
    expect(
      new Set(turns.slice(0, slow.length + 2)).size,
      'nearly all had a turn before the second ones',
    ).to.be.at.least(9);
  });

  it('bots have their turns beside a flood of slow automations of their own account', async () => {
    open();
    let ended = 0;
    const flood = Array.from({ length: 40 }, () => run(1, 9, 'slow', 'automation').then(() => (ended += 1)));
    for (const hash of ['quick', 'slow', 'busy', 'quick']) {
      const before = ended;
      expect(await run(1, 1, hash)).to.include({ outcome: 'ok' });
      expect(ended - before, hash).to.be.at.most(hash === 'slow' ? 2 : 1);
    }
    void Promise.all(flood);
  });

  it('channels and automations have their turns beside a flood of each other', async () => {
    for (const [many, few] of [
      ['automation', 'channel'],
      ['channel', 'automation'],
    ] as const) {
      open();
      let ended = 0;
      for (let count = 0; count < 40; count += 1) void run(1, 9, 'slow', many).then(() => (ended += 1));
      for (let question = 0; question < 3; question += 1) {
        const before = ended;
        expect(await run(2, 1, 'quick', few)).to.include({ outcome: 'ok' });
        expect(ended - before, `${few} beside ${many}`).to.be.at.most(1);
      }
      await sandbox.close();
      children.close();
    }
  });

  it('automations go on beside a flood of bots', async () => {
    open();
    const ended = crowdOf(Array.from({ length: 200 }, () => [1, 'busy'] as const));
    for (let event = 0; event < 3; event += 1) await run(1, 9, 'quick', 'automation');
    expect(ended(), 'bots that were asked meanwhile').to.be.below(60);
  });

  it('a full queue of automations refuses no bot', async () => {
    children = new FakeChildren();
    sandbox = createSandbox({ size: 2, queueLimit: 3, maxRssMb: 256, start: children.start });
    const flood = Array.from({ length: 10 }, () => run(1, 9, 'slow', 'automation'));
    expect((await run(1, 1, 'quick')).outcome).to.equal('ok');
    const outcomes = (await Promise.all(flood)).map(({ outcome }) => outcome);
    expect(outcomes).to.include('queue_full').and.include('ok');
  });

  it('a run that a busy machine prolonged does not make its bot slow', async () => {
    open(true);
    await run(2, 1, 'slow');
    // Its account occupies a child, so that the other is for quick bots alone.
    const held = run(2, 2, 'held').then(() => 'held');
    expect(await Promise.race([run(2, 1, 'quick').then(() => 'quick'), held])).to.equal('quick');
    children.release();
    await held;
  });
});

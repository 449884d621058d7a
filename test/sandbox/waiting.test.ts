import { expect } from 'chai';
import { createSandbox } from '../../src/sandbox/parent/pool.ts';
import { ForbiddenCall, defaultLimits } from '../../src/sandbox/run.ts';
import type { HostCall, RunRequest, RunResult, Sandbox } from '../../src/sandbox/run.ts';
import { roundsFor, think } from '../faults/plugins.ts';
import { botOf, bundleOf, requestOf, sandboxPids } from './helpers.ts';

const wait = (ms: number) => new Promise<void>((resolve) => void setTimeout(resolve, ms));

describe('sandbox: runs that wait for the service', () => {
  let sandbox: Sandbox;
  let slowCalls = 0;

  const hostCalls: Record<string, HostCall> = {
    quick: (input) => Promise.resolve(input),
    slow: async (input) => {
      slowCalls += 1;
      await wait(40);
      return input;
    },
    late: async (input) => {
      await wait(1_000);
      return input;
    },
    forbidden: () => Promise.reject(new ForbiddenCall('not for you')),
    forbiddenLate: async () => {
      await wait(40);
      throw new ForbiddenCall('not for you');
    },
  };

  before(() => {
    sandbox = createSandbox({ size: 1, queueLimit: 1_000, maxRssMb: 256, hostCalls });
  });
  after(() => sandbox.close());
  beforeEach(() => {
    slowCalls = 0;
  });

  const run = (body: string, changes: Partial<RunRequest> = {}): Promise<RunResult> =>
    sandbox.run(requestOf(botOf(body), changes));

  it('go on where they were: each call is made once, and its answer is the same again', async () => {
    const result = await run(`
      const drawn = Math.random();
      ctx.log.info('first', { drawn });
      const a = await ctx.call('slow', drawn);
      const b = await ctx.call('quick', 2);
      const [c, d] = await Promise.all([ctx.call('slow', 3), ctx.call('quick', 4)]);
      ctx.log.info('last');
      ctx.note(JSON.stringify([a === drawn, b, c, d]));`);
    expect(result.error).to.equal(undefined);
    expect(result.actions).to.deep.equal([{ type: 'note', content: '[true,2,3,4]' }]);
    expect(result.logs.map(({ message }) => message)).to.deep.equal(['first', 'last']);
    expect(slowCalls).to.equal(2);
    expect(result.calls.map(({ name, input, output }) => [name, input, output]).slice(1)).to.deep.equal([
      ['quick', 2, 2],
      ['slow', 3, 3],
      ['quick', 4, 4],
    ]);
    expect(result.wallMs).to.be.above(75);
  });

  it('occupy no child: two hundred of them delay nobody', async () => {
    await run('');
    const { promise: opened, resolve: open } = Promise.withResolvers<void>();
    const held: HostCall = (input) => opened.then(() => input);
    const patient = { ...defaultLimits, wallMs: 120_000 };
    const waiting = Array.from({ length: 200 }, () =>
      run(`ctx.note(await ctx.call('held', 'there'))`, { hostCalls: { held }, limits: patient }),
    );
    while (sandbox.queued > 0) await wait(5);
    // They wait until this one is over.
    await run(`ctx.reply('quick')`, { owner: { account: 2, bot: 2 } });
    // A child that grew too large is replaced: it is still there while it ends.
    const begun = performance.now();
    while (sandboxPids().length > 1 && performance.now() - begun < 10_000) await wait(20);
    expect(sandboxPids()).to.have.length(1);
    open();
    for (const result of await Promise.all(waiting)) {
      expect(result.error).to.equal(undefined);
      expect(result.actions).to.deep.equal([{ type: 'note', content: 'there' }]);
    }
  });

  it('tell when they begin to wait and when they go on', async () => {
    const told: string[] = [];
    const onWait = () => {
      told.push('waits');
      return () => void told.push('goes on');
    };
    await run(`await ctx.call('slow'); await ctx.call('quick'); await ctx.call('slow');`, { onWait });
    expect(told).to.deep.equal(['waits', 'goes on', 'waits', 'goes on']);
    await run(`await ctx.call('late')`, { onWait, limits: { ...defaultLimits, wallMs: 100 } });
    expect(told.slice(4)).to.deep.equal(['waits', 'goes on']);
  });

  it('end when their time is over, though nothing is executed, and the call is aborted', async () => {
    let aborted = false;
    const hang: HostCall = (_, __, signal) =>
      new Promise((resolve) => {
        signal.addEventListener('abort', () => {
          aborted = true;
          resolve(null);
        });
      });
    const result = await run(`ctx.log.warn('asking'); await ctx.call('hang')`, {
      hostCalls: { hang },
      limits: { ...defaultLimits, wallMs: 120 },
    });
    expect(result).to.include({ outcome: 'deadline', error: 'The run took longer than 120 ms' });
    expect(result.logs).to.deep.equal([{ level: 'warn', message: 'asking' }]);
    expect(aborted).to.equal(true);
  });

  it('survive the death of every child', async () => {
    const waiting = run(`ctx.note(await ctx.call('late', 'alive'))`);
    await wait(200);
    for (const pid of sandboxPids()) process.kill(pid, 'SIGKILL');
    const { outcome, actions } = await waiting;
    expect(outcome).to.equal('ok');
    expect(actions).to.deep.equal([{ type: 'note', content: 'alive' }]);
  });

  it('may not compute without end by being executed again and again', async () => {
    const limits = { ...defaultLimits, sliceMs: 2_000 };
    // Two seconds in all, but thirty when it is executed from the beginning after each call.
    const burn = `for (let i = 0; i < 30; i++) { think(${roundsFor(70)}); await ctx.call('slow', i); }`;
    const result = await run(`${think.toString()} ${burn}`, { limits });
    expect(result.outcome).to.equal('timeout');
    expect(result.error).to.contain('all slices together');
  });

  for (const name of ['forbidden', 'forbiddenLate']) {
    it(`end at a call that the bot has no permission for, whatever it does about it (${name})`, async () => {
      const result = await run(`ctx.reply('a'); try { await ctx.call('${name}') } catch {} ctx.reply('b');`);
      expect(result).to.include({ outcome: 'forbidden_action', error: 'not for you' });
      expect(result.actions).to.deep.equal([]);
    });
  }

  it('end where their record cannot be searched, and nothing else ends', async () => {
    const recall = () => {
      throw new RangeError('too much');
    };
    const result = await sandbox.run(requestOf(botOf(`await ctx.call('slow', 1)`), { recall }));
    expect(result).to.include({
      outcome: 'forbidden_action',
      error: 'The call cannot be answered: RangeError: too much',
    });
    expect((await run(`ctx.reply('next')`)).outcome).to.equal('ok');
  });

  it('include calls that the handler did not wait for', async () => {
    const result = await run(`ctx.call('slow', 1); ctx.call('quick', 2).then(() => ctx.reply('later'));`);
    expect(result.outcome).to.equal('ok');
    expect(result.actions).to.deep.equal([{ type: 'reply', content: 'later' }]);
    expect(result.calls.map(({ input }) => input)).to.deep.equal([1, 2]);
    const failed = await run(`ctx.call('none')`);
    expect(failed.outcome).to.equal('threw');
  });

  it('keep the log of a run that is stopped or killed', async () => {
    const limits = defaultLimits;
    const stopped = await run(`ctx.log.info('before', { a: 1 }); for (;;);`, { limits });
    expect(stopped.outcome).to.equal('timeout');
    expect(stopped.logs).to.deep.equal([{ level: 'info', message: 'before', fields: { a: 1 } }]);
    const killed = await run(`ctx.log.error('before'); let b = 7n; for (let i = 0; i < 40; i++) b *= b`, { limits });
    expect(killed.outcome).to.be.oneOf(['unresponsive', 'rss_limit']);
    expect(killed.logs).to.deep.equal([{ level: 'error', message: 'before' }]);
  });

  describe('onError', () => {
    const failing = (onError: string) =>
      bundleOf(
        `({ default: { on: { message_created(ctx) { ctx.reply('a'); throw new Error('no'); } }, ${onError} } })`,
      );
    const runFailing = (onError: string) => sandbox.run(requestOf(failing(onError)));

    it('logs what went wrong, into the log of the run', async () => {
      const result = await runFailing(
        `async onError(ctx, error) { await 0; ctx.log.error('failed', { why: error.message }); }`,
      );
      expect(result.outcome).to.equal('threw');
      expect(result.error).to.contain('Error: no');
      expect(result.actions).to.deep.equal([]);
      expect(result.logs).to.deep.equal([{ level: 'error', message: 'failed', fields: { why: 'no' } }]);
    });

    for (const [title, code] of [
      ['replies', `ctx.reply('x')`],
      ['hands over', `ctx.handoff('x')`],
      ['calls the service', `await ctx.call('quick')`],
      ['throws', `throw new Error('again')`],
      ['waits for ever', `await new Promise(() => 0)`],
    ] as const) {
      it(`can do nothing else: ${title}`, async () => {
        const result = await runFailing(`async onError(ctx) { ${code} }`);
        expect(result.outcome).to.equal('threw');
        expect(result.error).to.contain('Error: no');
        expect(result.actions).to.deep.equal([]);
        expect(result.calls).to.deep.equal([]);
        expect(result.logs).to.have.length(title === 'waits for ever' ? 0 : 1);
      });
    }
  });
});

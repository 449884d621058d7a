import { expect } from 'chai';
import type { HeldBounds } from '../../src/sandbox/parent/held-answers.ts';
import { createSandbox } from '../../src/sandbox/parent/pool.ts';
import type { HostCall, RunResult, Sandbox } from '../../src/sandbox/run.ts';
import { botOf, requestOf, until } from './helpers.ts';

const mib = 1024 * 1024;
const large = 'x'.repeat(mib / 2);
// An answer, its input and the brackets around it.
const roomFor = (runs: number): number => (runs + 0.5) * mib;

describe('sandbox: answers that waiting runs hold', () => {
  let sandbox: Sandbox;
  let release: () => void;
  let waiting: number;
  const warnings: object[] = [];

  function open(held: HeldBounds): void {
    const log = { warn: (fields: object) => void warnings.push(fields) };
    sandbox = createSandbox({ size: 1, queueLimit: 100, maxRssMb: 256, held, log });
    waiting = 0;
    warnings.length = 0;
    const released = Promise.withResolvers<void>();
    release = () => released.resolve();
    hostCalls.held = () => {
      waiting += 1;
      return released.promise;
    };
  }
  const hostCalls: Record<string, HostCall> = { fetch: () => Promise.resolve(large) };
  afterEach(() => sandbox.close());

  const asking = botOf(`const a = await ctx.call('fetch'); await ctx.call('held'); ctx.note('' + a.length)`);
  const run = (account: number): Promise<RunResult> =>
    sandbox.run(requestOf(asking, { owner: { account, bot: 1 }, hostCalls }));

  /** Begins a run, which holds its answer and waits when this resolves; or has ended. */
  async function begin(account: number): Promise<Promise<RunResult>[]> {
    const before = waiting;
    let hasEnded = false;
    const running = run(account).finally(() => (hasEnded = true));
    await until(() => waiting > before || hasEnded);
    return [running];
  }

  it('end a run of an account that holds too many, and no other', async () => {
    open({ perAccount: roomFor(2), total: roomFor(100) });
    const [first] = await begin(1);
    const [second] = await begin(1);
    const [other] = await begin(2);
    const [third] = await begin(1);
    expect(await third).to.deep.include({ outcome: 'waiting_full', actions: [], calls: [] });
    expect((await third!).error).to.contain("account's runs hold more than 2.5 MiB");
    expect(warnings).to.have.length(1);
    expect(warnings[0]).to.include({ account: 1, bot: 1 });
    release();
    for (const kept of [first, second, other]) {
      const { outcome, actions, calls } = await kept!;
      expect([outcome, actions]).to.deep.equal(['ok', [{ type: 'note', content: String(large.length) }]]);
      expect(calls.map(({ name, output }) => [name, output])).to.deep.equal([
        ['fetch', large],
        ['held', null],
      ]);
    }
    // What has ended holds nothing.
    for (let more = 0; more < 4; more += 1) expect((await run(1)).outcome).to.equal('ok');
  });

  it('of the account that holds the most give way, the newest first, when all together are too many', async () => {
    open({ perAccount: roomFor(100), total: roomFor(4) });
    const [oldest] = await begin(1);
    const [older] = await begin(1);
    const [newest] = await begin(1);
    const [other] = await begin(2);
    const [last] = await begin(3);
    expect((await newest!).outcome).to.equal('waiting_full');
    release();
    const outcomes = (await Promise.all([oldest, older, other, last])).map((result) => result?.outcome);
    expect(outcomes).to.deep.equal(['ok', 'ok', 'ok', 'ok']);
  });

  it('count from the moment each comes, before the slowest of its round', async () => {
    open({ perAccount: roomFor(1), total: roomFor(100) });
    const both = botOf(`await Promise.all([ctx.call('fetch'), ctx.call('fetch'), ctx.call('held')])`);
    const { outcome } = await sandbox.run(requestOf(both, { hostCalls }));
    expect(outcome).to.equal('waiting_full');
  });
});

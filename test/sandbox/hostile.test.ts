import { spawn } from 'node:child_process';
import { runInNewContext } from 'node:vm';
import { expect } from 'chai';
import { sandboxCommand, type SandboxProcess } from '../../src/sandbox/child-process.ts';
import { createSandbox } from '../../src/sandbox/parent/pool.ts';
import { defaultLimits } from '../../src/sandbox/run.ts';
import type { RunResult, Sandbox } from '../../src/sandbox/run.ts';
import { botOf, bundleOf, computedMs, requestOf, sandboxPids, unhurried } from './helpers.ts';

/** Two under way, one whose turn it is, and those beside the answer itself, of the forty that wait. */
const fewRuns = 10;
/** What a contained run may take beyond the slice that its limits allow. */
const beyondSliceMs = 5_000;
const largestLagMs = 1_000;
const tickMs = 5;
const timely = new Set(['timeout', 'unresponsive']);
const outOfMemory = ['memory', 'rss_limit', 'crashed', 'timeout', 'unresponsive', 'threw'];
const evil = `const evil = (name) => { const e = new Error('x'); Object.defineProperty(e, name, { get() { for (;;); } }); return e; };`;

/** Computes for longer than a quick bot does. */
const slow = `let x = 0; for (let i = 0; i < 3e8; i++) x += Math.sqrt(i); ctx.reply('' + (x > 0))`;

/** [what it tries, handler body, outcomes that contain it, code at the top of the bundle]. */
type Attack = readonly [string, string, readonly string[], string?];

const stalling: Attack[] = [
  ['H15 endless loop', 'for (;;);', ['timeout']],
  [
    'H15 endless loop that catches',
    'for (;;) { try { throw 1 } catch { continue } finally { continue } }',
    ['timeout'],
  ],
  ['H16 endless microtasks', 'for (;;) await 0', ['timeout']],
  [
    'H16 a promise that calls itself',
    'const again = () => Promise.resolve().then(again); await again()',
    ['timeout', 'memory'],
  ],
  [
    'H16 an async iterator without end',
    'for await (const x of (async function* () { for (;;) yield 1 })()) ;',
    ['timeout'],
  ],
  ['H17 a promise that never settles', 'await new Promise(() => {})', ['never_settled']],
  ['H18 a loop after a call', `await ctx.call('nothing').catch(() => 0); for (;;);`, ['timeout']],
  ['H19 a result with a looping then', 'return { then() { for (;;); } }', ['timeout']],
  ['H20 an action with a looping getter', `ctx.reply({ get content() { for (;;); } })`, ['timeout']],
  ['H20 an action with a looping toJSON', `ctx.reply({ content: { toJSON() { for (;;); } } })`, ['timeout']],
  ['H20 an action behind a looping proxy', `ctx.reply(new Proxy({}, { ownKeys() { for (;;); } }))`, ['timeout']],
  ['H21 an error with a looping stack', `throw evil('stack')`, ['timeout'], evil],
  ['H21 an error with a looping message', `const e = evil('message'); e.stack = ''; throw e`, ['timeout'], evil],
  ['H21 a proxy around an error', 'throw new Proxy(new Error(), { get() { for (;;); } })', ['timeout']],
  ['H21 a getter that throws', `throw { get stack() { throw { get stack() { throw 1 } } } }`, ['threw']],
  ['H22 an unhandled rejection with a looping stack', `Promise.reject(evil('stack'))`, ['timeout'], evil],
  ['H23 a loop while loading', '', ['timeout'], 'for (;;);'],
  ['H23 an evil error while loading', '', ['timeout'], `${evil} throw evil('stack')`],
  [
    'H23 a looping default export',
    '',
    ['timeout'],
    '({ get default() { for (;;); } }); throw { get stack() { for (;;); } }',
  ],
  ['H24 a regular expression that backtracks', `/^(a+)+$/.test('a'.repeat(60) + '!')`, ['timeout', 'unresponsive']],
  [
    'H25 a BigInt tower',
    'let b = 7n; for (let i = 0; i < 40; i++) b *= b',
    ['unresponsive', 'timeout', 'threw', 'rss_limit'],
  ],
  ['H25 a BigInt as text', 'String(7n ** 3000000n)', ['unresponsive', 'timeout', 'ok']],
  [
    'H26 normalizing megabytes',
    `'\\ufdfa'.repeat(3e6).normalize('NFKD').normalize('NFD')`,
    ['rss_limit', 'unresponsive', ...outOfMemory],
  ],
  ['H27 a sparse array', 'const a = []; a.length = 2 ** 32 - 1; a.lastIndexOf(1)', ['unresponsive']],
  ['H27 an array from a length', 'Array.from({ length: 1e9 })', ['unresponsive', ...outOfMemory]],
  ['H27 filling a sparse array', 'new Array(2 ** 32 - 1).fill(1)', ['unresponsive', ...outOfMemory]],
  ['H28 a sort with a looping comparison', '[1, 2].sort(() => { for (;;); })', ['timeout']],
  ['H29 deep recursion', 'const f = () => f(); f()', ['threw']],
  ['H29 recursion that catches', 'const f = () => { try { f() } catch { f() } }; f()', ['timeout', 'threw']],
  ['H29 a deeply nested source', '', ['load_failed'], `eval('['.repeat(1e5))`],
];

const growing: Attack[] = [
  ['H30 arrays', 'const a = []; for (;;) a.push(new Array(1e5).fill(1.5))', outOfMemory],
  ['H30 texts', `const a = []; for (;;) a.push('x'.repeat(1e6) + a.length)`, outOfMemory],
  ['H30 a map', 'const m = new Map(); for (let i = 0; ; i++) m.set(i, { i })', outOfMemory],
  ['H30 an object', `const o = {}; for (let i = 0; ; i++) o['k' + i] = i`, outOfMemory],
  ['H30 closures', 'let f = () => 0; for (;;) { const g = f; f = () => g; }', outOfMemory],
  ['H31 typed arrays', 'const a = []; for (;;) a.push(new Uint8Array(1e7).fill(1))', outOfMemory],
  [
    'H32 resizable buffers',
    'const a = []; for (;;) { const b = new ArrayBuffer(8, { maxByteLength: 1e9 }); b.resize(1e9); a.push(new Uint8Array(b).fill(1)) }',
    ['threw'],
  ],
  [
    'H32 a resizable buffer by every other way',
    `class B extends ArrayBuffer {}; const o = { maxByteLength: 1e6 };
     const made = [new ArrayBuffer(8, o), new B(8, o), Reflect.construct(ArrayBuffer, [8, o]), Reflect.construct(ArrayBuffer, [8, o], B),
       new (new ArrayBuffer(8).constructor)(8, o), new (Object.getPrototypeOf(B))(8, o), new (new Uint8Array(8).buffer.constructor)(8, o),
       new ArrayBuffer[Symbol.species](8, o), new ArrayBuffer(8).slice(0).transfer(8)];
     if (made.some((b) => b.resizable)) for (;;);`,
    ['ok'],
  ],
  ['H33 WebAssembly memory', 'new WebAssembly.Memory({ initial: 30000 })', ['threw']],
  ['H33 shared memory', 'new SharedArrayBuffer(1e9)', ['threw']],
  [
    'H34 padded texts',
    `const a = []; for (let i = 0; ; i++) { const s = 'x'.padStart(5e8, 'ab'); s.indexOf('z' + i); a.push(s) }`,
    outOfMemory,
  ],
  [
    'H34 texts replaced again and again',
    `let s = 'a'; for (let i = 0; i < 44; i++) s = s.replaceAll('a', 'aa'); s.indexOf('b')`,
    outOfMemory,
  ],
  ['H35 JSON that repeats', `const s = 'x'.repeat(1e7); JSON.stringify(Array(100).fill(s))`, outOfMemory],
  ['H36 megabytes of source', `eval('1;'.repeat(3e6))`, ['threw', 'timeout']],
  ['H37 arrays that double', 'let a = [1]; for (;;) a = a.concat(a)', outOfMemory],
  [
    'H38 formatters',
    `const a = []; for (let i = 0; ; i++) a.push(new Intl.DateTimeFormat('de', { era: 'long' }).format(i))`,
    outOfMemory,
  ],
  ['H39 waiting on shared memory', 'Atomics.wait(new Int32Array(new SharedArrayBuffer(8)), 0, 0)', ['threw']],
  ['H40 a million calls', `for (let i = 0; i < 1e6; i++) ctx.call('x')`, ['too_many_calls']],
  ['H41 calls without end', `for (;;) { try { await ctx.call('x') } catch {} }`, ['too_many_calls']],
  ['H42 a huge action', `ctx.reply('x'.repeat(2e7))`, ['output_too_large']],
  [
    'H42 a million actions',
    `for (let i = 0; i < 1e6; i++) { try { ctx.note('x') } catch {} }`,
    ['too_many_actions', 'timeout'],
  ],
  ['H42 many replies', `for (let i = 0; i < 6; i++) ctx.reply('x')`, ['too_many_actions']],
  ['H42 a huge call', `await ctx.call('x', 'x'.repeat(2e7))`, ['threw', ...outOfMemory]],
  [
    'H43 endless stack traces',
    'Error.stackTraceLimit = Infinity; const f = (n) => { if (n === 0) throw new Error(); f(n - 1) }; f(5000)',
    ['threw'],
  ],
];

const escaping: Attack[] = [
  [
    'H01 the function constructor',
    `if (this.constructor.constructor('return typeof process')() !== 'undefined') for (;;);`,
    ['ok'],
  ],
  [
    'H02 functions and errors of the host',
    `const own = [ctx.reply, ctx.call, ctx.now, await ctx.call('x').catch((e) => e)];
     if (own.some((x) => x.constructor.constructor('return typeof process')() !== 'undefined')) for (;;);`,
    ['ok'],
  ],
  ['H03 import()', `await import('node:fs')`, ['threw']],
  ['H03 require', `require('fs')`, ['threw']],
  ['H03 process', `process.exit(1)`, ['threw']],
  ['H03 process.binding', `process.binding('fs')`, ['threw']],
  ['H05 breaking out of a wrapper', '', ['load_failed'], '}}}})();(function(){({a:{b:{c(){'],
  [
    'H06 the caller of a sloppy function',
    `if (new Function('return arguments.callee.caller')() !== null) for (;;);`,
    ['ok', 'threw'],
  ],
  [
    'H07 replaced builtins',
    `ctx.reply('still here')`,
    ['ok'],
    `JSON.stringify = JSON.parse = Object.freeze = Reflect.apply = () => { throw 1 };
     Promise.prototype.then = Map.prototype.set = String.prototype.slice = Object.defineProperty = () => { throw 2 };`,
  ],
  [
    'H08 setters on Array.prototype',
    `ctx.call('x').catch(() => 0); ctx.reply('a')`,
    ['ok'],
    `for (const i of [0, 1, 2]) Object.defineProperty(Array.prototype, i, { set() { throw 1 }, get() { throw 1 } });`,
  ],
  [
    'H08 a then on Object.prototype',
    'return {}',
    ['timeout', 'threw', 'ok', 'never_settled'],
    'Object.prototype.then = function () { for (;;); }',
  ],
  [
    'H08 a getter on Object.prototype',
    `await ctx.call('x').catch(() => 0)`,
    ['ok', 'threw'],
    `for (const n of ['error', 'get', 'set', 'value']) Object.defineProperty(Object.prototype, n, { get() { return undefined }, set() {} })`,
  ],
  [
    'H09 Symbol.species',
    `try { await ctx.call('x') } catch {} ctx.reply('a')`,
    ['ok'],
    `Object.defineProperty(Promise, Symbol.species, { get() { throw 1 } }); Object.defineProperty(Array, Symbol.species, { get() { throw 1 } })`,
  ],
  ['H10 throwing a symbol', 'throw Symbol("s")', ['threw']],
  ['H10 throwing null', 'throw null', ['threw']],
  ['H10 throwing undefined', 'throw undefined', ['threw']],
  ['H10 throwing an object without a prototype', 'throw Object.create(null)', ['threw']],
  ['H11 nested errors', 'throw new AggregateError([new SuppressedError(new Error(), new Error())])', ['threw']],
  ['H12 preparing stack traces', 'Error.prepareStackTrace = (_, sites) => sites; ', ['threw']],
  [
    'H12 preparing stack traces in a loop',
    'Object.defineProperty(Error, "prepareStackTrace", { value() { for (;;); } })',
    ['threw'],
  ],
  ['H13 WebAssembly', 'WebAssembly.JSTag', ['threw']],
  [
    'H47 measuring time',
    `const times = () => [Date.now(), +new Date(), Date(), +ctx.now, typeof performance, typeof setTimeout, new Intl.DateTimeFormat("en", { timeStyle: "full" }).format()].join();
     const before = times(); let x = 0; for (let i = 0; i < 2e7; i++) x += Math.sqrt(i); await ctx.call('x').catch(() => 0);
     if (times() !== before || x < 1) for (;;);`,
    ['ok'],
  ],
];

interface Watched {
  result: RunResult;
  lagMs: number;
  waitedMs: number;
  childMs: number;
}

describe('sandbox: hostile bots', () => {
  let sandbox: Sandbox;

  before(async () => {
    sandbox = createSandbox({ size: 1, queueLimit: 10, maxRssMb: 256 });
    await sandbox.run(requestOf(botOf('')));
  });
  after(() => sandbox.close());

  /**
   * The result; the longest computing of the parent during which it could not answer, which other processes do not prolong;
   * how long it waited for a processor; and what the child computed.
   */
  async function watch(running: Promise<RunResult>): Promise<Watched> {
    let [last, lastCpu] = [performance.now(), process.threadCpuUsage()];
    let [lagMs, waitedMs, childMs] = [0, 0, 0];
    const [pid] = sandboxPids();
    const before = computedMs(pid);
    const timer = setInterval(() => {
      const { user, system } = process.threadCpuUsage(lastCpu);
      const ownMs = (user + system) / 1000;
      lagMs = Math.max(lagMs, ownMs);
      waitedMs += Math.max(0, performance.now() - last - ownMs - tickMs);
      childMs = Math.max(childMs, computedMs(pid) - before);
      [last, lastCpu] = [performance.now(), process.threadCpuUsage()];
    }, tickMs);
    const result = await running;
    clearInterval(timer);
    return { result, lagMs, waitedMs, childMs };
  }

  for (const [title, body, outcomes, top] of [...stalling, ...growing, ...escaping]) {
    it(`contains ${title}`, async () => {
      const limits = outcomes.some((outcome) => timely.has(outcome)) ? defaultLimits : unhurried;
      const { result, lagMs, waitedMs, childMs } = await watch(sandbox.run(requestOf(botOf(body, top), { limits })));
      // A child that others keep from computing cannot stop a bot in time either, and is killed.
      const isStarved = outcomes.includes('timeout') && childMs < limits.sliceMs / 2;
      expect(result.outcome, result.error).to.be.oneOf([...outcomes, ...(isStarved ? ['unresponsive'] : [])]);
      expect(result.wallMs).to.be.below(limits.sliceMs + beyondSliceMs + waitedMs);
      expect(lagMs).to.be.below(largestLagMs);
      if (result.outcome !== 'ok') {
        expect(result.actions).to.deep.equal([]);
        expect(result.error).to.be.a('string').with.length.within(1, 4096);
      }
      const next = await sandbox.run(requestOf(botOf(`ctx.reply('next')`)));
      expect(next.actions, `${next.outcome}: ${next.error}`).to.deep.equal([{ type: 'reply', content: 'next' }]);
    });
  }

  it('H04 leaves only names of the language on globalThis, and the documented ones', async () => {
    const { actions } = await sandbox.run(
      requestOf(botOf(`ctx.note(Reflect.ownKeys(globalThis).map(String).join(' '))`)),
    );
    const [note] = actions as unknown as [{ content: string }];
    const names = note.content.split(' ');
    const language = runInNewContext('Reflect.ownKeys(globalThis).map(String)') as string[];
    // The last is what `ctx.call` is, for functions of `switchboard/bot` without a `ctx`.
    const ours = ['TextDecoder', 'TextEncoder', 'atob', 'btoa', 'crypto', 'Symbol(switchboard.call)'];
    expect(names.filter((name) => !language.includes(name))).to.have.members(ours);
    const removed = ['WebAssembly', 'SharedArrayBuffer', 'Atomics', 'WeakRef', 'FinalizationRegistry', 'console'];
    expect(names.filter((name) => removed.includes(name))).to.deep.equal([]);
  });

  it('H47 leaves no way to the clock of a newer Node', async () => {
    // In Node 24 it is behind a flag.
    const flags = 'Temporal' in globalThis ? [] : ['--harmony-temporal'];
    const start = (maxRssMb: number): SandboxProcess => {
      const [program, args] = sandboxCommand(maxRssMb, flags);
      return spawn(program, args, { env: {}, stdio: ['pipe', 'pipe', 'ignore'] });
    };
    const newer = createSandbox({ size: 1, queueLimit: 10, maxRssMb: 256, start });
    try {
      const told = `ctx.note(typeof Temporal); ctx.note(typeof Date.prototype.toTemporalInstant)`;
      const { outcome, error, actions } = await newer.run(requestOf(botOf(told)));
      expect(outcome, error).to.equal('ok');
      expect(actions.map((action) => 'content' in action && action.content)).to.deep.equal(['undefined', 'function']);
    } finally {
      await newer.close();
    }
  });

  it('answers others while a bot stalls, with a child each', async () => {
    const both = createSandbox({ size: 2, queueLimit: 10, maxRssMb: 256 });
    await Promise.all([both.run(requestOf(botOf(''))), both.run(requestOf(botOf('')))]);
    const ended: string[] = [];
    const note = (running: Promise<RunResult>) => running.then(({ outcome }) => void ended.push(outcome));
    const hostile = note(both.run(requestOf(botOf('let b = 7n; for (let i = 0; i < 40; i++) b *= b'))));
    await note(both.run(requestOf(botOf(`ctx.reply('meanwhile')`))));
    expect(ended).to.deep.equal(['ok']);
    await both.close();
    await hostile;
    expect(ended[1]).to.equal('crashed');
  });

  it('answers another account beside a crowd of them all, a slow bot too, after a few runs of them', async () => {
    const pool = createSandbox({ size: 2, queueLimit: 1_000, maxRssMb: 256 });
    const innocents = [
      { owner: { account: 2, bot: 1 }, body: `ctx.reply('quick')` },
      { owner: { account: 3, bot: 1 }, body: slow },
    ];
    for (const { owner, body } of innocents) await pool.run(requestOf(botOf(body), { owner }));
    let ended = 0;
    // Those that use up what they may compute: each as long as several of an innocent.
    const unending = stalling.filter(([, , outcomes]) => outcomes.length === 1 && timely.has(outcomes[0] ?? ''));
    const crowd = [...unending, ...unending].map(async ([, body, , top], bot) => {
      await pool.run(requestOf(botOf(body, top), { owner: { account: 1, bot }, limits: defaultLimits }));
      ended += 1;
    });
    for (const { owner, body } of [...innocents, ...innocents]) {
      const before = ended;
      const { outcome, error } = await pool.run(requestOf(botOf(body), { owner }));
      expect([outcome, ended - before <= fewRuns], `${ended - before} runs before, ${error}`).to.deep.equal([
        'ok',
        true,
      ]);
      expect(pool.queued).to.be.above(0);
    }
    await pool.close();
    await Promise.all(crowd);
  });

  it('hides from one bot what another did', async () => {
    await sandbox.run(requestOf(botOf('Object.prototype.leak = globalThis.leak = 1')));
    const { actions } = await sandbox.run(
      requestOf(
        bundleOf(`({ default: { on: { message_created(ctx) { ctx.note('' + globalThis.leak + {}.leak) } } } })`),
      ),
    );
    expect(actions).to.deep.equal([{ type: 'note', content: 'undefinedundefined' }]);
  });
});

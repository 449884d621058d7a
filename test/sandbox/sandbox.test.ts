import { expect } from 'chai';
import { defaultLimits } from '../../src/sandbox/run.ts';
import { createSandbox } from '../../src/sandbox/parent/pool.ts';
import type { RunRequest, RunResult, Sandbox } from '../../src/sandbox/run.ts';
import { sampleEvents } from '../../src/cli/sample-events.ts';
import { allPermissions, botOf, bundleOf, requestOf, sandboxPids, until } from './helpers.ts';

describe('sandbox', () => {
  let sandbox: Sandbox;

  before(() => {
    sandbox = createSandbox({
      size: 1,
      queueLimit: 3,
      maxRssMb: 256,
      hostCalls: {
        double: (input) => Promise.resolve((input as number) * 2),
        fail: () => Promise.reject(Object.assign(new Error('no such thing'), { code: 'not_there' })),
        bigint: () => Promise.resolve(5n),
        wait: () =>
          new Promise((resolve) => {
            setTimeout(resolve, 1_000);
          }),
        huge: () => Promise.resolve('x'.repeat(300_000)),
        hang: (_, __, signal) =>
          new Promise((resolve) => {
            signal.addEventListener('abort', () => resolve(null));
          }),
      },
    });
  });
  after(() => sandbox.close());

  const run = (body: string, changes: Partial<RunRequest> = {}): Promise<RunResult> =>
    sandbox.run(requestOf(botOf(body), changes));

  it('returns every kind of action in order, and the log', async () => {
    const since = performance.now();
    const result = await run(`
      ctx.reply('one');
      ctx.reply({ content: 'pick', content_type: 'input_select', content_attributes: { items: [{ title: 'A', value: 'a' }] } });
      ctx.note('two');
      ctx.label.add('faq', 'vip');
      ctx.label.remove('new');
      ctx.handoff({ reason: 'done', note: 'n', message: 'm' });
      ctx.log.info('hello', { a: 1 });
      ctx.log.error('bye');`);
    expect(result.outcome).to.equal('ok');
    expect(result.actions).to.deep.equal([
      { type: 'reply', content: 'one' },
      {
        type: 'reply',
        content: 'pick',
        content_type: 'input_select',
        content_attributes: { items: [{ title: 'A', value: 'a' }] },
      },
      { type: 'note', content: 'two' },
      { type: 'label', add: ['faq', 'vip'] },
      { type: 'label', remove: ['new'] },
      { type: 'handoff', reason: 'done', note: 'n', message: 'm' },
    ]);
    expect(result.logs).to.deep.equal([
      { level: 'info', message: 'hello', fields: { a: 1 } },
      { level: 'error', message: 'bye' },
    ]);
    expect(result).not.to.have.property('error');
    expect(result.wallMs).to.be.within(0, performance.now() - since);
  });

  it('shows the event as a frozen snapshot', async () => {
    const { actions } = await run(
      `ctx.note(JSON.stringify([ctx.message.content, ctx.conversation.id, ctx.contact.id, ctx.inbox.id, ctx.account.id,
        ctx.config.x, ctx.now.toISOString(), ctx.run.seed, ctx.event.event,
        [ctx, ctx.event, ctx.message, ctx.conversation.meta, ctx.config, ctx.label, ctx.log, ctx.run].every(Object.isFrozen)]))`,
      { config: { x: 5 } },
    );
    const [note] = actions as unknown as [{ content: string }];
    expect(JSON.parse(note.content)).to.deep.equal([
      'Hello, what are your opening hours?',
      2,
      3,
      4,
      1,
      5,
      '2025-06-15T15:06:40.000Z',
      7,
      'message_created',
      true,
    ]);
  });

  it('shows what each event has', async () => {
    const bundle =
      bundleOf(`const show = (ctx) => ctx.note(JSON.stringify([ctx.message?.id ?? null, ctx.conversation?.id ?? null,
      ctx.conversation?.status ?? null, ctx.contact?.id ?? null, ctx.inbox?.id ?? null]));
      ({ default: { on: { message_updated: show, conversation_opened: show, conversation_resolved: show, webwidget_triggered: show } } })`);
    const shown: Record<string, unknown> = {};
    for (const handler of [
      'message_updated',
      'conversation_opened',
      'conversation_resolved',
      'webwidget_triggered',
    ] as const) {
      const { actions } = await sandbox.run(requestOf(bundle, { handler, event: sampleEvents[handler] }));
      shown[handler] = JSON.parse((actions as unknown as [{ content: string }])[0].content);
    }
    expect(shown).to.deep.equal({
      message_updated: [5, 2, 'pending', 3, 4],
      conversation_opened: [null, 2, 'pending', 3, 4],
      conversation_resolved: [null, 2, 'resolved', 3, 4],
      webwidget_triggered: [null, 2, 'pending', 3, 4],
    });
  });

  it('removes the contact fields that were not granted, everywhere in the event', async () => {
    const { actions } = await run('ctx.note(JSON.stringify(ctx.event)); ctx.note(JSON.stringify(ctx.contact))', {
      permissions: { ...allPermissions, contact: ['email'] },
    });
    const [event, contact] = actions as unknown as [{ content: string }, { content: string }];
    expect(event.content).not.to.match(/Sam Sample|14155552671|sample-3/);
    expect(JSON.parse(contact.content)).to.deep.equal({ id: 3, type: 'contact', email: 'sam@example.com' });
  });

  it('drops the whole batch for an action that was not granted', async () => {
    const result = await run(`ctx.reply('fine'); ctx.note('not granted')`, {
      permissions: { ...allPermissions, conversation: ['reply'] },
    });
    expect(result).to.include({ outcome: 'forbidden_action' });
    expect(result.error).to.contain('"note"');
    expect(result.actions).to.deep.equal([]);
  });

  for (const [title, body, words] of [
    ['an empty reply', `ctx.reply('')`, 'content'],
    ['a reply that is too long', `ctx.reply('x'.repeat(20001))`, '20000'],
    ['an unknown field', `ctx.reply({ content: 'a', channel_id: 99 })`, 'channel_id'],
    ['a number for content', `ctx.reply({ content: 5 })`, 'text'],
    ['a label with a blank', `ctx.label.add('two words')`, 'must consist'],
    ['a NUL character', `ctx.reply('a\\0b')`, 'NUL'],
    ['half of a surrogate pair', `ctx.reply('\\ud800')`, 'surrogate'],
    [
      'attributes that are nested too deep',
      `let a = {}; for (let i = 0; i < 50; i++) a = { a }; ctx.reply({ content: 'x', content_attributes: a })`,
      'deep',
    ],
    [
      'a forged type',
      `Object.prototype.toJSON = function () { return { type: 'assign', assignee_id: 1 } }; ctx.reply('x')`,
      'assign',
    ],
    [
      'a forged end beside another',
      `ctx.handoff('x'); Object.prototype.toJSON = function () { return { type: 'resolve' } }; ctx.note('x')`,
      'exclude each other',
    ],
  ] as const) {
    it(`drops the whole batch for ${title}`, async () => {
      const result = await run(`ctx.label.add('good'); ${body}`);
      expect(result.outcome).to.equal('invalid_actions');
      expect(result.error).to.contain(words);
      expect(result.actions).to.deep.equal([]);
    });
  }

  it('says which handlers there are when the wanted one is missing', async () => {
    const result = await run('', { handler: 'conversation_opened' });
    expect(result).to.deep.include({ outcome: 'no_handler', handlers: ['message_created'] });
    expect(await run('', { handler: 'constructor' })).to.include({ outcome: 'no_handler' });
  });

  it('reports code that cannot be loaded', async () => {
    const codes = [
      '({',
      '})();(function(){',
      'throw new Error("at load")',
      '1',
      '({ default: { on: 5 } })',
      'with ({}) {}',
    ];
    for (const code of codes) {
      expect(await sandbox.run(requestOf(bundleOf(code))), code).to.include({ outcome: 'load_failed' });
    }
  });

  it('reports what a handler throws, without paths of the host', async () => {
    const result = await run(
      `throw new Error('broken ' + '${import.meta.dirname.replace('/test/sandbox', '')}/src/x.ts')`,
    );
    expect(result.outcome).to.equal('threw');
    expect(result.error).to.match(/^Error: broken src\/x\.ts\n\s+at Object\.message_created \(bot\.js:1:\d+\)/);
  });

  it('gives the same actions for the same seed and clock, and others for another seed', async () => {
    const body = `await null; ctx.note([Math.random(), Math.random(), Date.now(), new Date().toString(), Date(), new Date().getHours(),
      new (class extends Date {})().getTime(), Reflect.construct(Date, []).getTime(), new ctx.now.constructor().getTime(),
      new Intl.DateTimeFormat('en', { dateStyle: 'full', timeStyle: 'long' }).format(), ctx.run.id].join())`;
    const [first, second, other] = await Promise.all([run(body), run(body), run(body, { seed: 8 })]);
    expect(first.outcome).to.equal('ok');
    expect(second.actions).to.deep.equal(first.actions);
    expect(other.actions).not.to.deep.equal(first.actions);
    expect(JSON.stringify(first.actions)).to.contain('GMT+0000');
  });

  it('keeps nothing from one run to the next', async () => {
    const bundle = botOf(
      `ctx.note([globalThis.leak, Array.prototype.leak, top].join()); globalThis.leak = 1; Array.prototype.leak = 2; top += 1`,
      'let top = 0',
    );
    const first = await sandbox.run(requestOf(bundle));
    const second = await sandbox.run(requestOf(bundle));
    expect(second.actions).to.deep.equal(first.actions);
    expect(first.actions).to.deep.equal([{ type: 'note', content: ',,0' }]);
  });

  it('answers calls to the service in rounds', async () => {
    const result = await run(`
      const [a, b] = await Promise.all([ctx.call('double', 4), ctx.call('double', 5)]);
      const c = await ctx.call('double', a + b);
      const failed = await ctx.call('fail').catch((error) => error.code + ': ' + error.message);
      const unknown = await ctx.call('fetch', 'https://example.com').catch((error) => error.code);
      const bigint = await ctx.call('bigint').catch((error) => error.code);
      const huge = await ctx.call('huge').catch((error) => error.code);
      ctx.note([a, b, c, failed, unknown, bigint, huge].join());`);
    expect(result.error).to.equal(undefined);
    expect(result.actions).to.deep.equal([
      { type: 'note', content: '8,10,36,not_there: no such thing,unknown_call,call_failed,answer_too_large' },
    ]);
  });

  it('ends a run whose calls take too long', async () => {
    const result = await run(`await ctx.call('hang')`, { limits: { ...defaultLimits, wallMs: 150 } });
    expect(result.outcome).to.equal('deadline');
    // Timers may ring up to a millisecond early.
    expect(result.wallMs).to.be.within(148, defaultLimits.wallMs / 2);
  });

  it('ends a run whose slices together compute longer than twice a slice', async () => {
    const burning = (turns: number, rounds: number) =>
      `for (let round = 0; round < ${rounds}; round++) {
         let x = 0; for (let i = 0; i < ${turns}; i++) x += Math.sqrt(i);
         await ctx.call('double', x);
       }`;
    const quickestOf = async (body: string) => {
      // Of the processor's time: what others on the machine take would be taken for the loop's.
      const times = [await run(body), await run(body)].map(({ cpuMs }) => cpuMs);
      return Math.min(...times);
    };
    // V8 makes the loop faster while it runs, so it is a later slice that is measured.
    const laterSlice = async (count: number) =>
      ((await quickestOf(burning(count, 3))) - (await quickestOf(burning(count, 1)))) / 2;
    let turns = 4_000_000;
    // Twice what twenty calls need, which is all that a run may make: V8 makes the loop faster still.
    while ((await laterSlice(turns)) < 200) turns *= 1.5;
    const limits = { ...defaultLimits, sliceMs: 1_000 };
    // Ten seconds in all, and a slice is far from its own limit.
    expect(await run(burning(turns, 100), { limits })).to.include({
      outcome: 'timeout',
      error: 'CPU limit exceeded: more than 2000 ms in all slices together (twice limits.sliceMs)',
    });
  });

  it('does not count waiting for the service as computing', async () => {
    const limits = { ...defaultLimits, sliceMs: 2_000 };
    const { outcome, wallMs } = await run(`for (let round = 0; round < 5; round++) await ctx.call('wait')`, { limits });
    expect(outcome).to.equal('ok');
    // Longer than all slices together may compute.
    expect(wallMs).to.be.above(2 * limits.sliceMs + 500);
  });

  it('tells a limit from what a bot says about it', async () => {
    for (const words of [
      'Script execution timed out.',
      'Isolate was disposed during execution due to memory limit',
      'Isolate was disposed',
    ]) {
      for (const body of [
        `Promise.reject(new Error('${words}'))`,
        `throw new Error('${words}')`,
        `Promise.reject('${words}')`,
      ]) {
        expect(await run(body), body).to.include({ outcome: 'threw' });
      }
    }
    expect(await run('for (;;) await 0', { limits: defaultLimits })).to.include({
      outcome: 'timeout',
      error: 'CPU limit exceeded: more than 500 ms in one slice (limits.sliceMs)',
    });
  });

  it('refuses runs beyond the queue, and counts those that wait', async () => {
    await run('');
    const slow = { limits: { ...defaultLimits, wallMs: 100 } };
    const runs = Array.from({ length: 6 }, () => run(`await ctx.call('hang')`, slow));
    expect(sandbox.queued).to.equal(3);
    const outcomes = (await Promise.all(runs)).map(({ outcome }) => outcome).sort();
    expect(outcomes.filter((outcome) => outcome === 'queue_full')).to.have.length(2);
    expect(outcomes.filter((outcome) => outcome === 'deadline')).to.have.length(4);
    expect(sandbox.queued).to.equal(0);
  });

  it('cuts the log', async () => {
    const { outcome, logs } = await run(
      `ctx.log.info('y'.repeat(1e7)); for (let i = 0; i < 1e4; i++) ctx.log.warn('x'.repeat(1000));`,
    );
    expect(outcome).to.equal('ok');
    expect(logs[0]?.message).to.have.length(1024);
    expect(logs.length).to.be.below(20);
    expect(logs.at(-1)?.message).to.contain('left out');
  });

  it('starts a new child for one that was killed while idle', async () => {
    await run('');
    const [pid] = sandboxPids();
    process.kill(pid!, 'SIGKILL');
    await until(() => sandboxPids().some((other) => other !== pid));
    expect(await run(`ctx.reply('again')`)).to.include({ outcome: 'ok' });
    expect(sandboxPids()).not.to.include(pid);
  });

  it('ends a run crashed when its child is killed from outside', async () => {
    await run('');
    const running = run('for (;;);');
    await until(() => sandbox.queued === 0);
    process.kill(sandboxPids()[0]!, 'SIGKILL');
    const result = await running;
    expect(result).to.include({ outcome: 'crashed' });
    expect(result.actions).to.deep.equal([]);
    expect(await run(`ctx.reply('again')`)).to.include({ outcome: 'ok' });
  });

  it('refuses what is too large to run', async () => {
    expect(await sandbox.run(requestOf(bundleOf(' '.repeat(600_000))))).to.include({ outcome: 'load_failed' });
    expect(await run('', { event: { text: 'x'.repeat(3_000_000) } })).to.include({ outcome: 'load_failed' });
    expect(await run('', { event: { text: 'é\n'.repeat(600_000) } })).to.include({ outcome: 'ok' });
  });

  it('gives way to another bundle of more than a child keeps', async () => {
    for (let count = 0; count < 70; count += 1) {
      const { actions } = await run(`ctx.note('${count % 35}')`);
      expect(actions).to.deep.equal([{ type: 'note', content: String(count % 35) }]);
    }
  });

  it('knows which bundles a child has forgotten, also when one more came than it keeps', async () => {
    const single = createSandbox({ size: 1, queueLimit: 1, maxRssMb: 256 });
    for (const count of [...Array.from({ length: 33 }, (_, index) => index), 0]) {
      const { outcome, error } = await single.run(requestOf(botOf(`ctx.note('${count}')`)));
      expect([count, outcome, error]).to.deep.equal([count, 'ok', undefined]);
    }
    await single.close();
  });

  it('closes: what runs and what waits ends, and nothing more is taken', async () => {
    // The child of the other sandbox is there again, if a test before has ended it.
    await run('');
    const others = new Set(sandboxPids());
    const closing = createSandbox({ size: 1, queueLimit: 5, maxRssMb: 256 });
    closing.warm();
    let own: number[] = [];
    // A process has no command line for the instant in which it becomes another program.
    await until(() => (own = sandboxPids().filter((pid) => !others.has(pid))).length === 1);
    const runs = [closing.run(requestOf(botOf('for (;;);'))), closing.run(requestOf(botOf('')))];
    await closing.close();
    expect((await Promise.all(runs)).map(({ outcome }) => outcome)).to.deep.equal(['crashed', 'crashed']);
    expect(await closing.run(requestOf(botOf('')))).to.include({ outcome: 'crashed' });
    expect(sandboxPids()).not.to.include.members(own);
  });
});

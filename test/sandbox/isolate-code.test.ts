import { expect } from 'chai';
import { prepareIsolate } from '../../src/sandbox/child/isolate.ts';
import { isolateScript } from '../../src/sandbox/child/isolate-code.ts';
import { defaultLimits, runBounds } from '../../src/sandbox/run.ts';

describe('sandbox: our own code in an isolate', () => {
  const input = JSON.stringify({
    event: { id: 1, content: 'Hi', sender: { id: 1, type: 'contact' }, conversation: { id: 1 }, account: { id: 1 } },
    handler: 'message_created',
    config: {},
    withheld: [],
    seed: 1,
    now: 0,
    run: 'test',
    bounds: runBounds,
  });

  for (const heapMb of [8, 32, 128]) {
    it(`is taken as it was compiled, and runs bots, with a heap of ${heapMb} MiB`, async () => {
      const prepared = prepareIsolate(heapMb, () => undefined);
      expect(prepared.tookCompiled).to.equal(true);
      const run = prepared.begin(defaultLimits, 1000);
      const code = `({ default: { on: { message_created: (ctx) => ctx.reply(\`You said \${ctx.message.content}\`) } } })`;
      const actions = [{ content: 'You said Hi', type: 'reply' }];
      const { step } = (await run.start(code, input, () => undefined)) as { step: string };
      expect(JSON.parse(step)).to.deep.equal({ state: 'done', outcome: 'ok', actions });
      run.dispose();
    });
  }

  it('leaves no name and nothing of another run to a bot', async () => {
    const names = [...isolateScript.matchAll(/\b(?:const|let|function) (\w+)/g)].map(([, name]) => name);
    expect(names).to.include.members(['file_bootstrap', 'queueAction', 'harden', 'progress']);
    const probe = `${JSON.stringify(names)}.filter((name) => {
      try { return typeof (0, eval)(name) !== 'undefined'; } catch { return false; }
    })`;
    const code = `({ default: { on: { message_created: (ctx) => ctx.reply(String(${probe})) } } })`;
    const run = prepareIsolate(32, () => undefined).begin(defaultLimits, 1000);
    const { step } = (await run.start(code, input, () => undefined)) as { step: string };
    expect(JSON.parse(step).actions).to.deep.equal([{ content: '', type: 'reply' }]);
    run.dispose();
  });
});

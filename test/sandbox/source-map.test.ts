import { expect } from 'chai';
import { join } from 'node:path';
import { readPackage } from '../../src/packages/read/read.ts';
import { createSandbox } from '../../src/sandbox/parent/pool.ts';
import { inAuthorsFiles, withoutMap } from '../../src/sandbox/source-map.ts';
import { directoryOf, manifestOf, requestOf } from './helpers.ts';

const bot = `import { defineBot } from 'switchboard/bot';
import { fail } from './inner/fail.ts';

interface Unused { a: number }

export default defineBot({
  on: { message_created(ctx) { fail(ctx.message.content); } },
});`;
const inner = `type Text = string;

export function fail(text: Text): never {
  throw new Error('broken: ' + text.length);
}`;

describe("sandbox: stacks in the author's files", () => {
  it('name the line that threw, and nothing of ours', async function () {
    this.timeout(60_000);
    const files = { 'plugin.json': JSON.stringify(manifestOf()), 'bot.ts': bot, 'inner/fail.ts': inner };
    const inFolder = Object.entries(files).map(([name, text]) => [`sample/${name}`, text]);
    const { path, remove } = directoryOf(Object.fromEntries(inFolder) as Record<string, string>);
    const { bundle } = await readPackage(join(path, 'sample'));
    remove();
    const sandbox = createSandbox({ size: 1, queueLimit: 5, maxRssMb: 256 });
    const { outcome, error } = await sandbox.run(requestOf(bundle));
    await sandbox.close();
    expect(outcome).to.equal('threw');
    expect(error).to.match(/^Error: broken: \d+\n {4}at fail \(inner\/fail\.ts:4:9\)/);
    expect(error).to.match(/at .*message_created \(bot\.ts:7:32\)/);
    expect(error).not.to.match(/bot\.js|switchboard:/);
  });

  it('stay as they are without a map, whatever the code says', () => {
    const error = 'Error: x\n    at f (bot.js:1:20)';
    for (const code of [
      'f()',
      'f()\n//# sourceMappingURL=data:application/json;base64,AAAA',
      'const a = `\n//# sourceMappingURL=data:application/json;base64,AAAA`; f()',
      `f()\n//# sourceMappingURL=data:application/json;base64,${Buffer.from('{"version":3}').toString('base64')}`,
    ]) {
      expect(inAuthorsFiles(error, code), code).to.equal(error);
    }
    const spoken = 'const a = `\n//# sourceMappingURL=data:application/json;base64,AAAA`; f()';
    expect(withoutMap(spoken)).to.equal(spoken);
  });
});

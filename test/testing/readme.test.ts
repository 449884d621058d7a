import { expect } from 'chai';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { simulate } from 'switchboard/testing';

const root = fileURLToPath(new URL('../..', import.meta.url));
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const manifest = {
  id: 'readme',
  name: 'The bot of the README',
  version: '1.0.0',
  apiVersion: '1',
  description: 'Answers as the README says.',
  main: 'bot.ts',
  events: ['message_created'],
  permissions: { conversation: ['reply', 'handoff'] },
};

describe('the first screen of the README', function () {
  this.timeout(60_000);
  const parent = mkdtempSync(join(tmpdir(), 'switchboard-readme-'));
  const folder = join(parent, 'readme');
  const [code = ''] = [...readme.matchAll(/^```ts\n(.*?)^```$/gms)].map(([, block]) => block);

  after(() => rmSync(parent, { recursive: true, force: true }));

  it('has the picture, the two commands and a bot of eight lines', () => {
    const screen = readme.split('\n').slice(0, 40).join('\n');
    expect(screen).to.match(/!\[[^\]]+\]\(docs\/images\/\S+\.webp\)/);
    expect(screen).to.include('\nnpm ci --omit=dev\nnpm start ').and.include(code);
    expect(code.trim().split('\n')).to.have.lengthOf(8);
  });

  it('has a bot that answers, and hands over what it does not know', async () => {
    mkdirSync(folder);
    writeFileSync(join(folder, 'plugin.json'), JSON.stringify(manifest));
    writeFileSync(join(folder, 'bot.ts'), code);
    const sim = await simulate(folder);
    await sim.customer('When are you open?');
    sim.expectReply('Monday to Friday from 9:00 to 18:00.');
    await sim.customer('Where is my parcel?');
    expect(sim.conversation).to.include({ status: 'open', silence: 'handed_off' });
  });
});

import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { migrate } from '../../src/postgres/migrate.ts';
import { adminToken } from '../support/app.ts';
import { createDatabase, dropDatabase } from '../support/postgres.ts';
import { killServices, ServiceProcess } from '../support/service.ts';
import { newFolder, removeFolders } from './helpers.ts';

const launcher = fileURLToPath(new URL('../../bin/switchboard.js', import.meta.url));

function startDemo(url: string) {
  const args = [launcher, 'demo', '--url', url, '--token', adminToken];
  return spawn(process.execPath, args, { env: { PATH: process.env['PATH'] ?? '' }, cwd: newFolder() });
}

async function runDemo(url: string): Promise<{ code: number; output: string; errors: string }> {
  const child = startDemo(url);
  const [output, errors] = [text(child.stdout), text(child.stderr)];
  const [code] = (await once(child, 'close')) as [number];
  return { code, output: await output, errors: await errors };
}

/** What is there before and after a demo. */
async function found(service: ServiceProcess): Promise<unknown> {
  const { body: play } = await service.get('/play/requests');
  const counts = ['contacts', 'webhooks', 'labels'].map(async (path) => (await service.get(path)).body.payload.length);
  const { body: conversations } = await service.get('conversations');
  return { mode: play.mode, counts: await Promise.all(counts), conversations: conversations.data.payload.length };
}

describe('npm run demo', function () {
  this.timeout(240_000);
  let databaseUrl: string;

  beforeEach(async () => {
    databaseUrl = await createDatabase(migrate);
  });

  afterEach(async () => {
    await killServices();
    await dropDatabase(databaseUrl);
    removeFolders();
  });

  it('shows what the service is for, leaves nothing behind, and does so again', async () => {
    const env = { DEMO: 'true', SECRET_KEY: 'a key of the tests of the demo alone' };
    const service = await ServiceProcess.start({ databaseUrl, env });
    await service.call('PUT', '/play/mode', { mode: 'slow' });
    const before = await found(service);
    expect(before).to.deep.equal({ mode: 'slow', counts: [3, 1, 4], conversations: 0 });
    const interrupted = startDemo(service.url);
    const errors = text(interrupted.stderr);
    interrupted.stdout.on('data', (chunk: Buffer) => {
      if (chunk.includes('3. The customer')) interrupted.kill('SIGINT');
    });
    await once(interrupted, 'close');
    expect(await errors).to.match(/^\n?The demo was stopped; what it made is removed\.\n$/);
    expect(await found(service)).to.deep.equal(before);
    const { code, output, errors: none } = await runDemo(service.url);
    expect([code, none]).to.deep.equal([0, '']);
    for (const step of [
      /^ {3}bot {7}→ "Express delivery costs 12 euros.*\n +\[1\] Delivery: times and costs: https:\/\/shop\S+\/delivery" \(Shop assistant\)$/m,
      /^ {3}The conversation is open for people \(handoff_reason: keyword\)/m,
      /^ {3}person {4}→ takes the conversation over\n.*\n {3}bot {9}is silent: human_assigned$/m,
      /served by "Frequently asked questions", chosen by the conversation$/m,
      /^ {3}bot {7}→ "You can pay by card/m,
      /now snoozed\n[^]*now open\n[^]*The conversation is open again\.$/m,
      /"Is anybody there\?"\n +(evt_\S+), attempt 1, signature valid; answers 500\n {3}The receiver is well again\.\n.*\n +\1, attempt 2, signature valid; answers 200\n.*"Hello\?"/,
      /^Done: (\d+) posts received, \1 of them with a valid signature\./m,
    ])
      expect(output).to.match(step);
    expect(await found(service)).to.deep.equal(before);
    await service.stop();
  });

  it('says in one sentence what is missing where there is no demonstration data', async () => {
    const bare = await ServiceProcess.start({ databaseUrl });
    const { code, output, errors } = await runDemo(bare.url);
    expect([code, output]).to.deep.equal([1, '']);
    expect(errors).to.match(/^This service runs without demonstration data, .*DEMO=true.*\.\n$/);
    await bare.stop();
    const later = { DEMO: 'true', SECRET_KEY: 'a key that only the tests use, long enough' };
    const empty = await ServiceProcess.start({ databaseUrl, env: later });
    const missing = await runDemo(empty.url);
    expect(missing.errors).to.match(/^The first account has no inbox “Demo inbox” .*DATA_DIR\.\n$/);
    await empty.stop();
  });
});

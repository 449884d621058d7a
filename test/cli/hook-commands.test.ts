import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { writeServicePass } from '../../src/lib/service-pass.ts';
import { BotHouse } from '../runs/house.ts';
import { adminToken } from '../support/app.ts';
import { runCommand } from '../support/command.ts';
import { makeHook, send } from '../support/hook-senders.ts';
import { Receiver } from '../support/receiver.ts';

const launcher = fileURLToPath(new URL('../../bin/switchboard.js', import.meta.url));
const secrets = {
  STANDARD: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  GITHUB: 'secret-of-github',
  STRIPE: 'secret-of-stripe',
  SLACK: 'secret-of-slack',
  SHOPIFY: 'secret-of-shopify',
  TWILIO: 'secret-of-twilio',
  TELEGRAM: 'secret-of-telegram',
  META: 'secret-of-meta',
  BASIC: 'user:password',
};
type Scheme = keyof typeof secrets;
const verifyOf = (name: Scheme): string => (name === 'STANDARD' ? 'standard-webhooks' : name.toLowerCase());
const hooks = {
  open: { verify: 'none', id: '/id' },
  ...Object.fromEntries(
    (Object.keys(secrets) as Scheme[]).map((name) => [
      name.toLowerCase(),
      { verify: verifyOf(name), secret: name, ...(name === 'META' ? { verify_token: name } : {}) },
    ]),
  ),
};

describe('the commands on hooks', function () {
  this.timeout(180_000);
  let house: BotHouse;
  let folder: string;
  let receiver: Receiver;
  let child: ChildProcess | null = null;

  before(async () => {
    house = await BotHouse.open(
      {
        desk: { on: { hook_received: '' }, events: [], hooks, permissions: { hooks: true } },
        other: { on: { message_created: '' } },
      },
      { bodies: { desk: { secrets } } },
    );
    receiver = await Receiver.start();
    folder = mkdtempSync(join(tmpdir(), 'switchboard-cli-hooks-'));
    await writeServicePass(folder, { url: house.app.url, token: adminToken });
  });
  after(async () => {
    if (child?.exitCode === null && child.kill('SIGTERM')) await once(child, 'exit');
    await receiver.close();
    await house.close();
    rmSync(folder, { recursive: true });
  });

  const env = () => ({ PATH: process.env['PATH'] ?? '', DATA_DIR: folder });
  const run = (...args: string[]) => runCommand(args, { env: env(), cwd: folder });

  it('trigger hook signs a sample as the sender of each scheme would', async () => {
    for (const name of Object.keys(secrets) as Scheme[]) {
      const hook = await makeHook(house.app, house.botOf('desk'), name.toLowerCase());
      const args = ['trigger', 'hook', hook.url, '--verify', verifyOf(name)];
      const sent = await run(...args, '--secret', secrets[name]);
      expect([sent.code, sent.errors], name).to.deep.equal([0, '']);
      expect(sent.output).to.match(/^Sent request \S+: 20[02] accepted\n$/);
    }
    const hook = await makeHook(house.app, house.botOf('desk'), 'github');
    const refused = await run('trigger', 'hook', hook.url, '--verify', 'github', '--secret', 'another');
    expect([refused.code, refused.output]).to.deep.include(1);
    expect(refused.output).to.include('401 refused: the signature is not valid for this hook');
    const bare = await run('trigger', 'hook', hook.url, '--verify', 'github');
    expect(bare.code).to.equal(1);
    expect(bare.errors).to.include('give --secret');
  });

  it('trigger hook sends a file, with an id, and prints JSON', async () => {
    const hook = await makeHook(house.app, house.botOf('desk'), 'open');
    writeFileSync(join(folder, 'order.json'), '{"id":"from-a-file"}');
    const args = ['trigger', 'hook', hook.url, '--data', '@order.json', '--json'];
    expect(JSON.parse((await run(...args)).output)).to.deep.include({ status: 202, body: '{"id":"from-a-file"}' });
    expect((await send(hook.url, '{"id":"from-a-file"}')).body.duplicate).to.equal(true);
    expect((await run('trigger', 'hook', hook.url, '--data', '@none.json')).errors).to.include('cannot be read');
    expect((await run('trigger', 'hook', 'nowhere')).errors).to.include('is not a URL');
  });

  it('plugin hooks lists the hooks of a plugin, with their latest requests', async () => {
    const hook = await makeHook(house.app, house.botOf('desk'), 'github');
    await send(hook.url, '{}');
    const listed = await run('plugin', 'hooks', 'desk');
    expect([listed.code, listed.errors]).to.deep.equal([0, '']);
    expect(listed.output).to.match(
      new RegExp(`Hook ${hook.id} "github": github of bot \\d+, http://127\\.0\\.0\\.1:\\d+/hooks/…`),
    );
    expect(listed.output).to.include('refused: missing_signature');
    const json = JSON.parse((await run('plugin', 'hooks', 'desk', '--json')).output);
    expect(json.payload.at(-1)).to.deep.include({ id: hook.id });
    expect(json.payload.at(-1).requests).to.have.length(1);
    expect((await run('plugin', 'hooks', 'other')).output).to.include('The plugin other has no hooks');
  });

  it('listen --incoming prints requests as they come, and forwards what is not secret of them', async () => {
    const hook = await makeHook(house.app, house.botOf('desk'), 'open');
    await send(hook.url, '{"id":"before"}');
    let printed = '';
    child = spawn(process.execPath, [launcher, 'listen', '--incoming', '--forward', receiver.url], {
      env: env(),
      cwd: folder,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    child.stdout!.on('data', (chunk: Buffer) => (printed += chunk.toString()));
    let errors = '';
    child.stderr!.on('data', (chunk: Buffer) => (errors += chunk.toString()));
    await house.app.eventually(async () => errors.includes('Listening to the hooks of account 1'));
    // The first look has to be over: what came before is not shown.
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    const headers = { 'content-type': 'application/json', authorization: 'Bearer canary', 'x-shop': 'mine' };
    const { body } = await send(hook.url, '{"id":"while listening"}', headers);
    await send(hook.url, '{"id":"while listening"}', headers);
    await house.app.eventually(async () => printed.split('\n').length > 2);
    expect(printed).to.match(new RegExp(`open  #${body.id}  hook ${hook.id}  accepted  24 bytes  → 20\\d`));
    expect(printed).to.match(/hook \d+ {2}duplicate {2}24 bytes\n/);
    expect(printed).to.not.include('before');
    const [received] = receiver.received;
    expect(received!.text).to.equal('{"id":"while listening"}');
    expect(received!.headers['x-shop']).to.equal('mine');
    expect(JSON.stringify(received!.headers)).to.not.include('canary');
  });
});

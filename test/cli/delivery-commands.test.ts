import { expect } from 'chai';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeServicePass } from '../../src/lib/service-pass.ts';
import { adminToken, TestApp } from '../support/app.ts';
import { runCommand } from '../support/command.ts';
import { Receiver } from '../support/receiver.ts';

describe('the commands on deliveries', function () {
  this.timeout(120_000);
  let app: TestApp;
  let receiver: Receiver;
  let folder: string;
  let webhook: { id: number; secret: string };

  before(async () => {
    app = await TestApp.start();
    receiver = await Receiver.start();
    folder = mkdtempSync(join(tmpdir(), 'switchboard-cli-'));
    await writeServicePass(folder, { url: app.url, token: adminToken });
    webhook = (await app.post('webhooks', { url: receiver.url, subscriptions: ['contact_created'] })).body;
    receiver.answerWith((_, response) => response.writeHead(500, { 'x-why': 'deploying' }).end('out of order'));
    await app.post('contacts', { name: 'Ada' });
    await app.eventually(async () => (await app.get('deliveries?state=failing')).body.payload.length > 0);
  });

  after(async () => {
    await app.stop();
    await receiver.close();
    rmSync(folder, { recursive: true });
  });

  function run(args: string[], env: Record<string, string> = { DATA_DIR: folder }) {
    return runCommand(args, { env: { PATH: process.env['PATH'] ?? '', ...env }, cwd: folder });
  }

  it('list and show what was sent, with the answer', async () => {
    const listed = await run(['deliveries', 'list', '--state', 'failing', '--webhook', String(webhook.id)]);
    expect([listed.code, listed.errors]).to.deep.equal([0, '']);
    expect(listed.output)
      .to.match(/DELIVERY +TIME/)
      .and.match(new RegExp(`webhook ${webhook.id} +contact_created +- +failing +live +1 +bad_status`));
    const [, id] = /^(\d+)/m.exec(listed.output) ?? [];
    const shown = await run(['deliveries', 'show', id!]);
    expect(shown.code, shown.errors).to.equal(0);
    for (const part of [
      'failed: bad_status (500)',
      '> webhook-signature: v1,',
      '"event":"contact_created"',
      '< x-why: deploying',
      '< out of order',
    ])
      expect(shown.output).to.contain(part);
    const json = JSON.parse((await run(['deliveries', 'show', id!, '--json'])).output) as { attempts: object[] };
    expect(json).to.deep.equal((await app.get(`deliveries/${id}`)).body);
    const none = await run(['deliveries', 'list', '--state', 'exhausted']);
    expect(none.output).to.equal('There are no such deliveries.\n');
  });

  it('resend tells what became of it, by its exit code too', async () => {
    const [{ id }] = (await app.get('deliveries?state=failing')).body.payload;
    const failed = await run(['deliveries', 'resend', String(id)]);
    expect([failed.code, failed.output]).to.deep.include(1);
    expect(failed.output).to.match(/contact_created to webhook \d+ is delivery \d+, failing: bad_status 500/);
    receiver.answerWith((_, response) => response.end());
    const sent = await run(['deliveries', 'resend', String(id), '--json']);
    expect(sent.code, sent.output + sent.errors).to.equal(0);
    expect(JSON.parse(sent.output)).to.include({ state: 'delivered', trigger: 'resend' });
  });

  it('trigger sends a sample to every active subscriber, or to one', async () => {
    receiver.received.length = 0;
    await app.post('webhooks', { url: receiver.url, subscriptions: ['contact_created'], active: false });
    const all = await run(['trigger', 'contact_created']);
    expect(all.code, all.output + all.errors).to.equal(0);
    expect(all.output).to.match(/contact_created to webhook \d+ is delivery \d+, delivered: 200/);
    expect(receiver.received.map(({ headers, body }) => [headers['webhook-test'], body['event']])).to.deep.equal([
      ['true', 'contact_created'],
    ]);
    const nobody = await run(['trigger', 'message_created']);
    expect(nobody.code).to.equal(1);
    expect(nobody.errors).to.contain('No active webhook is subscribed to message_created');
    const one = await run(['trigger', 'message_created', '--webhook', String(webhook.id), '--json']);
    expect(JSON.parse(one.output).payload[0]).to.include({
      event: 'message_created',
      state: 'delivered',
      trigger: 'test',
    });
    receiver.answerWith((_, response) => response.writeHead(503).end());
    expect((await run(['trigger', 'contact_created'])).code).to.equal(1);
  });

  it('find the service by SWITCHBOARD_URL and SWITCHBOARD_TOKEN, and the account by --account', async () => {
    const env = { SWITCHBOARD_URL: app.url, SWITCHBOARD_TOKEN: adminToken, DATA_DIR: join(folder, 'nothing') };
    expect((await run(['deliveries', 'list', '--account', '1', '--json'], env)).code).to.equal(0);
    const refused = await run(['deliveries', 'list', '--account', '999'], env);
    expect([refused.code, refused.errors]).to.deep.equal([1, 'The service refused (404): Account not found\n']);
    const stranger = await run(['deliveries', 'list', '--token', 'wrong'], env);
    expect([stranger.code, stranger.output]).to.deep.equal([1, '']);
  });
});

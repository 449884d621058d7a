import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect } from 'chai';
import { adminToken } from '../support/app.ts';
import { fail, Sending } from '../support/sending.ts';

const pathOf = (name: string) => fileURLToPath(new URL(`../../${name}`, import.meta.url));
const page = readFileSync(pathOf('docs/webhooks.md'), 'utf8');
const commands = Array.from(page.matchAll(/^```sh\n(.*?)^```$/gms), ([, block]) => block).join('\n');

// The commands are this checkout's, an error of the service ends the script, and a stream ends after a while.
const prelude = `
set -euo pipefail
npx() { shift; "$NODE" "$LAUNCHER" "$@"; }
curl() { command curl --fail-with-body --max-time 2 "$@" || [ $? -eq 28 ]; }
`;

describe('the commands of docs/webhooks.md', function () {
  this.timeout(120_000);
  const sending = Sending.use();

  async function run(env: Record<string, string>) {
    const all = { PATH: process.env['PATH'] ?? '', NODE: process.execPath, LAUNCHER: pathOf('bin/switchboard.js') };
    const child = spawn('bash', ['-c', prelude + commands], { env: { ...all, ...env } });
    const [output, errors] = [text(child.stdout), text(child.stderr)];
    const [code] = (await once(child, 'close')) as [number];
    return { code, output: await output, errors: await errors };
  }

  it('do what the page says, one after the other', async function () {
    if (spawnSync('curl', ['--version']).error) this.skip();
    const { app, receiver } = sending;
    const webhook = await sending.webhookFor('contact_created', 'message_created');
    receiver.answerWith(fail);
    await sending.made('contacts', { name: 'Lost' });
    await sending.eventuallyIn(webhook, 'failing');
    expect((await app.post(`webhooks/${webhook.id}/cancel_pending`)).body).to.deep.equal({ count: 1 });
    await sending.made('contacts', { name: 'Late' });
    const [late] = await sending.eventuallyIn(webhook, 'failing');
    receiver.answerWith((_, response) => response.end());

    const { code, output, errors } = await run({
      URL: app.url,
      TOKEN: adminToken,
      SWITCHBOARD_URL: app.url,
      SWITCHBOARD_TOKEN: adminToken,
      WEBHOOK: String(webhook.id),
      DELIVERY: String(late.id),
      SINCE: String(Math.floor(Date.now() / 1000) - 3600),
    });
    expect(code, output + errors).to.equal(0);
    expect(await sending.stateOf(late.id)).to.equal('delivered');
    const sent = await app.eventually(async () => {
      const all = await sending.deliveriesOf(webhook, '?state=delivered');
      return all.filter(({ trigger }) => trigger === 'recover').length === 1 && all;
    });
    const count = (trigger: string) => sent.filter((delivery) => delivery.trigger === trigger).length;
    expect([count('live'), count('resend'), count('recover'), count('test')]).to.deep.equal([1, 2, 1, 3]);
    const named = receiver.received.map(({ body }) => body['name']);
    expect(named.filter((name) => name === 'Lost')).to.have.length(2);
    expect((await app.get(`webhooks/${webhook.id}`)).body).to.include({ active: true, paused: false });
    for (const told of [
      'failed: bad_status (500)',
      '"paused":true',
      '"success_rate":',
      '"next_cursor":',
      'retry: 1000',
    ])
      expect(output).to.contain(told);
  });
});

import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { migrate } from '../../src/postgres/migrate.ts';
import { openShop, type Shop } from '../runs/shop.ts';
import { directoryOf, manifestOf } from '../sandbox/helpers.ts';
import { createDatabase, dropDatabase } from '../support/postgres.ts';
import { killServices, ServiceProcess } from '../support/service.ts';
import { eventually, rowsOf, seededRandom, tellSeed } from './helpers.ts';

/** A few, so that it is no long test; all with FAULT_KILLS=50. */
const kills = Number(process.env['FAULT_KILLS'] ?? 3);
const asked = 4;
const startMs = 120_000;
const settleMs = 180_000;

/** What a bot does around a slow request; all of it or nothing is kept. */
const handler = (host: string) => `export default { on: { async message_created(ctx) {
  await ctx.storage.incr('runs'); await ctx.storage.contact.set('last', ctx.now.getTime());
  const { status } = await ctx.fetch('https://${host}/slow');
  ctx.schedule({ inSeconds: 3600 }, 'later', { status });
  ctx.label.add('asked'); ctx.reply('The shop says ' + status);
} } };`;

/** What is left of each conversation, and what its last word by a bot delivery was. */
const left = `
  SELECT c.id::int, c.status,
    (SELECT count(*)::int FROM messages m WHERE m.conversation_id = c.id AND m.sender_kind = 'agent_bot') AS replies,
    (SELECT count(*)::int FROM messages m WHERE m.conversation_id = c.id AND m.private) AS notes,
    (SELECT coalesce(sum(s.value::text::int), 0)::int FROM bot_storage s WHERE s.conversation_id = c.id AND s.key = 'runs') AS stored,
    (SELECT count(*)::int FROM bot_storage s WHERE s.contact_id = c.contact_id) AS of_contact,
    (SELECT count(*)::int FROM bot_schedules s WHERE s.conversation_id = c.id) AS scheduled,
    (SELECT count(*)::int FROM bot_runs r WHERE r.conversation_id = c.id AND r.outcome = 'ok') AS good
  FROM conversations c WHERE c.id = ANY ($1) ORDER BY c.id`;

describe('a service that is killed while bots wait for their requests', function () {
  this.timeout(startMs * kills + settleMs);
  let shop: Shop;
  let url: string;
  let plugins: { path: string; remove: () => void };
  let env: Record<string, string>;

  before(async () => {
    shop = await openShop();
    url = await createDatabase(migrate);
    const permissions = {
      conversation: ['reply', 'label'],
      network: { hosts: [shop.host] },
      storage: { scopes: ['conversation', 'contact'] },
      schedule: true,
    };
    const manifest = manifestOf({ id: 'asking', main: 'bot.js', permissions });
    plugins = directoryOf({
      'bots/asking/plugin.json': JSON.stringify(manifest),
      'bots/asking/bot.js': handler(shop.host),
    });
    const certificate = join(plugins.path, 'shop.pem');
    writeFileSync(certificate, shop.certificate);
    env = {
      DEMO: 'true',
      LEASE_SECONDS: '5',
      WEBHOOK_TIMEOUT_MS: '1000',
      SANDBOX_RUNNERS: '1',
      PLUGIN_DIRS: join(plugins.path, 'bots'),
      NODE_EXTRA_CA_CERTS: certificate,
    };
  });
  after(async () => {
    await killServices();
    shop.close();
    plugins.remove();
    await dropDatabase(url);
  });

  it(`${kills} times: each is answered once, with all that the run did, or people have it and nothing is left of the run`, async () => {
    const random = seededRandom(tellSeed());
    let service = await ServiceProcess.start({ databaseUrl: url, env });
    await service.withoutDemoWebhook();
    const bot = await service.post('agent_bots', { name: 'Asking', kind: 'plugin', plugin_id: 'asking' });
    expect(bot.status, JSON.stringify(bot.body)).to.equal(201);
    const inbox = await service.post('inboxes', { name: 'Asking', channel: { type: 'api' } });
    await service.post(`inboxes/${inbox.body.id}/set_agent_bot`, { agent_bot: bot.body.id });
    const ids: number[] = [];
    let interrupted = 0;
    for (let kill = 0; kill < kills; kill += 1) {
      const before = shop.asked.length;
      for (let count = 0; count < asked; count += 1) {
        const contact = await service.post('contacts', { name: 'Customer' });
        const opened = { inbox_id: inbox.body.id, contact_id: contact.body.id };
        const { id } = (await service.post('conversations', opened)).body;
        expect(
          (await service.post(`conversations/${id}/messages`, { content: 'Hello?', message_type: 'incoming' })).status,
        ).to.equal(201);
        ids.push(id as number);
      }
      // Some are under way: their requests are at the shop, which answers after 300 ms.
      await eventually(() => shop.asked.length > before, startMs);
      // The first one surely before that.
      await sleep(random() * (kill === 0 ? 200 : 400));
      await service.kill();
      interrupted += (await leases()) > 0 ? 1 : 0;
      service = await ServiceProcess.start({ databaseUrl: url, env });
    }
    await eventually(
      async () => (await pending()) === 0,
      settleMs,
      async () => `${await pending()} deliveries are pending`,
    );
    await service.stop();

    const kept = await rowsOf<Record<string, unknown>>(url, left, [ids]);
    expect(kept).to.have.length(kills * asked);
    for (const { id, ...one } of kept) {
      const answered = { status: 'pending', replies: 1, notes: 0, stored: 1, of_contact: 1, scheduled: 1, good: 1 };
      const handedOver = { status: 'open', replies: 0, notes: 1, stored: 0, of_contact: 0, scheduled: 0, good: 0 };
      expect(one, `conversation ${String(id)}`).to.be.deep.oneOf([answered, handedOver]);
    }
    console.log(
      `      ${interrupted} of ${kills} kills met runs under way; ${kept.filter(({ replies }) => replies === 1).length} of ${kept.length} answered`,
    );
    expect(interrupted).to.be.above(0);
  });

  const pending = async (): Promise<number> =>
    (await rowsOf(url, `SELECT FROM deliveries WHERE endpoint_kind = 'bot' AND state = 'pending'`)).length;
  const leases = async (): Promise<number> =>
    (await rowsOf(url, `SELECT FROM lanes WHERE endpoint_kind = 'bot' AND lease_token IS NOT NULL`)).length;
});

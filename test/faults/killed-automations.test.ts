import { expect } from 'chai';
import { migrate } from '../../src/postgres/migrate.ts';
import { createDatabase, dropDatabase } from '../support/postgres.ts';
import { killServices, ServiceProcess } from '../support/service.ts';
import { rowsOf, seededRandom, tellSeed } from './helpers.ts';
import { settled } from './ledger.ts';

/** A few, so that it is no long test; all with FAULT_KILLS=50. */
const kills = Number(process.env['FAULT_KILLS'] ?? 4);
const conversations = 3;
const messages = 5;
const settleMs = 120_000;
const env = { DEMO: 'true', LEASE_SECONDS: '5', WEBHOOK_TIMEOUT_MS: '4000', SANDBOX_RUNNERS: '1' };

describe('automations of a service that is killed', function () {
  this.timeout(200_000 + kills * 50_000);
  after(killServices);

  it(`${kills} times act once on each message, in order`, async () => {
    const random = seededRandom(tellSeed());
    const databaseUrl = await createDatabase(migrate);
    const start = () => ServiceProcess.start({ databaseUrl, env });
    const first = await (await start()).withoutDemoWebhook();
    // From JSON: an object with `then` looks like a promise.
    const config = JSON.parse(`{"rules":[{"name":"Note","on":["message_created"],
      "if":{"all":[{"attribute":"message_type","operator":"equal_to","values":["incoming"]}]},
      "then":[{"action":"note","content":"Noted"}]}]}`) as object;
    const made = await first.post('automations', { name: 'Notes', plugin_id: 'rules', config });
    expect(made.status).to.equal(201);
    const inbox = (await first.post('inboxes', { name: 'Quiet', channel: { type: 'api' } })).body.id as number;
    const contact = (await first.post('contacts', { name: 'Customer' })).body.id as number;
    await first.kill();
    const said: string[] = [];
    for (let life = 0; life < kills; life += 1) {
      const service = await start();
      const dyingAt = 1 + Math.floor(random() * conversations * messages);
      const begun = said.length;
      const write = async (): Promise<void> => {
        const { body } = await service.post('conversations', { inbox_id: inbox, contact_id: contact });
        for (let number = 0; number < messages; number += 1) {
          const path = `conversations/${body.id}/messages`;
          const { status } = await service.post(path, { content: `${life} ${number}`, message_type: 'incoming' });
          expect(status).to.equal(201);
          said.push(`${body.id} ${life} ${number}`);
          if (said.length - begun === dyingAt) setTimeout(() => void service.kill(), random() * 50);
        }
      };
      // Errors are those of a dead service: nothing was acknowledged.
      await Promise.allSettled(Array.from({ length: conversations }, write));
      await service.kill();
    }
    const last = await start();
    await settled(databaseUrl, settleMs);
    await last.stop();
    const rows = await rowsOf<{ asked: number; noted: number; told: number; conversation: number }>(
      databaseUrl,
      `SELECT conversation_id AS conversation, count(*) FILTER (WHERE message_type = 'incoming')::int AS asked,
         count(*) FILTER (WHERE content = 'Noted' AND private)::int AS noted,
         (SELECT count(DISTINCT event_id)::int FROM bot_runs r
          WHERE r.conversation_id = m.conversation_id AND outcome = 'ok' AND actions::text <> '[]') AS told
       FROM messages m WHERE conversation_id IN (SELECT id FROM conversations WHERE inbox_id = ${inbox})
       GROUP BY conversation_id`,
    );
    expect(rows.length).to.be.at.least(kills);
    expect(rows.reduce((sum, { asked }) => sum + asked, 0)).to.be.at.least(said.length);
    for (const { conversation, asked, noted, told } of rows)
      expect([conversation, noted, told]).to.deep.equal([conversation, asked, asked]);
    await dropDatabase(databaseUrl);
  });
});

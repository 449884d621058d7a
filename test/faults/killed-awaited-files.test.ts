import { setTimeout as sleep } from 'node:timers/promises';
import { expect } from 'chai';
import { migrate } from '../../src/postgres/migrate.ts';
import { FakeMessenger } from '../support/fake-messenger.ts';
import { byGithub, send } from '../support/hook-senders.ts';
import { createDatabase, dropDatabase } from '../support/postgres.ts';
import { killServices, ServiceProcess } from '../support/service.ts';
import { eventually, rowsOf, seededRandom, tellSeed } from './helpers.ts';
import { settled } from './ledger.ts';

/** A few, so that it is no long test; all with FAULT_KILLS=50. */
const kills = Number(process.env['FAULT_KILLS'] ?? 4);
const perLife = 4;
const settleMs = 120_000;
const secret = 'a-secret-of-the-hook';
const env = { LEASE_SECONDS: '5', WEBHOOK_TIMEOUT_MS: '4000', SANDBOX_RUNNERS: '1' };

interface Shown {
  external_id: string;
  content: string;
  files: number;
  awaits: boolean;
}

describe('files that channels await, in a service that is killed', function () {
  this.timeout(200_000 + kills * 50_000);
  after(killServices);

  it(`come once to each message, which comes once, over ${kills} kills`, async () => {
    const random = seededRandom(tellSeed());
    const databaseUrl = await createDatabase(migrate);
    const messenger = await FakeMessenger.start();
    messenger.files.set('/file', Buffer.from('a text of the customer'));
    let asked: () => void = () => undefined;
    let isDown = true;
    const statuses: (number | null)[] = [];
    messenger.onFile = async () => {
      const status = isDown && random() < 0.5 ? 503 : null;
      statuses.push(status);
      asked();
      await sleep(random() * 20);
      return status;
    };
    const start = () => ServiceProcess.start({ databaseUrl, env });
    const first = await start();
    const incoming = {
      source_id: '/from/id',
      external_id: '/id',
      content: '/text',
      attachments: { list: '/files', url: '/url', file_name: '/name' },
    };
    const channel = {
      type: 'plugin',
      plugin_id: 'http-channel',
      config: { api_url: messenger.url, incoming },
      secrets: { API_TOKEN: 'token', HOOK_SECRET: secret },
    };
    const { body: inbox } = await first.post('inboxes', { name: 'Messenger', channel });
    const hook = new URL(inbox.hook_url as string).pathname;
    await first.kill();
    const written: string[] = [];
    /** Has all that waits be tried at once, as if its time had come. */
    const hurry = async (): Promise<void> => {
      await rowsOf(databaseUrl, `UPDATE deliveries SET next_attempt_at = now(), failures = 0 WHERE state = 'pending'`);
      await rowsOf(
        databaseUrl,
        `UPDATE lanes l SET due_at = now() WHERE lease_token IS NULL
           AND EXISTS (SELECT FROM deliveries d WHERE d.lane_id = l.id AND d.state = 'pending')`,
      );
    };
    for (let life = 0; life < kills; life += 1) {
      const service = await start();
      let left = 1 + Math.floor(random() * perLife * 2);
      const { promise: dies, resolve } = Promise.withResolvers<void>();
      asked = () => {
        left -= 1;
        if (left === 0) setTimeout(resolve, random() * 60);
      };
      for (let number = 0; number < perLife; number += 1) {
        const id = `${life}-${number}`;
        const files = [
          { url: `${messenger.url}/file`, name: `${id}.txt` },
          { url: `${messenger.url}/file`, name: `${id}b.txt` },
        ];
        const body = JSON.stringify({ from: { id: `c-${number}` }, id, text: `Text ${id}`, files });
        const { status, text } = await send(service.url + hook, body, byGithub(body, secret, id));
        expect(status, text).to.equal(202);
        written.push(id);
      }
      await hurry();
      await Promise.race([dies, sleep(10_000)]);
      await service.kill();
    }
    asked = () => undefined;
    isDown = false;
    const last = await start();
    // Leases of the dead end first.
    await sleep(6_000);
    await hurry();
    await settled(databaseUrl, settleMs);
    const shown = await eventually(async () => {
      const rows = await rowsOf<Shown>(
        databaseUrl,
        `SELECT m.source_id AS external_id, m.content, coalesce(jsonb_array_length(m.attachments), 0)::int AS files,
           m.content_attributes ? 'awaited_files' AS awaits FROM messages m ORDER BY m.id`,
      );
      return rows.length >= written.length && rows;
    });
    await last.stop();
    await messenger.stop();
    const inOrder = shown.toSorted(
      (one, other) => written.indexOf(one.external_id) - written.indexOf(other.external_id),
    );
    expect(inOrder).to.deep.equal(
      written.map((id) => ({ external_id: id, content: `Text ${id}`, files: 2, awaits: false })),
    );
    const kept = await rowsOf(databaseUrl, 'SELECT FROM attachments WHERE message_id IS NOT NULL');
    expect(kept).to.have.length(written.length * 2);
    expect(statuses).to.include.members([503, null]);
    await dropDatabase(databaseUrl);
  });
});

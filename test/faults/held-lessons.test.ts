import type { ServerResponse } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { TestApp } from '../support/app.ts';
import { hold } from '../support/lock.ts';
import { addAccount } from '../support/people.ts';
import { Receiver } from '../support/receiver.ts';
import { stopClean } from './ledger.ts';

// Longer than any of it takes: whatever arrives meanwhile has not waited for the lock.
const lockTimeoutMs = 120_000;
// After five seconds a lesson would be given up.
const neighbours = 5;
// As many as go to one endpoint at once.
const failing = 8;

describe('attempts that fail while the row of their webhook is locked', function () {
  this.timeout(60_000);

  it("keep no other tenant's deliveries waiting, and are counted once it is free", async () => {
    const app = await TestApp.start({
      config: { endpointInFlight: failing, lockTimeoutMs, statementTimeoutMs: lockTimeoutMs },
    });
    const [sick, well] = [await Receiver.start(), await Receiver.start()];
    try {
      const subscriptions = ['contact_created'];
      const { id } = (await app.post('webhooks', { url: sick.url, subscriptions })).body;
      const neighbour = await addAccount(app, 'Neighbour');
      const tell = async (): Promise<void> => {
        const path = `/api/v1/accounts/${neighbour.id}/contacts`;
        const count = well.received.length;
        await app.call('POST', path, { name: 'Nora' }, neighbour.administrator.headers);
        await well.waitFor(count + 1);
      };
      const hooks = `/api/v1/accounts/${neighbour.id}/webhooks`;
      await app.call('POST', hooks, { url: well.url, subscriptions }, neighbour.administrator.headers);
      // Each success allows the webhook one more at a time.
      for (let count = 0; count < failing; count += 1) await app.post('contacts', { name: 'Early' });
      await app.eventually(
        async () => (await app.query(`SELECT FROM deliveries WHERE state = 'pending'`)).length === 0,
      );
      const underWay: ServerResponse[] = [];
      sick.answerWith((_, response) => void underWay.push(response));
      for (let count = 0; count < failing; count += 1) await app.post('contacts', { name: 'Late' });
      await app.eventually(() => Promise.resolve(underWay.length === failing));

      const release = await hold(app.databaseUrl, 'SELECT FROM webhooks WHERE id = $1 FOR UPDATE', [id]);
      for (const response of underWay) response.writeHead(500).end();
      sick.answerWith((_, response) => response.end());
      try {
        await sleep(100);
        for (let count = 0; count < neighbours; count += 1) await tell();
      } finally {
        await release();
      }
      await app.eventually(async () => {
        const [row] = await app.query<{ failures: number }>(
          'SELECT consecutive_failures AS failures FROM webhooks WHERE id = $1',
          [id],
        );
        return row?.failures === failing;
      });
    } finally {
      await stopClean(app);
      await Promise.all([sick.close(), well.close()]);
    }
  });
});

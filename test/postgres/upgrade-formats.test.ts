import { expect } from 'chai';
import { Client } from 'pg';
import { systemRandom } from '../../src/lib/ports.ts';
import { createSecretBox, newWebhookSecret } from '../../src/lib/secrets/secret-box.ts';
import { hashToken } from '../../src/lib/secrets/tokens.ts';
import { migrate } from '../../src/postgres/migrate.ts';
import { adminToken, TestApp } from '../support/app.ts';
import { createDatabaseOf010 } from '../support/release.ts';

// The service refuses to start on secrets that it cannot open.
const box = createSecretBox('a key that only the tests use, long enough', systemRandom);
const sealed = box.seal(newWebhookSecret(systemRandom));

async function fill(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`
      INSERT INTO accounts (name) VALUES ('First');
      INSERT INTO users (name, email, confirmed, platform_admin) VALUES ('Boss', 'boss@example.com', true, true);
      INSERT INTO agents (account_id, user_id, role) VALUES (1, 1, 'administrator');
      INSERT INTO contacts (account_id, name) VALUES (1, 'Customer');
      INSERT INTO webhooks (account_id, url, subscriptions, secret) VALUES (1, 'http://127.0.0.1:9/', '{contact_updated}', '${sealed}');
      INSERT INTO agent_bots (account_id, name, kind, outgoing_url, secret, events)
        VALUES (1, 'Old', 'webhook', 'https://bot.example.com/', '${sealed}', '{message_created}');
      INSERT INTO lanes (account_id, endpoint_kind, endpoint_id, subject_kind, subject_id) VALUES (1, 'webhook', 1, 'contact', 1);
      INSERT INTO events (account_id, name, contact_id, account_payload) VALUES (1, 'contact_updated', 1, '{"old": true}');
      INSERT INTO deliveries (account_id, event_id, lane_id, endpoint_kind, endpoint_id, attempt) VALUES (1, 1, 1, 'webhook', 1, 1);
      INSERT INTO attempts (account_id, delivery_id, number, outcome) VALUES (1, 1, 1, 'failed');`);
    await client.query(`INSERT INTO access_tokens (user_id, token_hash, last_four) VALUES (1, $1, 'last')`, [
      hashToken(adminToken),
    ]);
  } finally {
    await client.end();
  }
}

describe('webhooks, bots and deliveries of 0.1.0, after an upgrade', () => {
  it('have the default format, and are sent what was recorded', async () => {
    const databaseUrl = await createDatabaseOf010();
    await fill(databaseUrl);
    expect(await migrate(databaseUrl)).to.deep.equal(['20261124-0.2.0']);
    const app = await TestApp.start({ engine: false, databaseUrl });
    try {
      expect((await app.get('webhooks/1')).body.format).to.equal('default');
      expect((await app.get('agent_bots/1')).body.format).to.equal('default');
      const { body } = await app.get('deliveries/1');
      expect(body.attempts[0].request.body).to.equal('{"old": true}');
      expect((await app.patch('contacts/1', { name: 'Changed' })).status).to.equal(200);
      const deliveries = await app.query('SELECT format FROM deliveries ORDER BY id');
      expect(deliveries).to.deep.equal([{ format: null }, { format: null }]);
      expect((await app.patch('webhooks/1', { format: 'chatwoot' })).body.format).to.equal('chatwoot');
      expect((await app.patch('contacts/1', { name: 'Again' })).status).to.equal(200);
      const made = await app.query<{ name: string }>(
        `SELECT e.chatwoot_payload->>'name' AS name FROM deliveries d JOIN events e ON e.id = d.event_id WHERE d.format = 'chatwoot'`,
      );
      expect(made).to.deep.equal([{ name: 'Again' }]);
    } finally {
      await app.stop();
    }
  });
});

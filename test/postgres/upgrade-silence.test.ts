import { expect } from 'chai';
import { Client } from 'pg';
import { hashToken } from '../../src/lib/secrets/tokens.ts';
import { migrate } from '../../src/postgres/migrate.ts';
import { adminToken, TestApp } from '../support/app.ts';
import { createDatabaseOf010 } from '../support/release.ts';

const served = 1;
const bare = 2;
const usual = 1;
const chosen = 2;

/** Conversations of 0.1.0: where, by whose choice, in what status, why silent; and the bot and the reason told now. */
const conversations: [number, number | null, string, string | null, [number | null, string | null]][] = [
  [served, null, 'pending', null, [usual, null]],
  [served, null, 'open', 'handed_off', [usual, 'handed_off']],
  [served, chosen, 'open', 'bot_failed', [chosen, 'bot_failed']],
  [served, null, 'pending', 'human_replied', [usual, 'human_replied']],
  [served, null, 'open', 'human_opened', [usual, 'human_opened']],
  [bare, null, 'open', 'loop_suspected', [null, 'no_bot']],
  [bare, null, 'open', 'human_replied', [null, 'no_bot']],
];

async function fill(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(`
      INSERT INTO accounts (name) VALUES ('First');
      INSERT INTO users (name, email, confirmed, platform_admin) VALUES ('Boss', 'boss@example.com', true, true);
      INSERT INTO agents (account_id, user_id, role, availability) VALUES (1, 1, 'administrator', 'online');
      INSERT INTO agent_bots (account_id, name, kind, plugin_id, events)
        SELECT 1, name, 'plugin', 'faq', '{message_created}'
        FROM unnest('{Usual,Chosen}'::text[]) AS name;
      INSERT INTO inboxes (account_id, name, channel_type, identifier, agent_bot_id)
        VALUES (1, 'Served', 'Channel::Api', 'served', 1), (1, 'Bare', 'Channel::Api', 'bare', NULL);
      INSERT INTO contacts (account_id, name) VALUES (1, 'Customer');`);
    await client.query(`INSERT INTO access_tokens (user_id, token_hash, last_four) VALUES (1, $1, 'last')`, [
      hashToken(adminToken),
    ]);
    for (const [inbox, bot, status, silence] of conversations) {
      await client.query(
        `INSERT INTO conversations (account_id, inbox_id, contact_id, agent_bot_id, status, bot_silence)
         VALUES (1, $1, 1, $2, $3, $4)`,
        [inbox, bot, status, silence],
      );
    }
  } finally {
    await client.end();
  }
}

describe('silences of 0.1.0, after an upgrade', () => {
  let app: TestApp;

  before(async () => {
    const databaseUrl = await createDatabaseOf010();
    await fill(databaseUrl);
    expect(await migrate(databaseUrl)).to.deep.equal(['20261124-0.2.0']);
    app = await TestApp.start({ engine: false, databaseUrl });
  });

  after(() => app.stop());

  async function explain(id: number): Promise<[number | null, string | null]> {
    const { agent_bot: bot, reason } = (await app.get(`conversations/${id}/agent_bot`)).body;
    return [bot?.id ?? null, reason];
  }

  it('are the acting bot’s or the people’s, as they were made', async () => {
    for (const [index, [, , , , told]] of conversations.entries()) {
      expect(await explain(index + 1), `conversation ${index + 1}`).to.deep.equal(told);
    }
    await app.post(`inboxes/${bare}/set_agent_bot`, { agent_bot: usual });
    expect(await explain(6)).to.deep.equal([usual, null]);
    expect(await explain(7)).to.deep.equal([usual, 'human_replied']);
  });

  it('tell why people got the conversations that bots gave away', async () => {
    const reasons = conversations.map(
      async (_, index) => (await app.get(`conversations/${index + 1}`)).body.handoff_reason,
    );
    expect(await Promise.all(reasons)).to.deep.equal([null, 'plugin', 'bot_unreachable', null, null, null, null]);
  });

  it('leave no conversation in the queue of a bot that a person had silenced there', async () => {
    await app.post('conversations/4/messages', { content: 'Anybody?', message_type: 'incoming' });
    expect((await app.get('conversations/4')).body.status).to.equal('open');
    expect(await explain(4)).to.deep.equal([usual, 'human_replied']);
  });
});

import { expect } from 'chai';
import { Client } from 'pg';
import { systemRandom } from '../../src/lib/ports.ts';
import { hashToken, newToken } from '../../src/lib/secrets/tokens.ts';
import { migrate } from '../../src/postgres/migrate.ts';
import { adminToken, TestApp } from '../support/app.ts';
import { createDatabaseOf010 } from '../support/release.ts';

/** People of 0.1.0, by the ids that they had there, and the invitations they were sent. */
const boss = 1;
const both = 2;
const invited = 3;
const returning = 4;
const author = 5;
const helped = 6;
const joined = 7;
const withdrawn = 8;
const moved = 9;
const noter = 10;

const invitation = () => newToken('invitation', systemRandom);
const links = {
  invited: invitation(),
  elsewhere: invitation(),
  returning: invitation(),
  helped: invitation(),
  moved: invitation(),
};
const tokens = { both: newToken('user', systemRandom), helped: newToken('user', systemRandom) };

const rows = `
  INSERT INTO accounts (name) VALUES ('First'), ('Second');
  INSERT INTO users (name, email, avatar_url, confirmed, platform_admin) VALUES
    ('Boss', 'boss@example.com', NULL, true, true), ('Both', 'both@example.com', 'https://example.com/b.png', true, false),
    ('Invited', 'Invited@example.com', NULL, false, false), ('Returning', 'returning@example.com', NULL, true, false),
    ('Author', 'author@example.com', NULL, true, false), ('Helped', 'helped@example.com', NULL, false, false),
    ('Joined', 'joined@example.com', NULL, true, false), ('Withdrawn', 'withdrawn@example.com', NULL, false, false),
    ('Moved', 'moved@example.com', NULL, false, false),
    ('Noter', 'noter@example.com', NULL, true, false);
  INSERT INTO agents (account_id, user_id, role, availability) VALUES (1, 1, 'administrator', 'online'),
    (1, 2, 'agent', 'busy'), (2, 2, 'administrator', 'online'), (1, 3, 'agent', 'online'), (2, 3, 'agent', 'online'),
    (1, 4, 'agent', 'online'), (1, 6, 'agent', 'online'), (1, 7, 'agent', 'online'),
    (1, 9, 'agent', 'online');
  INSERT INTO teams (account_id, name) VALUES (1, 'team');
  INSERT INTO team_members (account_id, team_id, user_id) VALUES (1, 1, 2), (1, 1, 3);
  INSERT INTO inboxes (account_id, name, channel_type, identifier) VALUES (1, 'Desk', 'Channel::Api', 'desk');
  INSERT INTO inbox_members (account_id, inbox_id, user_id) VALUES (1, 1, 2), (1, 1, 3);
  INSERT INTO contacts (account_id, name) VALUES (1, 'Customer');
  INSERT INTO contact_notes (account_id, contact_id, user_id, content) VALUES (1, 1, 2, 'a'), (1, 1, 10, 'b'), (1, 1, NULL, 'c');
  INSERT INTO conversations (account_id, inbox_id, contact_id, status, assignee_id) VALUES (1, 1, 1, 'open', 3);
  INSERT INTO messages (account_id, conversation_id, message_type, content, sender_kind, sender_id) VALUES
    (1, 1, 'incoming', 'Hello', 'contact', 1), (1, 1, 'outgoing', 'Hi', 'user', 2), (1, 1, 'outgoing', 'Bye', 'user', 5),
    (1, 1, 'outgoing', 'Lost', 'user', 99);`;

async function fill(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(rows);
    for (const [user, token] of [
      [boss, adminToken],
      [both, tokens.both],
      [helped, tokens.helped],
    ] as const) {
      const statement = `INSERT INTO access_tokens (user_id, token_hash, last_four) VALUES ($1, $2, 'last')`;
      await client.query(statement, [user, hashToken(token)]);
    }
    for (const [account, user, token, closed] of [
      [1, invited, links.invited, false],
      [2, invited, links.elsewhere, false],
      [1, returning, links.returning, false],
      [1, helped, links.helped, false],
      [1, moved, links.moved, false],
      [1, withdrawn, invitation(), true],
    ] as const) {
      const statement = `INSERT INTO invitations (account_id, user_id, token_hash, expires_at, closed_at)
        VALUES ($1, $2, $3, now() + interval '1 day', CASE WHEN $4 THEN now() END)`;
      await client.query(statement, [account, user, hashToken(token), closed]);
    }
  } finally {
    await client.end();
  }
}

describe('people of 0.1.0, after an upgrade', () => {
  let app: TestApp;

  before(async () => {
    const databaseUrl = await createDatabaseOf010();
    await fill(databaseUrl);
    expect(await migrate(databaseUrl)).to.deep.equal(['20261124-0.2.0']);
    app = await TestApp.start({ engine: false, databaseUrl });
  });

  after(() => app.stop());

  const accept = async (token: string) => {
    const response = await fetch(`${app.url}/invitations/${token}`, { method: 'POST' });
    return { status: response.status, body: (await response.json()) as Record<string, unknown> };
  };
  const agentsOf = async (path: string, headers?: Record<string, string>) =>
    (await app.get(path, headers)).body.map((one: Record<string, unknown>) => [
      one['id'],
      one['name'],
      one['confirmed'],
    ]);

  it('are agents by the ids, names and addresses they had', async () => {
    expect(await agentsOf('agents')).to.deep.equal([
      [boss, 'Boss', true],
      [both, 'Both', true],
      [helped, 'Helped', true],
      [invited, 'Invited', false],
      [joined, 'Joined', true],
      [moved, 'Moved', false],
      [returning, 'Returning', false],
    ]);
    const headers = { api_access_token: tokens.both };
    expect(await agentsOf('/api/v1/accounts/2/agents', headers)).to.deep.equal([
      [both, 'Both', true],
      [invited, 'Invited', false],
    ]);
    const { body: list } = await app.get('agents', headers);
    expect(list[1]).to.include({
      email: 'both@example.com',
      avatar_url: 'https://example.com/b.png',
      availability: 'busy',
    });
    expect(await agentsOf('teams/1/team_members')).to.deep.equal([
      [both, 'Both', true],
      [invited, 'Invited', false],
    ]);
    const { body: profile } = await app.get('/api/v1/profile', headers);
    expect(profile.accounts.map((one: { agent_id: number }) => one.agent_id)).to.deep.equal([both, both]);
    expect((await app.get('/api/v1/profile', { api_access_token: tokens.helped })).body).to.include({ id: helped });
  });

  it('have their names on what they wrote, those who left too', async () => {
    const { body } = await app.get('conversations/1/messages');
    expect(body.payload.map((one: { sender: unknown }) => one.sender)).to.deep.equal([
      { id: 1, name: 'Customer', type: 'Contact' },
      { id: both, name: 'Both', type: 'User' },
      { id: author, name: 'Author', type: 'User' },
      null,
    ]);
    const { body: notes } = await app.get('contacts/1/notes');
    expect(notes.payload.map((one: { user: unknown }) => one.user)).to.deep.equal([
      null,
      { id: noter, name: 'Noter' },
      { id: both, name: 'Both' },
    ]);
    expect((await app.get('conversations/1')).body.meta.assignee).to.deep.equal({ id: invited, name: 'Invited' });
  });

  it('have a name of their own in each account from now on', async () => {
    expect((await app.patch(`agents/${both}`, { name: 'Here' })).body.name).to.equal('Here');
    const { body } = await app.get('/api/v1/accounts/2/agents', { api_access_token: tokens.both });
    expect(body[0].name).to.equal('Both');
    await app.post('conversations/1/assignments', { assignee_id: both });
    const { body: list } = await app.get('conversations');
    const assignees = list.data.payload.map((one: { meta: { assignee: unknown } }) => one.meta.assignee);
    expect(assignees).to.deep.equal([{ id: both, name: 'Here' }]);
  });

  it('leave one account and stay in the other', async () => {
    expect((await app.delete(`agents/${both}`)).status).to.equal(200);
    const headers = { api_access_token: tokens.both };
    expect((await app.get('agents', headers)).status).to.equal(404);
    expect((await app.get('/api/v1/accounts/2/agents', headers)).body[0].id).to.equal(both);
    const { body } = await app.get('conversations/1/messages');
    expect(body.payload[1].sender).to.deep.equal({ id: both, name: 'Here', type: 'User' });
  });

  it('accept what they were sent, each account by its own link', async () => {
    const first = await accept(links.elsewhere);
    expect(first.body).to.include({ id: invited, account_id: 2, email: 'Invited@example.com' });
    const headers = { api_access_token: String(first.body['access_token']) };
    expect((await app.get('agents', headers)).status).to.equal(404);
    expect((await accept(links.invited)).body).to.include({ id: invited, account_id: 1, access_token: null });
    expect((await app.get('agents', headers)).status).to.equal(200);
    expect((await app.get('/api/v1/profile', headers)).body).to.include({ id: invited, confirmed: true });
    const back = await accept(links.returning);
    expect(back.body).to.include({ id: returning, name: 'Returning' });
    expect((await app.get('agents', { api_access_token: String(back.body['access_token']) })).status).to.equal(200);
  });

  it('accept under another id where the platform has given theirs another address', async () => {
    await app.patch(`/platform/api/v1/users/${moved}`, { email: 'elsewhere@example.com' });
    const { status, body } = await accept(links.moved);
    expect([status, body['id']]).to.deep.equal([200, moved]);
    const { body: profile } = await app.get('/api/v1/profile', { api_access_token: String(body['access_token']) });
    expect(profile.id).to.be.above(moved);
    expect(profile.email).to.equal('moved@example.com');
    expect(profile.accounts[0].agent_id).to.equal(moved);
  });

  it('who was let in otherwise has nothing left to accept', async () => {
    expect((await accept(links.helped)).status).to.equal(410);
    expect((await app.get('agents', { api_access_token: tokens.helped })).status).to.equal(200);
  });

  it('are followed by agents with ids that nobody had', async () => {
    const { body } = await app.post('agents', { name: 'New', email: 'author@example.com', role: 'agent' });
    expect(body.id).to.be.above(noter);
    const again = await app.post('agents', { name: 'New', email: 'withdrawn@example.com', role: 'agent' });
    expect([again.status, again.body.confirmed]).to.deep.equal([201, false]);
  });
});

import { hashToken } from '../../src/lib/secrets/tokens.ts';
import type { TestApp } from './app.ts';
import type { Person } from './people.ts';

let records = 0;

async function insert(app: TestApp, statement: string, parameters: readonly unknown[]): Promise<number> {
  const [row] = await app.query<{ id: number }>(`${statement} RETURNING id`, parameters);
  return row!.id;
}

/** Adds an inbox to an account (by default 1), with a bot if one is given. */
export async function addInbox(
  app: TestApp,
  { accountId = 1, members = [], botId = null }: { accountId?: number; members?: Person[]; botId?: number | null } = {},
): Promise<number> {
  records += 1;
  const id = await insert(
    app,
    'INSERT INTO inboxes (account_id, name, channel_type, identifier, agent_bot_id) VALUES ($1, $2, $3, $2, $4)',
    [accountId, `inbox-${records}`, 'Channel::Api', botId],
  );
  for (const member of members) {
    await app.query('INSERT INTO inbox_members (account_id, inbox_id, user_id) VALUES ($1, $2, $3)', [
      accountId,
      id,
      member.id,
    ]);
  }
  return id;
}

/** Adds a team to account 1. */
export async function addTeam(app: TestApp, name: string, members: Person[] = []): Promise<number> {
  const id = await insert(app, 'INSERT INTO teams (account_id, name) VALUES (1, $1)', [name]);
  for (const member of members) {
    await app.query('INSERT INTO team_members (account_id, team_id, user_id) VALUES (1, $1, $2)', [id, member.id]);
  }
  return id;
}

/** Adds a webhook bot with a token to account 1; without an engine nothing is delivered to it. */
export async function addWebhookBot(app: TestApp, name: string): Promise<Person> {
  records += 1;
  const id = await insert(
    app,
    `INSERT INTO agent_bots (account_id, name, kind, outgoing_url, secret, events)
     VALUES (1, $1, 'webhook', 'https://bot.example.com/', 'sealed', $2)`,
    [name, ['message_created', 'message_updated', 'conversation_opened', 'conversation_resolved']],
  );
  const token = `token-of-bot-${records}`;
  await app.query('INSERT INTO access_tokens (agent_bot_id, token_hash, last_four) VALUES ($1, $2, $3)', [
    id,
    hashToken(token),
    token.slice(-4),
  ]);
  return { id, headers: { api_access_token: token } };
}

/** Creates a contact by the API; returns its id. */
export async function addContact(app: TestApp, fields: Record<string, unknown> = {}): Promise<number> {
  records += 1;
  return (await app.post('contacts', { name: `Contact ${records}`, ...fields })).body.id;
}

/** Creates a conversation by the API; returns its id. */
export async function addConversation(
  app: TestApp,
  inboxId: number,
  { contactId, ...fields }: { contactId?: number; [field: string]: unknown } = {},
): Promise<number> {
  const contact = contactId ?? (await addContact(app));
  return (await app.post('conversations', { inbox_id: inboxId, contact_id: contact, ...fields })).body.id;
}

/** Sends a message by the API, by default as administrator; returns its id. */
export async function addMessage(
  app: TestApp,
  conversationId: number,
  content: string,
  { headers, ...fields }: { headers?: Record<string, string>; [field: string]: unknown } = {},
): Promise<number> {
  const message = { content, message_type: 'outgoing', ...fields };
  return (await app.post(`conversations/${conversationId}/messages`, message, headers)).body.id;
}

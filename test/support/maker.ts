import { systemRandom } from '../../src/lib/ports.ts';
import { hashToken, newToken } from '../../src/lib/secrets/tokens.ts';
import type { Answer, TestApp } from './app.ts';
import { addPerson, type Person, type User } from './people.ts';
import { makeSmall } from './small-resources.ts';

/** A webhook bot, with its token. */
export type Bot = Person;

type Fields = Record<string, unknown>;

let made = 0;

/**
 * Makes records of one account, by the API and in the name of its administrator. Every text that is stored begins with
 * the account's `mark`, so that one that gets out can be told.
 */
export class Maker {
  readonly app: TestApp;
  readonly accountId: number;
  readonly mark: string;
  readonly administrator: Person;

  constructor(app: TestApp, accountId: number, { mark, administrator }: { mark: string; administrator: Person }) {
    this.app = app;
    this.accountId = accountId;
    this.mark = mark;
    this.administrator = administrator;
  }

  text(what: string): string {
    made += 1;
    return `${this.mark} ${what} ${made}`;
  }

  /** Calls an operation of the account, as its administrator unless headers say otherwise, and expects that it succeeds. */
  async call(
    method: string,
    path: string,
    body?: object,
    headers: Record<string, string> = this.administrator.headers,
  ): Promise<Answer['body']> {
    const answer = await this.app.call(method, `/api/v1/accounts/${this.accountId}/${path}`, body, headers);
    if (answer.status < 300) return answer.body;
    throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
  }

  async post(path: string, body: object = {}): Promise<number> {
    return (await this.call('POST', path, body)).id;
  }

  contact(fields: Fields = {}): Promise<number> {
    return this.post('contacts', { name: this.text('contact'), ...fields });
  }

  note(contactId: number): Promise<number> {
    return this.post(`contacts/${contactId}/notes`, { content: this.text('note') });
  }

  async conversation(inboxId: number, fields: Fields = {}): Promise<number> {
    const contactId = fields['contact_id'] ?? (await this.contact());
    const source = this.text('source');
    return this.post('conversations', { inbox_id: inboxId, contact_id: contactId, source_id: source, ...fields });
  }

  message(conversationId: number, fields: Fields = {}): Promise<number> {
    const message = { content: this.text('message'), message_type: 'incoming', ...fields };
    return this.post(`conversations/${conversationId}/messages`, message);
  }

  async inbox({ members = [], bot, ...fields }: { members?: Person[]; bot?: Bot } & Fields = {}): Promise<number> {
    const id = await this.post('inboxes', { name: this.text('inbox'), ...fields });
    if (members.length > 0)
      await this.call('POST', `inboxes/${id}/members`, { user_ids: members.map((one) => one.id) });
    if (bot) await this.call('POST', `inboxes/${id}/set_agent_bot`, { agent_bot: bot.id });
    return id;
  }

  async team(members: Person[] = []): Promise<number> {
    const id = await this.post('teams', { name: this.text('team') });
    if (members.length > 0)
      await this.call('POST', `teams/${id}/team_members`, { user_ids: members.map((one) => one.id) });
    return id;
  }

  /** By default with a unique title. */
  async label(): Promise<{ id: number; title: string }> {
    return this.call('POST', 'labels', { title: this.text('label').toLowerCase().replaceAll(' ', '-') });
  }

  async customFilter(owner: Record<string, string>): Promise<number> {
    const filter = { name: this.text('view'), query: { status: this.text('value') } };
    return (await this.call('POST', 'custom_filters', filter, owner)).id;
  }

  /** A notification of an agent, who is mentioned in a note. */
  async notification(
    conversation: number,
    { id, headers }: { id: number; headers: Record<string, string> },
  ): Promise<number> {
    const content = `[@Agent](mention://user/${id}/Agent)`;
    await this.post(`conversations/${conversation}/messages`, { content, private: true, message_type: 'outgoing' });
    return (await this.call('GET', 'notifications', undefined, headers)).payload[0].id;
  }

  /** A complete bulk action on a conversation. */
  bulkAction(conversation: number): Promise<number> {
    return this.post('bulk_actions', { type: 'Conversation', ids: [conversation], fields: { priority: 'low' } });
  }

  /** An automation that is off. */
  automation(): Promise<number> {
    return this.post('automations', {
      name: this.text('automation'),
      plugin_id: 'rules',
      config: { rules: [] },
      active: false,
    });
  }

  /** A global macro that writes a note. */
  macro(): Promise<number> {
    const actions = [{ action_name: 'add_private_note', action_params: [this.text('note')] }];
    return this.post('macros', { name: this.text('macro'), visibility: 'global', actions });
  }

  /** A hook of a bot whose plugin takes requests of other systems; both are made for it. */
  async hook(): Promise<number> {
    return this.post('hooks', { name: this.text('hook'), agent_bot_id: await this.hookedBot(), handler: 'open' });
  }

  /** A bot of a plugin with a hook. */
  async hookedBot(): Promise<number> {
    const manifest = {
      id: 'hooked',
      name: 'hooked',
      version: '1.0.0',
      apiVersion: '1',
      main: 'bot.js',
      events: [],
      hooks: { open: { verify: 'none' } },
      permissions: { hooks: true },
    };
    await this.app.query(
      `WITH bundle AS (
         INSERT INTO plugin_bundles (hash, plugin_id, version, manifest, code)
         VALUES (repeat('a', 64), 'hooked', '1.0.0', $1, '') ON CONFLICT DO NOTHING)
       INSERT INTO plugins (id, source, active_hash) VALUES ('hooked', 'archive', repeat('a', 64)) ON CONFLICT DO NOTHING`,
      [JSON.stringify(manifest)],
    );
    return this.post('agent_bots', { name: this.text('bot'), kind: 'plugin', plugin_id: 'hooked' });
  }

  /** A request that came to the hook. */
  async hookRequest(hookId: number): Promise<number> {
    const [request] = await this.app.query<{ id: number }>(
      `INSERT INTO hook_requests (account_id, hook_id, received_at, outcome, bytes, headers, body)
       VALUES ($1, $2, now(), 'accepted', 1, json_build_array(json_build_array('x-mark', $3::text)), '1') RETURNING id`,
      [this.accountId, hookId, this.mark],
    );
    return request!.id;
  }

  /** A request that was sent to the hook, and is to be handled. */
  async handledRequest(hookId: number): Promise<number> {
    const { url } = await this.call('POST', `hooks/${hookId}/rotate`, { overlap_seconds: 0 });
    const path = new URL(url).pathname;
    return (await this.app.post(path, { mark: this.mark })).body.id;
  }

  slaPolicy(): Promise<number> {
    return makeSmall(this, 'sla_policies');
  }

  /** Switched off unless `active` is given: nothing listens at its address. */
  webhook(fields: Fields = {}): Promise<number> {
    const subscriptions = ['message_created'];
    return this.post('webhooks', { url: `http://127.0.0.1:9/${this.mark}`, subscriptions, active: false, ...fields });
  }

  async bot(): Promise<Bot> {
    const bot = { name: this.text('bot'), outgoing_url: `https://127.0.0.1:9/${this.mark}` };
    const { id, access_token: token } = await this.call('POST', 'agent_bots', bot);
    return { id, headers: { api_access_token: token } };
  }

  /** A recorded run of the sample bot on the conversation's last message: it had nothing to say. */
  async run(conversationId: number, bot: Bot): Promise<number> {
    const [run] = await this.app.query<{ id: number }>(
      `INSERT INTO bot_runs (account_id, conversation_id, agent_bot_id, event_id, attempt, plugin_id, plugin_version,
         bundle_hash, config, seed, clock, outcome, actions, logs, wall_ms)
       SELECT e.account_id, e.conversation_id, $3, e.id, 1, p.id, '1.0.0', p.active_hash, json_build_object('mark', $4::text), 1,
         now(), 'ok', '[]', '[]', 1
       FROM events e, plugins p
       WHERE e.account_id = $1 AND e.conversation_id = $2 AND e.name = 'message_created' AND p.id = 'faq'
       ORDER BY e.id DESC LIMIT 1 RETURNING id`,
      [this.accountId, conversationId, bot.id, this.mark],
    );
    return run!.id;
  }

  /** The delivery of the conversation's last message to the webhook, which it did not accept. */
  async delivery(conversationId: number, webhookId: number): Promise<number> {
    const [delivery] = await this.app.query<{ id: number }>(
      `WITH lane AS (
         INSERT INTO lanes (account_id, endpoint_kind, endpoint_id, subject_kind, subject_id)
         VALUES ($1, 'webhook', $3, 'conversation', $2)
         ON CONFLICT ON CONSTRAINT lanes_subject_unique DO UPDATE SET due_at = lanes.due_at RETURNING id
       ), delivery AS (
         INSERT INTO deliveries (account_id, event_id, lane_id, endpoint_kind, endpoint_id, state, attempt, last_error,
           finished_at)
         SELECT e.account_id, e.id, lane.id, 'webhook', $3, 'exhausted', 1, 'bad_status', now() FROM events e, lane
         WHERE e.account_id = $1 AND e.conversation_id = $2 AND e.name = 'message_created' ORDER BY e.id DESC LIMIT 1
         RETURNING id)
       INSERT INTO attempts (account_id, delivery_id, number, outcome, status, error_code, response_body)
       SELECT $1, id, 1, 'failed', 500, 'bad_status', $4 FROM delivery RETURNING delivery_id AS id`,
      [this.accountId, conversationId, webhookId, this.text('answer')],
    );
    return delivery!.id;
  }

  /** The newest signing secret of the webhook. */
  async secret(webhookId: number): Promise<number> {
    const { payload } = await this.call('GET', `webhooks/${webhookId}/secrets`);
    return payload[0].id as number;
  }

  /** A new link that shares the webhook. */
  async share(webhookId: number): Promise<number> {
    await this.call('POST', `webhooks/${webhookId}/share`, { expires_in: 3_600 });
    const { payload } = await this.call('GET', `webhooks/${webhookId}/shares`);
    return payload[0].id as number;
  }

  /** A recovery of the webhook's deliveries, which has done nothing yet. */
  async recovery(webhookId: number): Promise<number> {
    const [recovery] = await this.app.query<{ id: number }>(
      `INSERT INTO recoveries (account_id, endpoint_kind, endpoint_id, since, until, states, count, phase)
       VALUES ($1, 'webhook', $2, now() - interval '1 day', now(), '{exhausted}', 1, 'send') RETURNING id`,
      [this.accountId, webhookId],
    );
    return recovery!.id;
  }

  /** A bulk action on the webhook's deliveries, which has done nothing yet. */
  async bulk(webhookId: number): Promise<number> {
    const [bulk] = await this.app.query<{ id: number }>(
      `INSERT INTO bulk_actions (account_id, webhook_id, action, state, selected, as_pending, count, failed, requested_by)
       VALUES ($1, $2, 'cancel', 'done', '{}', false, 0, 0, '{"kind":"person"}') RETURNING id`,
      [this.accountId, webhookId],
    );
    return bulk!.id;
  }

  agent(role: 'administrator' | 'agent' = 'agent'): Promise<User> {
    return addPerson(this.app, { name: this.text('agent'), role, accountId: this.accountId });
  }

  /** An agent with an open invitation, which the token accepts. */
  async invitee(): Promise<{ id: number; token: string }> {
    const name = this.text('invitee');
    const email = `${name.toLowerCase().replaceAll(' ', '.')}@example.com`;
    const token = newToken('invitation', systemRandom);
    const [agent] = await this.app.query<{ id: number }>(
      `WITH seat AS (INSERT INTO seats (account_id, name, email) VALUES ($1, $2, $3) RETURNING account_id, id)
       INSERT INTO agents (account_id, user_id, role) SELECT account_id, id, 'agent' FROM seat RETURNING user_id AS id`,
      [this.accountId, name, email],
    );
    const { id } = agent!;
    // Old enough not to count for the hourly limit.
    await this.app.query(
      `INSERT INTO invitations (account_id, user_id, token_hash, expires_at, created_at)
       VALUES ($1, $2, $3, now() + interval '1 day', now() - interval '1 day')`,
      [this.accountId, id, hashToken(token)],
    );
    return { id, token };
  }

  /** A visitor of a web page: a contact with a contact token. */
  async visitor(inboxId: number): Promise<{ contactId: number; headers: { 'x-contact-token': string } }> {
    const contactId = await this.contact();
    const token = newToken('contact', systemRandom);
    await this.app.query(
      'INSERT INTO contact_tokens (account_id, inbox_id, contact_id, token_hash) VALUES ($1, $2, $3, $4)',
      [this.accountId, inboxId, contactId, hashToken(token)],
    );
    return { contactId, headers: { 'x-contact-token': token } };
  }
}

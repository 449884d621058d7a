import { expect } from 'chai';
import { chainAuditLog, deleteOldAuditEntries } from '../../../src/domain/audit/chain.ts';
import { routes } from '../../../src/api/index.ts';
import { auditOf } from '../../../src/http/route/audited.ts';
import { TestApp } from '../../support/app.ts';
import { addPerson } from '../../support/people.ts';
import { ownPage } from '../../support/sign-in.ts';

interface Entry {
  id: number;
  at: number;
  actor: { type: string; id: number | null; name: string | null };
  action: string;
  target: { type: string; id: number | string } | null;
  changes: Record<string, [unknown, unknown]>;
  address: string | null;
  request_id: string | null;
}

const dayMs = 86_400_000;
const password = 'a long sentence that nobody guesses';
/** Operations for administrators that change nothing. */
const untold = /\/(?:dry_run|try|calls|evals|test)$/;
/** Verbs of actions that the last part of a path does not name. */
const standard = /^[a-z_]+\.(?:created|updated|deleted)$/;

describe('the audit log', function () {
  this.timeout(60_000);
  let app: TestApp;
  let aheadMs = 0;
  const url = 'https://example.com/one';

  before(async () => {
    app = await TestApp.start({ engine: false, clock: { now: () => new Date(Date.now() + aheadMs) } });
  });
  afterEach(() => (aheadMs = 0));
  after(() => app.stop());

  const list = async (query = '', headers?: Record<string, string>): Promise<Entry[]> =>
    (await app.get(`audit_log${query}`, headers)).body.payload;
  const platformLog = async (query = ''): Promise<Entry[]> =>
    (await app.get(`/platform/api/v1/audit_log${query}`)).body.payload;
  const newest = async (query = ''): Promise<Entry> => (await list(query))[0]!;
  const violations = async (): Promise<number> => {
    const { invariants } = (await app.get('/platform/api/v1/ledger?step=13')).body;
    return invariants.find(({ id }: { id: string }) => id === 'L13').violations;
  };

  async function addWebhook(fields: object = {}): Promise<number> {
    return (await app.post('webhooks', { url, subscriptions: ['message_created'], ...fields })).body.id;
  }

  async function openFor(inboxId: number, assigneeId: number): Promise<number> {
    const contact = (await app.post('contacts', { name: 'Customer' })).body.id;
    const { body } = await app.post('conversations', {
      inbox_id: inboxId,
      contact_id: contact,
      assignee_id: assigneeId,
    });
    return body.id;
  }

  it('says who changed the URL of a webhook, from where, by which request, and what it was before', async () => {
    const id = await addWebhook();
    const { headers } = await app.call('PATCH', `webhooks/${id}`, { url: 'https://example.com/two' });
    const entry = await newest();
    expect(entry).to.deep.include({
      actor: { type: 'user', id: 1, name: 'Administrator' },
      action: 'webhook.updated',
      target: { type: 'webhook', id },
      changes: { url: [url, 'https://example.com/two'] },
      address: '127.0.0.1',
      request_id: headers.get('x-request-id'),
    });
    expect(entry.at).to.be.closeTo(Date.now() / 1000, 60);
    const [deleted] = [await app.call('DELETE', `webhooks/${id}`), await newest()].slice(1) as Entry[];
    expect(deleted).to.deep.include({ action: 'webhook.deleted', target: { type: 'webhook', id } });
    expect(deleted?.changes['url']).to.deep.equal(['https://example.com/two', null]);
  });

  it('tells what is made, and no secret of it', async () => {
    const created = await app.post('webhooks', { url, subscriptions: ['message_created'] });
    const { body: bot } = await app.post('agent_bots', { name: 'Robin', outgoing_url: 'https://example.com/bot' });
    const { body: reset } = await app.post(`agent_bots/${bot.id}/reset_access_token`, {});
    const { body: rotated } = await app.post(`webhooks/${created.body.id}/rotate_secret`, {});
    const [rotation, token, robin, webhook] = await list();
    expect([rotation, token, robin, webhook].map((entry) => [entry?.action, entry?.target])).to.deep.equal([
      ['secret.rotated', { type: 'webhook', id: created.body.id }],
      ['token.reset', { type: 'agent_bot', id: bot.id }],
      ['agent_bot.created', { type: 'agent_bot', id: bot.id }],
      ['webhook.created', { type: 'webhook', id: created.body.id }],
    ]);
    expect(webhook?.changes['url']).to.deep.equal([null, url]);
    const whole = JSON.stringify(await list());
    for (const secret of [created.body.secret, bot.access_token, reset.access_token, rotated.secret]) {
      expect(secret).to.be.a('string');
      expect(whole).to.not.include(secret);
    }
  });

  it('tells that a secret was set, and not which', async () => {
    const id = await addWebhook();
    const auth = { type: 'basic', username: 'robin', password: 'very secret' };
    expect((await app.patch(`webhooks/${id}`, { auth })).status).to.equal(200);
    const { changes } = await newest();
    expect(changes).to.deep.equal({ auth_type: [null, 'basic'], auth: [null, '(not recorded)'] });
  });

  it('tells that a secret was replaced where the record shows a mask of it', async () => {
    const secret = (value: string) => ({ headers: [{ name: 'Authorization', value }] });
    const id = await addWebhook(secret('Bearer one'));
    await app.patch(`webhooks/${id}`, secret('Bearer two'));
    expect(await newest()).to.deep.include({
      action: 'webhook.updated',
      target: { type: 'webhook', id },
      changes: { headers: [null, '(not recorded)'] },
    });
  });

  it('names what is within a record, and keeps what the record was', async () => {
    const id = await addWebhook();
    await app.post(`webhooks/${id}/rotate_secret`, {});
    const { payload } = (await app.get(`webhooks/${id}/secrets`)).body;
    const old = payload.toSorted((one: { id: number }, other: { id: number }) => one.id - other.id)[0];
    expect((await app.delete(`webhooks/${id}/secrets/${old.id}`)).status).to.equal(200);
    expect(await newest()).to.deep.include({
      action: 'secret.deleted',
      target: { type: 'webhook', id },
      changes: { secret_id: [null, old.id] },
    });
  });

  it('tells of two who change one record at once what each has changed', async () => {
    const id = await addWebhook();
    const addresses = [1, 2, 3, 4, 5, 6].map((count) => `https://example.com/at-once/${count}`);
    await Promise.all(addresses.map((address) => app.patch(`webhooks/${id}`, { url: address })));
    const told = (await list(`?target=webhook:${id}&action=webhook.updated`)).map(({ changes }) => changes['url']!);
    expect(told.map(([, after]) => after)).to.have.members(addresses);
    for (const [index, [before]] of told.entries()) expect(before).to.equal(told[index + 1]?.[1] ?? url);
  });

  it('tells nothing of what was refused, and tells a repeated request once', async () => {
    const count = (await list()).length;
    expect((await app.post('webhooks', { url: 'nonsense' })).status).to.equal(422);
    expect((await app.call('DELETE', 'webhooks/999999')).status).to.equal(404);
    expect(await list()).to.have.lengthOf(count);
    const keyed = { 'idempotency-key': 'audited once' };
    const first = await app.call('POST', 'teams', { name: 'Night' }, keyed);
    const again = await app.call('POST', 'teams', { name: 'Night' }, keyed);
    expect([first.status, again.headers.get('idempotency-replayed')]).to.deep.equal([201, 'true']);
    expect((await list('?action=team.created')).filter(({ target }) => target?.id === first.body.id)).to.have.lengthOf(
      1,
    );
  });

  it('fails the act when its entry cannot be written', async () => {
    await app.query('ALTER TABLE audit_log ADD CONSTRAINT no_more CHECK (false) NOT VALID');
    const { status } = await app.post('teams', { name: 'Untold' });
    await app.query('ALTER TABLE audit_log DROP CONSTRAINT no_more');
    expect(status).to.equal(500);
    const names = (await app.get('teams')).body.map(({ name }: { name: string }) => name.toLowerCase());
    expect(names).to.not.include('untold');
  });

  it('tells who joined and left a team, a rename in batches, and a role', async () => {
    const { id, headers } = await addPerson(app, { name: 'Grace' });
    const team = (await app.post('teams', { name: 'Day' })).body.id;
    await app.post(`teams/${team}/team_members`, { user_ids: [id] });
    expect(await newest()).to.deep.include({
      action: 'team_member.created',
      target: { type: 'team', id: team },
      changes: { members: [[], [id]] },
    });
    const place = (await app.post('inboxes', { name: 'Desk', channel: { type: 'api' } })).body.id;
    await app.post(`inboxes/${place}/members`, { user_ids: [id] });
    const conversations = [];
    for (let count = 0; count < 3; count++) conversations.push(await openFor(place, id));
    await app.call('DELETE', `inboxes/${place}/members`, { user_ids: [id] });
    expect(await newest()).to.deep.include({
      action: 'inbox_member.deleted',
      target: { type: 'inbox', id: place },
      changes: { members: [[id], []] },
    });
    for (const one of conversations) expect((await app.get(`conversations/${one}`)).body.meta.assignee).to.equal(null);
    await app.post('labels', { title: 'vip' });
    const label = (await app.get('labels')).body.payload.find(({ title }: { title: string }) => title === 'vip').id;
    await app.patch(`labels/${label}`, { title: 'gold' });
    expect((await newest()).changes['title']).to.deep.equal(['vip', 'gold']);
    await app.patch(`agents/${id}`, { role: 'administrator' });
    expect(await newest()).to.deep.include({ action: 'agent.updated', changes: { role: ['agent', 'administrator'] } });
    const before = (await list()).length;
    expect((await app.call('PATCH', `agents/${id}`, { availability: 'busy' }, headers)).status).to.equal(200);
    expect(await list()).to.have.lengthOf(before);
  });

  it('keeps no word of a customer', async () => {
    const contact = (await app.post('contacts', { name: 'Ada Lovelace', email: 'ada@example.com' })).body.id;
    await app.call('DELETE', `contacts/${contact}`);
    expect(await newest()).to.deep.include({
      action: 'contact.deleted',
      target: { type: 'contact', id: contact },
      changes: {},
    });
    expect(JSON.stringify(await list())).to.not.include('Lovelace');
  });

  it('has sign-ins, those that failed, and what people change of theirs, in the account of the person', async () => {
    const { id, email, headers } = await addPerson(app, { name: 'Joan' });
    const set = await app.call('POST', '/api/v1/profile/security/password', { password }, headers);
    expect(set.status).to.equal(200);
    const signIn = (word: string) =>
      app.call('POST', '/sign_in', { email, password: word }, { api_access_token: '', ...ownPage });
    expect((await signIn('wrong')).status).to.equal(401);
    expect((await signIn(password)).status).to.equal(201);
    const entries = await list(`?actor_id=${id}`);
    expect(entries.map(({ action, changes }) => [action, changes])).to.deep.equal([
      ['sign_in', { by: [null, 'password'] }],
      ['sign_in.failed', { wrong: [null, 'password'] }],
      ['password.updated', {}],
    ]);
    expect(entries[0]).to.deep.include({ target: { type: 'user', id }, address: '127.0.0.1' });
    const unknown = await app.call(
      'POST',
      '/sign_in',
      { email: 'nobody@example.com', password },
      { api_access_token: '', ...ownPage },
    );
    expect(unknown.status).to.equal(401);
    expect(JSON.stringify(await list())).to.not.include('nobody@example.com');
  });

  it('has a log for the platform, apart from those of accounts', async () => {
    const { body } = await app.post('/platform/api/v1/accounts', { name: 'Second' });
    const [entry] = await platformLog();
    expect(entry).to.deep.include({ action: 'account.created', target: { type: 'account', id: body.id } });
    expect(entry?.changes['name']).to.deep.equal([null, 'Second']);
    expect((await list('?action=account.created')).length).to.equal(0);
  });

  it('is filtered, goes on by pages, and is for administrators alone', async () => {
    for (let count = 0; count < 60; count++) await app.post('custom_attribute_definitions', attribute(count));
    const first = await app.get('audit_log?target=custom_attribute_definition');
    const rest = await app.get(
      `audit_log?target=custom_attribute_definition&cursor=${encodeURIComponent(first.body.meta.next_cursor)}`,
    );
    const ids = [...first.body.payload, ...rest.body.payload].map(({ id }: Entry) => id);
    expect(ids).to.have.lengthOf(60);
    expect(ids).to.deep.equal(ids.toSorted((one, other) => other - one));
    expect(rest.body.meta.next_cursor).to.equal(null);
    const [one] = first.body.payload as Entry[];
    const target = `${one?.target?.type}:${one?.target?.id}`;
    expect(await list(`?target=${target}`)).to.have.lengthOf(1);
    expect(await list(`?until=${one!.at - 3600}`)).to.have.lengthOf(0);
    expect((await list(`?since=${one!.at - 3600}`)).length).to.be.greaterThan(1);
    expect((await app.get('audit_log?target=Nonsense!')).status).to.equal(400);
    const other = await app.get(`/platform/api/v1/audit_log?cursor=${encodeURIComponent(first.body.meta.next_cursor)}`);
    expect(other.status).to.equal(400);
    const { headers } = await addPerson(app, { name: 'Alan' });
    expect((await app.get('audit_log', headers)).status).to.equal(403);
    expect((await app.get('/platform/api/v1/audit_log', headers)).status).to.equal(403);
  });

  it('is chained, cannot be changed, and shows what was changed or removed all the same', async () => {
    expect(await chainAuditLog(app.app.database)).to.be.greaterThan(10);
    expect(await violations()).to.equal(0);
    const change = `UPDATE audit_log SET actor_name = 'Somebody' WHERE position = 2 AND account_id = 1`;
    expect(await app.query(change).catch((error: Error) => error.message)).to.match(/are not changed/);
    await app.query(`ALTER TABLE audit_log DISABLE TRIGGER audit_log_append_only`);
    await app.query(change);
    expect(await violations()).to.equal(1);
    await app.query(`UPDATE audit_log SET actor_name = 'Administrator' WHERE position = 2 AND account_id = 1`);
    await app.query(`ALTER TABLE audit_log ENABLE TRIGGER audit_log_append_only`);
    expect(await violations()).to.equal(0);
    await app.query(`DELETE FROM audit_log WHERE account_id = 1 AND position = 3`);
    expect(await violations()).to.equal(1);
  });

  it('forgets what is old, but for the newest entry, and stays whole', async () => {
    await app.query(`DELETE FROM audit_log WHERE account_id = 1`);
    await app.query(`DELETE FROM audit_chains WHERE account_id = 1`);
    await app.post('teams', { name: 'Old' });
    await app.post('teams', { name: 'Older' });
    await chainAuditLog(app.app.database);
    aheadMs = 10 * dayMs;
    await app.post('teams', { name: 'New' });
    await chainAuditLog(app.app.database);
    aheadMs = 35 * dayMs;
    expect(await deleteOldAuditEntries(app.app.database, 30)).to.be.at.least(2);
    expect(await list()).to.have.lengthOf(1);
    aheadMs = 90 * dayMs;
    await deleteOldAuditEntries(app.app.database, 30);
    expect((await list()).map(({ changes }) => changes['name']?.[1])).to.deep.equal(['New']);
    expect(await violations()).to.equal(0);
  });

  it('goes with its account', async () => {
    const { body } = await app.post('/platform/api/v1/accounts', { name: 'Third' });
    await app.query(
      `INSERT INTO audit_log (account_id, at, actor_type, action, changes) VALUES (${body.id}, now(), 'system', 'team.created', '{}')`,
    );
    await app.call('DELETE', `/platform/api/v1/accounts/${body.id}`);
    const [left] = await app.query<{ count: number }>(
      `SELECT count(*)::int AS count FROM audit_log WHERE account_id = ${body.id}`,
    );
    expect(left?.count).to.equal(0);
    expect((await platformLog())[0]).to.deep.include({ action: 'account.deleted' });
  });

  it('knows an action of each operation for administrators, and which of them change nothing', () => {
    const forAdministrators = routes.filter(
      ({ method, contract }) => method !== 'GET' && /^(?:administrator|platform)$/.test(contract.role),
    );
    expect(forAdministrators.length).to.be.greaterThan(60);
    for (const route of forAdministrators) {
      const audited = auditOf(route, routes);
      const name = `${route.method} ${route.path}`;
      expect(audited === null, name).to.equal(untold.test(route.path));
      if (!audited || !standard.test(audited.action) || route.contract.audit) continue;
      // Without a clause the path must say it all: a collection, or one record in it.
      expect(route.path, name).to.match(route.method === 'POST' ? /\/[a-z_]+s$|\/inboxes$/ : /\/:[a-z_]+$/);
    }
  });
});

function attribute(count: number) {
  const [attribute_key, attribute_display_name] = [`field_${count}`, `Field ${count}`];
  return {
    attribute_key,
    attribute_display_name,
    attribute_model: 'contact_attribute',
    attribute_display_type: 'text',
  };
}

import { expect } from 'chai';
import { createAgent } from '../../../src/domain/people/agents.ts';
import { system, transact } from '../../../src/events/transaction.ts';
import { systemRandom } from '../../../src/lib/ports.ts';
import { newToken } from '../../../src/lib/secrets/tokens.ts';
import type { TestApp } from '../../support/app.ts';
import { Hiring } from '../../support/hiring.ts';
import { Platform } from '../../support/platform.ts';
import { statementsOf, watched } from '../../support/plans.ts';

interface Masks {
  agent: number;
  email: string;
}

// Ids and times differ between any two agents; which of the ids are the agent's must not.
function mask(value: unknown, masks: Masks, key = ''): unknown {
  if (Array.isArray(value)) return value.map((one) => mask(one, masks, key));
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).filter(([name]) => name !== 'request_id');
    return Object.fromEntries(entries.map(([name, one]) => [name, mask(one, masks, name)]));
  }
  if (typeof value === 'string') {
    const text = value.replaceAll(masks.email, '<email>').replaceAll(/swi_\w+/g, '<token>');
    return key.endsWith('_at') ? '<time>' : text.replaceAll(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, '<time>');
  }
  if (typeof value !== 'number') return value;
  if (/_at$|_since$/.test(key)) return '<time>';
  if (!/(^|_)ids?$|^(previous|current)$/.test(key)) return value;
  return value === masks.agent ? '<agent>' : '<id>';
}

describe('people whom another account knows', () => {
  let hiring: Hiring;
  let app: TestApp;

  before(async () => {
    hiring = await Hiring.start();
    app = hiring.app;
    const subscriptions = ['conversation_created', 'conversation_updated'];
    await app.post('webhooks', { url: 'http://127.0.0.1:9/', subscriptions });
  });

  beforeEach(() => hiring.clear());

  after(() => app.stop());

  /** Everything that the account is told of a new agent by what it may do with it, masked. */
  async function observe(email: string): Promise<[string, unknown][]> {
    await hiring.clear();
    const told: [string, unknown][] = [];
    let agent = 0;
    const ask = async (method: string, path: string, body?: object) => {
      const answer = await app.call(method, path, body);
      told.push([`${method} ${path.replace(/\d+/, ':id')}`, [answer.status, answer.body, [...answer.headers.keys()]]]);
      return answer.body;
    };
    const only = (one: { id: number }) => one.id === agent;
    const [latest] = await app.query<{ id: number }>('SELECT max(user_id) AS id FROM agents');
    const profile = { name: 'Nick', email, role: 'agent', availability: 'busy' };
    ({ id: agent } = await ask('POST', 'agents', profile));
    told.push(['the id is newer than any', agent > latest!.id]);
    told.push(['mail', hiring.mailTo(email).map(({ msg, link }) => [msg, typeof link])]);
    told.push(['agents', (await app.get('agents')).body.filter(only)]);
    const { body: inbox } = await app.post('inboxes', { name: 'Desk' });
    const { body: team } = await app.post('teams', { name: `Team ${agent}` });
    const { body: contact } = await app.post('contacts', { name: 'Customer' });
    await app.events();
    for (const path of [`inboxes/${inbox.id}/members`, `teams/${team.id}/team_members`]) {
      await ask('POST', path, { user_ids: [agent] });
      await ask('GET', path);
    }
    const { body: assignable } = await app.get(`inboxes/${inbox.id}/assignable_agents`);
    told.push(['assignable_agents', assignable.payload.filter(only)]);
    const fields = { inbox_id: inbox.id, contact_id: contact.id };
    const { id } = await ask('POST', 'conversations', { ...fields, assignee_id: agent });
    await ask('POST', `conversations/${id}/assignments`, { assignee_id: null });
    await ask('POST', `conversations/${id}/assignments`, { assignee_id: agent });
    await ask('GET', `conversations/${id}`);
    await ask('POST', `agents/${agent}/resend_invitation`);
    told.push(['mails', hiring.mailTo(email).map(({ msg, link }) => [msg, typeof link])]);
    told.push(['page', await (await fetch(hiring.linkOf(email))).text()]);
    await ask('PATCH', `agents/${agent}`, { availability: 'online', role: 'administrator' });
    await ask('PATCH', `agents/${agent}`, { name: 'Nicholas' });
    await ask('GET', `conversations/${id}`);
    await ask('POST', 'agents', { ...profile, email: email.toUpperCase() });
    await ask('DELETE', `agents/${agent}`);
    await ask('GET', `conversations/${id}`);
    await ask('DELETE', `agents/${agent}`);
    await ask('POST', `agents/${agent}/resend_invitation`);
    const events = await app.events();
    told.push(['events', events.map(({ name, account_payload: body }) => [name, body])]);
    return told.map(([what, one]) => [what, mask(one, { agent, email })]);
  }

  it('is told from somebody unknown by nothing that the account can ask or hear', async () => {
    const known = await hiring.addKnown();
    const idle = await new Platform(app).newUser({ name: 'Idle' });
    const before = await hiring.storedElsewhere();
    const unknown = await observe(hiring.newEmail());
    const ofKnown = await observe(known.email);
    const ofIdle = await observe(idle.email);
    const ofAgain = await observe(known.email);
    for (const [index, [what, told]] of unknown.entries()) {
      for (const other of [ofKnown, ofIdle, ofAgain]) expect(other[index], what).to.deep.equal([what, told]);
    }
    expect(await hiring.storedElsewhere()).to.deep.equal(before);
  });

  it('is an agent by the name given, unconfirmed and without a face, like anybody', async () => {
    const known = await hiring.addKnown();
    const { body } = await app.post('agents', { name: 'Nick', email: known.email, role: 'agent' });
    expect(body).to.include({ name: 'Nick', email: known.email, confirmed: false, avatar_url: null });
    expect(body.id).to.be.above(known.id);
  });

  it('gets one mail for one Idempotency-Key, and none for a refusal', async () => {
    const known = await hiring.addKnown();
    for (const email of [known.email, hiring.newEmail()]) {
      const agent = { name: 'Nick', email, role: 'agent' };
      const headers = { 'idempotency-key': `invite ${email}` };
      const [first, second] = [await app.post('agents', agent, headers), await app.post('agents', agent, headers)];
      expect([first.status, second.status]).to.deep.equal([201, 201]);
      expect(second.body).to.deep.equal(first.body);
      const again = await app.post('agents', agent, { 'idempotency-key': `invite ${email} again` });
      expect(again.status).to.equal(422);
      expect(hiring.mailTo(email)).to.have.lengthOf(1);
      expect((await hiring.accept(email)).status).to.equal(200);
    }
  });

  it('costs the same statements as somebody unknown', async () => {
    const known = await hiring.addKnown();
    const run = (email: string) => {
      const token = newToken('invitation', systemRandom);
      const input = { name: 'Nick', email, role: 'agent', availability: 'online' } as const;
      const account = { id: 1, name: 'Account' };
      return transact(app.app.database, { account, actor: system }, (tx) => {
        const sql = watched(tx.sql);
        return statementsOf(sql, () => createAgent(Object.assign(tx, { sql }), input, { token, mailed: true }));
      });
    };
    // Statements of entities contain their values.
    const withoutValues = (statements: string[]) => statements.map((text) => text.replaceAll(/E?'[^']*'/g, '?'));
    const ofKnown = withoutValues(await run(known.email));
    expect(ofKnown.length).to.be.above(3);
    expect(ofKnown).to.deep.equal(withoutValues(await run(hiring.newEmail())));
    expect(ofKnown.join('\n')).not.to.match(/\b(FROM|JOIN|INTO|UPDATE) users\b/);
  });

  it('gets no access until the invitation is accepted', async () => {
    const known = await hiring.addKnown();
    const profile = (await app.get('/api/v1/profile', known.headers)).body;
    const agent = await hiring.hire(known.email);
    const { body: inbox } = await app.post('inboxes', { name: 'Desk' });
    await app.post(`inboxes/${inbox.id}/members`, { user_ids: [agent] });
    for (const [method, path] of [
      ['GET', 'agents'],
      ['GET', 'conversations'],
      ['PATCH', `agents/${agent}`],
      ['DELETE', `agents/${agent}`],
      ['GET', `inboxes/${inbox.id}`],
    ] as const) {
      const answer = await app.call(method, path, method === 'PATCH' ? {} : undefined, known.headers);
      expect([method, path, answer.status, answer.body.error]).to.deep.equal([method, path, 404, 'Account not found']);
    }
    expect((await app.get('/api/v1/profile', known.headers)).body).to.deep.equal(profile);
  });
});

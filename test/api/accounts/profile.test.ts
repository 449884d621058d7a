import { expect } from 'chai';
import { adminToken, TestApp } from '../../support/app.ts';
import { addAccount, addPerson, botHeaders } from '../../support/people.ts';
import { Platform } from '../../support/platform.ts';
import { statuses } from '../../support/statuses.ts';

describe('profile', () => {
  let app: TestApp;

  before(async () => {
    app = await TestApp.start({ engine: false });
    await app.events();
  });

  after(() => app.stop());

  const reset = '/api/v1/profile/reset_access_token';

  it('takes the token in each spelling that clients and proxies leave of it', async () => {
    const token = adminToken;
    const spellings: Record<string, string>[] = [
      { api_access_token: token },
      { 'api-access-token': token },
      { API_ACCESS_TOKEN: token },
      { authorization: `Bearer ${token}` },
      { authorization: `bearer ${token}` },
      { authorization: `BEARER  ${token}` },
    ];
    for (const headers of spellings) {
      const answer = await fetch(`${app.url}/api/v1/profile`, { headers });
      expect([headers, answer.status]).to.deep.equal([headers, 200]);
    }
    for (const authorization of [token, `Basic ${token}`, 'Bearer', `Bearer ${token} more`, `Bearer x${token}`]) {
      const answer = await fetch(`${app.url}/api/v1/profile`, { headers: { authorization } });
      expect([authorization, answer.status]).to.deep.equal([authorization, 401]);
    }
  });

  it('tells who the token belongs to, in every account', async () => {
    const person = await addPerson(app, { name: 'Ada' });
    const other = await addAccount(app, 'Other');
    await new Platform(app).join(other.id, person.id, 'administrator');
    const agents = `/api/v1/accounts/${other.id}/agents`;
    await app.patch(`${agents}/${person.id}`, { availability: 'busy' }, other.administrator.headers);
    const { status, body } = await app.get('/api/v1/profile', person.headers);
    expect(status).to.equal(200);
    expect(body).to.deep.equal({
      id: person.id,
      name: 'Ada',
      email: person.email,
      type: 'user',
      confirmed: true,
      platform_admin: false,
      avatar_url: null,
      account_id: 1,
      role: 'agent',
      accounts: [
        { id: 1, name: 'Demo account', agent_id: person.id, role: 'agent', availability: 'online' },
        { id: other.id, name: 'Other', agent_id: person.id, role: 'administrator', availability: 'busy' },
      ],
    });
  });

  it('a reset answers a new token, and the old one stops', async () => {
    const person = await addPerson(app, { name: 'Bob' });
    const { body: profile } = await app.get('/api/v1/profile', person.headers);
    const { status, body } = await app.post(reset, {}, person.headers);
    expect(status).to.equal(200);
    const { access_token: token, ...rest } = body;
    expect(rest).to.deep.equal(profile);
    expect(token).to.match(/^swu_/);
    expect((await app.get('/api/v1/profile', person.headers)).status).to.equal(401);
    expect((await app.get('/api/v1/profile', { api_access_token: token })).body).to.deep.equal(profile);
    const rows = await app.query<{ text: string }>('SELECT row_to_json(k)::text AS text FROM access_tokens k');
    expect(JSON.stringify(rows)).not.to.include(token);
    expect(await app.eventNames()).to.deep.equal([]);
  });

  it('of many resets at once, one answers a token, which works', async () => {
    const person = await addPerson(app, { name: 'Cleo' });
    const answers = await Promise.all(Array.from({ length: 5 }, () => app.post(reset, {}, person.headers)));
    const won = answers.filter(({ status }) => status === 200);
    expect(statuses(answers)).to.deep.equal([200, 401, 401, 401, 401]);
    const headers = { api_access_token: won[0]!.body.access_token };
    expect((await app.get('/api/v1/profile', headers)).body.id).to.equal(person.id);
    expect(await app.query('SELECT FROM access_tokens WHERE user_id = $1', [person.id])).to.have.lengthOf(1);
  });

  it('a reset sent again with its key finds its token gone', async () => {
    const person = await addPerson(app, { name: 'Dora' });
    const headers = { ...person.headers, 'idempotency-key': 'reset once' };
    const { status, body } = await app.post(reset, {}, headers);
    expect(status).to.equal(200);
    expect((await app.get('/api/v1/profile', { api_access_token: body.access_token })).status).to.equal(200);
    expect((await app.post(reset, {}, headers)).status).to.equal(401);
  });

  it('bots have no profile', async () => {
    const headers = await botHeaders(app);
    expect((await app.get('/api/v1/profile', headers)).status).to.equal(403);
    expect((await app.post(reset, {}, headers)).status).to.equal(403);
  });
});

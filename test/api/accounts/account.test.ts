import { expect } from 'chai';
import { TestApp } from '../../support/app.ts';
import { addPerson } from '../../support/people.ts';

describe('the account', () => {
  let app: TestApp;
  const path = '/api/v1/accounts/1';
  const platformPath = '/platform/api/v1/accounts';
  const key = 'sk-very-secret-4711';

  before(async () => {
    app = await TestApp.start({ engine: false });
    await app.events();
  });
  after(() => app.stop());

  const sealed = async () =>
    (await app.query<{ key: string | null }>('SELECT llm_api_key AS key FROM accounts'))[0]!.key;
  const own = { base_url: 'http://127.0.0.1:9/v1', model: 'small', api_key: key };

  it('is read and renamed by its administrators alone', async () => {
    expect((await app.get(path)).body).to.include({ id: 1, name: 'Demo account', llm: null });
    expect((await app.patch(path, { name: 'Acme' })).body.name).to.equal('Acme');
    const agent = await addPerson(app, { name: 'Ann' });
    expect((await app.get(path, agent.headers)).status).to.equal(403);
    expect((await app.patch(path, { name: 'Mine' }, agent.headers)).status).to.equal(403);
    expect(await app.eventNames()).to.deep.equal([]);
  });

  it('has a model server, whose key is stored sealed and never answered', async () => {
    const set = await app.patch(path, { llm: own });
    expect(set.body.llm).to.deep.equal({ base_url: own.base_url, model: 'small', has_api_key: true });
    expect(await sealed()).to.match(/^v1\./);
    const answers = [set, await app.get(path), await app.get(`${platformPath}/1`), await app.get(platformPath)];
    for (const { body } of answers) expect(JSON.stringify(body)).not.to.include(key);
    expect(JSON.stringify(await app.query('SELECT * FROM accounts'))).not.to.include(key);
    expect(await app.eventNames()).to.deep.equal([]);
  });

  it('keeps what a change leaves out, but never sends the key to another host', async () => {
    await app.patch(path, { llm: own });
    const before = await sealed();
    const { body } = await app.patch(path, { llm: { model: 'large', base_url: 'http://127.0.0.1:9/v2' } });
    expect(body.llm).to.deep.equal({ base_url: 'http://127.0.0.1:9/v2', model: 'large', has_api_key: true });
    expect(await sealed()).to.equal(before);
    const moved = await app.patch(path, { llm: { base_url: 'http://127.0.0.1:10/v1' } });
    expect(moved.body.llm).to.include({ model: 'large', has_api_key: false });
    expect(await sealed()).to.equal(null);
    await app.patch(path, { llm: own });
    expect((await app.patch(path, { llm: { api_key: null } })).body.llm.has_api_key).to.equal(false);
    expect((await app.patch(path, { llm: null })).body.llm).to.equal(null);
    expect((await app.patch(path, { name: 'Acme' })).body.llm).to.equal(null);
  });

  for (const [llm, pointer] of [
    [{ base_url: own.base_url }, '/llm/model'],
    [{ model: 'small' }, '/llm/base_url'],
    [{ ...own, base_url: 'http://10.0.0.1/v1' }, '/llm/base_url'],
    [{ ...own, base_url: 'http://169.254.169.254/v1' }, '/llm/base_url'],
    [{ ...own, base_url: 'ftp://models.example/v1' }, '/llm/base_url'],
    [{ ...own, base_url: 'https://user:pass@models.example/v1' }, '/llm/base_url'],
    [{ ...own, base_url: 'https://models.example/v1?key=1' }, '/llm/base_url'],
    [{ ...own, model: ' ' }, '/llm/model'],
    [{ ...own, api_key: '' }, '/llm/api_key'],
    [{ ...own, api_key: 'a\nb' }, '/llm/api_key'],
    ['openai', '/llm'],
  ] as const) {
    it(`refuses ${JSON.stringify(llm)}, in the account and on the platform`, async () => {
      for (const target of [path, `${platformPath}/1`]) {
        const { status, body } = await app.patch(target, { llm });
        expect([status, body.details?.[0]?.path]).to.deep.equal([422, pointer]);
      }
      expect((await app.get(path)).body.llm).to.equal(null);
    });
  }

  it('can be given a model server by the platform, from its beginning', async () => {
    const { status, body } = await app.post(platformPath, { name: 'Second', llm: own });
    expect([status, body.llm]).to.deep.equal([201, { base_url: own.base_url, model: 'small', has_api_key: true }]);
    const { id } = body;
    expect((await app.patch(`${platformPath}/${id}`, { llm: null })).body.llm).to.equal(null);
  });
});

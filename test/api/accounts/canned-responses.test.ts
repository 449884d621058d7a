import { expect } from 'chai';
import { TestApp } from '../../support/app.ts';
import { addPerson, botHeaders, type User } from '../../support/people.ts';

describe('canned responses', () => {
  let app: TestApp;
  let ada: User;

  before(async () => {
    app = await TestApp.start({ engine: false });
    ada = await addPerson(app, { name: 'Ada' });
    await app.events();
  });

  after(() => app.stop());

  const create = (short_code: string, content = 'Text') =>
    app.post('canned_responses', { short_code, content }, ada.headers);
  const search = async (text: string): Promise<string[]> => {
    const { status, body } = await app.get(`canned_responses?search=${encodeURIComponent(text)}`, ada.headers);
    expect(status, JSON.stringify(body)).to.equal(200);
    return body.payload.map(({ short_code: code }: { short_code: string }) => code);
  };

  it('an agent creates, reads, changes and deletes one, and nothing is said of it', async () => {
    const { status, body } = await create('hours', 'We are open from 9 to 17.');
    expect(status).to.equal(201);
    expect(body).to.include({ account_id: 1, short_code: 'hours', content: 'We are open from 9 to 17.' });
    const path = `canned_responses/${body.id}`;
    expect((await app.get(path, ada.headers)).body).to.deep.equal(body);
    const changed = await app.patch(path, { content: 'We are closed.' }, ada.headers);
    expect([changed.status, changed.body.short_code, changed.body.content]).to.deep.equal([
      200,
      'hours',
      'We are closed.',
    ]);
    expect((await app.delete(path, ada.headers)).status).to.equal(200);
    expect((await app.get(path)).status).to.equal(404);
    expect(await app.eventNames()).to.deep.equal([]);
  });

  it('a short code is unique in the account, also when it is changed', async () => {
    await create('taken');
    const { body: other } = await create('free');
    const answers = [await create('taken'), await app.patch(`canned_responses/${other.id}`, { short_code: 'taken' })];
    for (const { status, body } of answers)
      expect([status, body.details[0].path, body.details[0].rule]).to.deep.equal([422, '/short_code', 'unique']);
  });

  it('a search finds short codes and contents in any case, and takes wildcards for what they are', async () => {
    await create('Refund', 'Your money is on its way.');
    await create('rate', 'A discount of 100% is_none.');
    await create('sorry', 'About your REFUND: we are late.');
    expect(await search('refund')).to.deep.equal(['Refund', 'sorry']);
    expect(await search(' 100% ')).to.deep.equal(['rate']);
    expect(await search('is_n')).to.deep.equal(['rate']);
    expect(await search('%')).to.deep.equal(['rate']);
    expect(await search('\\')).to.deep.equal([]);
    expect(await search("o'r? :a ??")).to.deep.equal([]);
    for (const refused of ['%20', '', '%00', 'x'.repeat(256)])
      expect((await app.get(`canned_responses?search=${refused}`)).status, refused).to.be.oneOf([400, 422]);
  });

  it('a search has short codes that begin with it first, then those that contain it, on the first page whatever else is found', async () => {
    for (let number = 10; number < 40; number += 1) await create(`filler ${number}`, 'Ask for your ORDER.');
    for (const code of ['my order', 'zz', 'Order status', 'order']) await create(code, 'About your order');
    const { body } = await app.get('canned_responses?search=order', ada.headers);
    const codes = body.payload.map(({ short_code: code }: { short_code: string }) => code);
    expect(codes.slice(0, 2)).to.have.members(['Order status', 'order']);
    expect(codes.slice(2, 4)).to.deep.equal(['my order', 'filler 10']);
    expect([body.meta.count, codes.length]).to.deep.equal([34, 25]);
    const second = (await app.get('canned_responses?search=order&page=2', ada.headers)).body.payload;
    expect(second.at(-1).short_code).to.equal('zz');
  });

  it('bots have none of it', async () => {
    const headers = await botHeaders(app);
    expect((await app.get('canned_responses', headers)).status).to.equal(403);
  });
});

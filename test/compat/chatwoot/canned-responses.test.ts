import { expect } from 'chai';
import { Profile } from '../../support/chatwoot.ts';
import { World } from '../../support/world.ts';

describe('Chatwoot profile: canned responses', function () {
  this.timeout(60_000);
  let world: World;
  let theirs: Profile;

  before(async () => {
    world = await World.build();
    theirs = new Profile(world.app);
  });

  after(() => world.stop());

  const codesOf = async (query = ''): Promise<string[]> => {
    const { status, body } = await theirs.get(`canned_responses${query}`);
    expect([status, Array.isArray(body)]).to.deep.equal([200, true]);
    return body.map(({ short_code: code }: { short_code: string }) => code);
  };

  it('have the fields of theirs, and may come in their wrapper', async () => {
    const given = { short_code: 'wrapped', content: 'Hello' };
    const made = await theirs.succeed('POST', 'canned_responses', { canned_response: given });
    expect(made).to.have.all.keys('id', 'account_id', 'short_code', 'content', 'created_at', 'updated_at');
    expect(made).to.include({ ...given, account_id: 1 });
    expect(made.created_at).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const changed = { canned_response: { content: 'Goodbye' } };
    const after = await theirs.succeed('PATCH', `canned_responses/${made.id}`, changed);
    expect(after).to.include({ id: made.id, short_code: 'wrapped', content: 'Goodbye' });
    const twice = await theirs.post('canned_responses', given);
    expect([twice.status, twice.body.message]).to.deep.equal([422, 'Short code has already been taken']);
    expect((await theirs.call('DELETE', `canned_responses/${made.id}`)).status).to.equal(200);
    expect(await codesOf()).not.to.include('wrapped');
  });

  it('are one list, however many there are; a search puts short codes that begin with it first', async () => {
    const before = new Set(await codesOf());
    for (let number = 10; number < 40; number += 1)
      await theirs.succeed('POST', 'canned_responses', { short_code: `many ${number}`, content: 'Of very many' });
    for (const [short_code, content] of [
      ['a', 'Once more: MANY thanks'],
      ['so many', 'x'],
      ['other', 'x'],
    ])
      await theirs.succeed('POST', 'canned_responses', { short_code, content });
    const many = Array.from({ length: 30 }, (_, index) => `many ${index + 10}`);
    const added = async (query?: string) => (await codesOf(query)).filter((code) => !before.has(code));
    expect(await added()).to.deep.equal(['a', ...many, 'other', 'so many']);
    expect(await codesOf('?search=many')).to.deep.equal([...many, 'so many', 'a']);
    expect(await added('?search=')).to.have.lengthOf(33);
    expect(await codesOf('?search=%25')).to.deep.equal([]);
  });
});

import { expect } from 'chai';
import { Profile } from '../../support/chatwoot.ts';
import { World } from '../../support/world.ts';

describe('Chatwoot profile: custom filters', function () {
  this.timeout(60_000);
  let world: World;
  let theirs: Profile;

  before(async () => {
    world = await World.build();
    theirs = new Profile(world.app);
  });

  after(() => world.stop());

  it('have the fields of theirs, come in their wrapper or without it, and are listed by type', async () => {
    const query = { payload: [{ attribute_key: 'status', filter_operator: 'equal_to', values: ['open'] }] };
    const made = await theirs.succeed('POST', 'custom_filters', {
      custom_filter: { name: 'Open ones', filter_type: 'contact', query },
    });
    expect(made).to.have.all.keys('id', 'name', 'filter_type', 'query', 'created_at', 'updated_at');
    expect(made).to.deep.include({ name: 'Open ones', filter_type: 'contact', query });
    expect(made.created_at).to.match(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
    const flat = await theirs.succeed('POST', 'custom_filters', { name: 'Flat', type: 'contact', query: {} });
    const path = `custom_filters/${made.id}`;
    const changed = await theirs.succeed('PATCH', path, { custom_filter: { name: 'Still open' } });
    expect(await theirs.succeed('GET', path)).to.deep.equal(changed);
    expect(await theirs.succeed('GET', 'custom_filters?filter_type=contact')).to.deep.equal([flat, changed]);
    const usual = await theirs.succeed('POST', 'custom_filters', { custom_filter: { name: 'Usual', query: {} } });
    expect(usual.filter_type).to.equal('conversation');
    expect(await theirs.succeed('GET', 'custom_filters?filter_type=')).to.deep.equal([usual]);
    expect((await theirs.call('DELETE', path)).status).to.equal(200);
    const gone = await theirs.get(path);
    expect([gone.status, gone.body.error]).to.deep.equal([404, 'Resource could not be found']);
  });
});

import { expect } from 'chai';
import { Profile } from '../../support/chatwoot.ts';
import { World } from '../../support/world.ts';

describe('Chatwoot profile: people', function () {
  this.timeout(60_000);
  let world: World;
  let theirs: Profile;

  before(async () => {
    world = await World.build();
    theirs = new Profile(world.app);
  });

  after(() => world.stop());

  it('have one id in profile, agents and teams', async () => {
    const { member } = world.home;
    const profile = await theirs.succeed('GET', '/api/v1/profile', undefined, member.headers);
    expect(profile).to.deep.include({ id: member.id, account_id: 1, role: 'agent', availability_status: 'online' });
    expect(profile.accounts[0]).to.include({ id: 1, role: 'agent', availability_status: 'online', status: 'active' });
    expect(profile).to.include.keys('name', 'email', 'available_name', 'ui_settings', 'avatar_url');
    const agents = await theirs.succeed('GET', 'agents', undefined, member.headers);
    const own = agents.find(({ id }: { id: number }) => id === profile.id);
    expect(own).to.include({ email: profile.email, thumbnail: '', available_name: profile.name });
    const team = await theirs.succeed('POST', 'teams', { name: 'Bridges', description: '' });
    const members = await theirs.succeed('POST', `teams/${team.id}/team_members`, { user_ids: [profile.id] });
    expect(members.map(({ id }: { id: number }) => id)).to.deep.equal([profile.id]);
    // One client asks without /api/v1.
    expect(await theirs.succeed('GET', `/accounts/1/teams/${team.id}/team_members`)).to.deep.equal(members);
    expect((await theirs.call('DELETE', `teams/${team.id}/team_members`, { user_ids: [profile.id] })).status).to.equal(
      200,
    );
    expect(await theirs.succeed('GET', `teams/${team.id}/team_members`)).to.deep.equal([]);
    expect((await theirs.succeed('PATCH', `teams/${team.id}`, { name: 'Ways' })).name).to.equal('Ways');
    expect((await theirs.succeed('GET', 'teams')).map(({ name }: { name: string }) => name)).to.include('Ways');
    expect((await theirs.call('DELETE', `teams/${team.id}`)).status).to.equal(200);
  });

  it('are invited with their names for it, and changed', async () => {
    const agent = await theirs.succeed('POST', 'agents', {
      name: 'Grace',
      email: 'grace@example.com',
      availability_status: 'busy',
      auto_offline: true,
    });
    expect(agent).to.include({ name: 'Grace', role: 'agent', availability_status: 'busy', thumbnail: '' });
    const changed = await theirs.succeed('PATCH', `agents/${agent.id}`, {
      role: 'administrator',
      availability: '',
      name: '',
    });
    expect(changed).to.include({ role: 'administrator', availability_status: 'busy', name: 'Grace' });
    const bad = await theirs.post('agents', { name: 'x', email: 'x@example.com', role: 'owner' });
    expect([bad.status, bad.body.attributes]).to.deep.equal([422, ['role']]);
    expect((await theirs.call('DELETE', `agents/${agent.id}`)).status).to.equal(200);
  });

  it('are members of inboxes', async () => {
    const inbox = await world.home.maker.inbox();
    const { member, mate } = world.home;
    const ids = ({ payload }: { payload: { id: number }[] }) => payload.map(({ id }) => id);
    const body = { inbox_id: String(inbox), user_ids: [String(member.id)] };
    expect(ids(await theirs.succeed('POST', 'inbox_members', body))).to.deep.equal([member.id]);
    const both = await theirs.succeed('PATCH', 'inbox_members', { inbox_id: inbox, user_ids: [member.id, mate.id] });
    expect(ids(both)).to.have.members([member.id, mate.id]);
    expect(both.payload[0]).to.include({ thumbnail: '' });
    await theirs.succeed('DELETE', 'inbox_members', { inbox_id: inbox, user_ids: [mate.id] });
    expect(ids(await theirs.succeed('GET', `inbox_members/${inbox}`))).to.deep.equal([member.id]);
    expect(ids(await theirs.succeed('GET', `inboxes/${inbox}/assignable_agents`))).to.include(member.id);
  });
});

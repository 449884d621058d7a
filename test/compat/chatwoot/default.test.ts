import { expect } from 'chai';
import { routes } from '../../../src/api/index.ts';
import { Profile } from '../../support/chatwoot.ts';
import { fillPath, nameOf, operations, readName } from '../../support/operations.ts';
import { World } from '../../support/world.ts';

// Cursors are sealed anew for each answer; the use of a token is counted by the reading itself.
function lasting(text: string): string {
  return text.replaceAll(/"v1\.[\w-]+"/g, '""').replaceAll(/"token_last_used_at":(?:\d+|null)/g, '');
}

describe('Chatwoot profile: what it leaves as it was', function () {
  this.timeout(60_000);
  let world: World;
  let theirs: Profile;

  before(async () => {
    world = await World.build();
    theirs = new Profile(world.app);
  });

  after(() => world.stop());

  it('our own answers, byte for byte, to requests that were made in the profile between', async () => {
    const read = routes.filter(
      ({ method, contract, path }) => method === 'GET' && !contract.stream && path.includes('/accounts/:account_id'),
    );
    let compared = 0;
    for (const route of read) {
      const name = nameOf(route);
      if (!operations[name]) continue;
      const request = await operations[name](world.home, world);
      const path = fillPath(readName(name).path, 1, request);
      const ask = () => world.send('administrator', { method: 'GET', path });
      const first = await ask();
      await theirs.get(path);
      const second = await ask();
      expect(lasting(second.text), name).to.equal(lasting(first.text));
      compared += 1;
    }
    expect(compared).to.be.above(30);
  });

  it('what ours refuses, though the profile reads it', async () => {
    const id = await world.home.maker.conversation(world.home.inbox);
    const cases: [string, string, object | undefined, number][] = [
      ['POST', `conversations/${id}/messages`, { content: 'x' }, 422],
      ['POST', `conversations/${id}/messages`, { content: 'x', message_type: 1 }, 422],
      ['POST', `conversations/${id}/toggle_status`, {}, 422],
      ['POST', `conversations/${id}/labels`, { labels: ['Unknown'] }, 422],
      ['POST', 'labels', { title: 'UPPER' }, 422],
      ['POST', 'contacts', { email: 'nameless@example.com' }, 422],
      ['POST', 'webhooks', { url: 'http://127.0.0.1:9/x', subscriptions: ['message_created', 'inbox_created'] }, 422],
      ['POST', 'inboxes', { name: 'x' }, 201],
      ['GET', 'automation_rules', undefined, 404],
    ];
    for (const [method, path, body, status] of cases) {
      const answer = await world.app.call(method, path, body);
      expect(answer.status, `${method} ${path} ${JSON.stringify(answer.body)}`).to.equal(status);
      expect(answer.body).not.to.have.any.keys('message', 'attributes');
    }
    const bare = await fetch(`${world.app.url}/api/v1/accounts/1/conversations/${id}/toggle_status`, {
      method: 'POST',
      headers: world.home.administrator.headers,
    });
    expect(bare.status).to.equal(415);
  });

  it('the published contract, which does not know of it', async () => {
    const { body } = await world.app.get('/openapi.json');
    expect(Object.keys(body.paths).filter((path) => path.includes('chatwoot'))).to.deep.equal([]);
    expect((await fetch(`${theirs.url}/openapi.json`)).status).to.equal(404);
  });

  it('the streams, which pass as they are', async () => {
    const { headers } = world.home.administrator;
    const stop = new AbortController();
    const answer = await fetch(`${theirs.url}/api/v1/accounts/1/events/stream`, { headers, signal: stop.signal });
    expect(answer.status).to.equal(200);
    expect(answer.headers.get('content-type')).to.include('text/event-stream');
    stop.abort();
  });

  it('the links of pages, which lead on in the profile', async () => {
    const answer = await theirs.get('contacts?sort=name');
    expect(answer.headers.get('link')).to.match(/^<\/chatwoot\/api\/v1\/accounts\/1\/contacts\?/);
    const ours = await world.app.get('contacts?sort=name');
    expect(ours.headers.get('link')).to.match(/^<\/api\/v1\//);
  });

  it('what pages of other origins may do', async () => {
    const headers = { origin: 'https://elsewhere.example', ...world.home.administrator.headers };
    const answer = await fetch(`${theirs.url}/api/v1/accounts/1/agents`, { headers });
    expect(answer.headers.get('access-control-allow-origin')).to.equal('*');
    const asked = await fetch(`${theirs.url}/api/v1/accounts/1/agents`, {
      method: 'OPTIONS',
      headers: { origin: 'https://elsewhere.example', 'access-control-request-method': 'POST' },
    });
    expect(asked.headers.get('access-control-allow-methods')).to.include('PUT');
  });
});

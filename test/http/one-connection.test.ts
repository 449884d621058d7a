import { expect } from 'chai';
import { routes } from '../../src/api/index.ts';
import type { Route } from '../../src/http/route/route.ts';
import { traitsOf } from '../../src/http/route/traits.ts';
import { fillPath, nameOf, operations, readName } from '../support/operations.ts';
import { addContact, addConversation, addInbox } from '../support/records.ts';
import { World, type PrincipalName, type Reply } from '../support/world.ts';

function callerOf({ contract: { role } }: Route): PrincipalName {
  if (role === 'platform') return 'platform';
  return role === 'contact' || role === 'visitor' ? 'guest' : 'administrator';
}

// A request that needs a second connection while it holds the first waits for itself, and is refused by this bound.
const statementTimeoutMs = 2_000;

describe('with one database connection', () => {
  let world: World;
  let keys = 0;

  before(async () => {
    world = await World.build({ config: { databasePoolMax: 1, statementTimeoutMs } });
  });

  after(() => world.stop());

  async function send(name: string, route: Route, headers: Record<string, string>): Promise<Reply> {
    const { method, path } = readName(name);
    const { body, ...request } = await operations[name]!(world.home, world);
    const full = fillPath(path, world.home.maker.accountId, request);
    return world.send(callerOf(route), { method, path: full, headers, ...(body ? { body } : {}) });
  }

  // With few conversations nothing is left for later.
  const doneAtOnce = ['DELETE contacts/:id', 'POST bulk_actions'];
  const refused = new Map([
    // The sample's factor was begun by nobody.
    ['POST /api/v1/profile/security/second_factor/confirm', 422],
    ['POST /api/v1/profile/security/second_factor/recovery_codes', 422],
    // The service has no identity provider.
    ['POST /sign_in/oidc', 403],
  ]);
  const statusOf = (route: Route): number =>
    refused.get(nameOf(route)) ?? (doneAtOnce.includes(nameOf(route)) ? 200 : (route.contract.status ?? 200));

  for (const route of routes.filter(({ method }) => method !== 'GET')) {
    const { keyed, record } = traitsOf(route, routes);
    const headers: Record<string, Record<string, string>> = { 'as it is': {} };
    if (keyed) headers['with a key'] = { 'idempotency-key': `one connection ${(keys += 1)}` };
    if (record) headers['with a condition'] = { 'if-match': '*' };
    it(`${nameOf(route)} answers ${Object.keys(headers).join(', ')}`, async () => {
      for (const [how, given] of Object.entries(headers)) {
        const reply = await send(nameOf(route), route, given);
        expect([how, reply.status], reply.text).to.deep.equal([how, statusOf(route)]);
      }
    });
  }

  it('a bot that loops under keys is refused and suspended, every time', async () => {
    const { app, home } = world;
    const inbox = await addInbox(app, { botId: home.bot.id });
    for (let round = 0; round < 10; round += 1) {
      const id = await addConversation(app, inbox, { contactId: await addContact(app) });
      await app.query('UPDATE conversations SET bot_streak = 20 WHERE id = $1', [id]);
      await app.events();
      const headers = { ...home.bot.headers, 'idempotency-key': `loop ${round}` };
      const message = { content: 'And another thing', message_type: 'outgoing' };
      const { status, body } = await app.post(`conversations/${id}/messages`, message, headers);
      expect([status, body.code]).to.deep.equal([403, 'loop_suspected']);
      const explained = (await app.get(`conversations/${id}/agent_bot`)).body;
      expect(explained.reason).to.equal('loop_suspected');
      expect(await app.eventNames()).to.deep.equal(['conversation_status_changed', 'message_created']);
    }
  });
});

import { expect } from 'chai';
import { routes } from '../src/api/index.ts';
import { handOff } from '../src/domain/conversations/lifecycle.ts';
import type { ApiError } from '../src/errors.ts';
import { system, transact, type Actor } from '../src/events/transaction.ts';
import { fillPath, nameOf, readName, type Request } from './support/operations.ts';
import { silences, type Scene } from './support/silences.ts';
import { World, type Reply } from './support/world.ts';

type Act = (scene: Scene) => Request | Promise<Request>;
const soon = () => Math.floor(Date.now() / 1000) + 3600;
const statuses = ['open', 'pending', 'resolved', 'snoozed'];

const moved = (status: string) => ({ status, ...(status === 'snoozed' ? { snoozed_until: soon() } : {}) });
const at = (id: number, body: Request['body'] = {}): Request => ({ at: { id }, body });
const message = (body: object): Act => {
  return ({ id }) => ({ at: { conversation_id: id }, body: { content: 'Hello', message_type: 'outgoing', ...body } });
};

/** What a silent bot tries, by operation. Each moves the conversation, speaks in it, or is none of these. */
const attempts: Readonly<Record<string, { refused?: Act[]; allowed?: Act[] }>> = {
  'GET conversations': { allowed: [() => ({})] },
  'GET conversations/meta': { allowed: [() => ({})] },
  'POST conversations/filter': { allowed: [() => ({ body: { payload: [] } })] },
  'GET conversations/search': { allowed: [() => ({ query: 'q=Hello' })] },
  'GET conversations/:id': { allowed: [({ id }) => at(id)] },
  'GET conversations/:id/labels': { allowed: [({ id }) => at(id)] },
  'GET conversations/:id/agent_bot': { allowed: [({ id }) => at(id)] },
  'GET conversations/:conversation_id/messages': { allowed: [({ id }) => ({ at: { conversation_id: id } })] },
  'GET contacts/:id': { allowed: [({ contact }) => at(contact)] },
  'PATCH conversations/:id': {
    allowed: [({ id, home }) => at(id, { priority: 'urgent', sla_policy_id: home.slaPolicy, status: 'pending' })],
  },
  'POST conversations/:id/toggle_priority': { allowed: [({ id }) => at(id, { priority: 'urgent' })] },
  'POST conversations/:id/custom_attributes': { allowed: [({ id }) => at(id, { custom_attributes: { order: 7 } })] },
  'POST conversations/:id/labels': {
    allowed: [({ id, home }) => at(id, { labels: [home.label.title] }), ({ id }) => at(id, { labels: [] })],
  },
  'PATCH conversations': {
    refused: statuses.map((status) => ({ id }) => ({ body: { id, ...moved(status) } })),
  },
  'POST conversations/:id/toggle_status': {
    refused: statuses.map(
      (status) =>
        ({ id }) =>
          at(id, moved(status)),
    ),
  },
  'POST conversations/:id/assignments': {
    refused: [
      ({ id }) => at(id, { assignee_id: null }),
      ({ id }) => at(id, { assignee_id: null, team_id: null }),
      ({ id, home }) => at(id, { assignee_id: home.administrator.id }),
      ({ id, home }) => at(id, { team_id: home.team }),
    ],
  },
  'POST conversations/:conversation_id/messages': {
    refused: [message({}), message({ content_type: 'input_email' })],
    allowed: [message({ private: true })],
  },
};

describe('a silenced bot', () => {
  let world: World;

  before(async function () {
    this.timeout(60_000);
    world = await World.build();
  });

  after(() => world.stop());

  const send = (name: string, request: Request): Promise<Reply> => {
    const { method, path } = readName(name);
    const full = fillPath(path, world.home.maker.accountId, request);
    return world.send('bot', { method, path: full, ...(request.body ? { body: request.body } : {}) });
  };

  async function standing({ home, id }: Scene): Promise<object> {
    const { status, snoozed_until: until, meta } = await home.maker.call('GET', `conversations/${id}`);
    const { answers, reason } = await home.maker.call('GET', `conversations/${id}/agent_bot`);
    const { count } = await home.maker
      .call('GET', `conversations/${id}/messages`)
      .then(({ payload }: { payload: { private: boolean }[] }) => ({
        count: payload.filter((one) => !one.private).length,
      }));
    return { status, until, assignee: meta.assignee, team: meta.team, answers, reason, publicMessages: count };
  }

  async function speak({ id }: Scene): Promise<unknown[]> {
    const { status, body } = await send('POST conversations/:conversation_id/messages', {
      at: { conversation_id: id },
      body: { content: 'May I?', message_type: 'outgoing' },
    });
    return [status, body.code];
  }

  it('is tried on every operation that a bot may call', () => {
    const open = routes.filter(({ contract }) => contract.role === 'bot').map(nameOf);
    expect(Object.keys(attempts).sort()).to.deep.equal(open.sort());
  });

  it('moves no status either by a verb that is called in its name', async () => {
    const { app, home } = world;
    const bot: Actor = { ...system, kind: 'agent_bot', id: home.bot.id, name: 'Bot' };
    const scope = { account: { id: home.maker.accountId, name: 'Account' }, actor: bot };
    for (const way of ['a person was assigned', 'a person replied and snoozed it']) {
      const [, , make] = silences.find(([name]) => name === way)!;
      const scene = await make(world);
      const before = await standing(scene);
      const given = transact(app.app.database, scope, (tx) =>
        handOff(tx, scene.id, { silence: 'handed_off', note: 'Please' }),
      );
      const code = await given.then(
        () => null,
        (error: ApiError) => error.code,
      );
      expect(code, way).to.equal('bot_suppressed');
      expect(await standing(scene)).to.deep.equal(before);
    }
  });

  for (const [way, reason, make] of silences) {
    describe(`after ${way}`, () => {
      // One conversation for all: each test proves that it left everything as it was.
      let scene: Scene;
      before(async () => {
        scene = await make(world);
      });

      for (const [name, { refused = [], allowed = [] }] of Object.entries(attempts)) {
        it(`does ${name}, then speaks: neither silence nor people's hold on it is less`, async () => {
          const before = await standing(scene);
          if (!way.endsWith('resolved it')) expect(before).to.include({ answers: false, reason });
          for (const attempt of allowed) {
            expect((await send(name, await attempt(scene))).status).to.be.oneOf([200, 201]);
            expect(await speak(scene)).to.deep.equal([403, 'bot_suppressed']);
          }
          for (const attempt of refused) {
            const request = await attempt(scene);
            const { status, body } = await send(name, request);
            expect([status, body.code], JSON.stringify(request)).to.deep.equal([403, 'bot_suppressed']);
            expect(await speak(scene)).to.deep.equal([403, 'bot_suppressed']);
          }
          expect(await standing(scene)).to.deep.equal(before);
        });
      }
    });
  }
});

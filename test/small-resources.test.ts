import { expect } from 'chai';
import type { Answer } from './support/app.ts';
import { makeSmall, smallResources } from './support/small-resources.ts';
import { World } from './support/world.ts';

describe('small resources', () => {
  let world: World;

  before(async function () {
    this.timeout(60_000);
    world = await World.build();
  });

  after(() => world.stop());

  function call(method: string, path: string, body?: object): Promise<Answer> {
    return world.app.call(method, path, body, world.home.administrator.headers);
  }

  for (const [kind, { make, change, unique, orderedBy, refused }] of Object.entries(smallResources)) {
    describe(kind, () => {
      it('keep what they are given, and change in what is given alone', async () => {
        const { maker } = world.home;
        const given = make(maker);
        const made = await call('POST', kind, given);
        expect(made.body).to.deep.include({ ...given, account_id: maker.accountId });
        const path = `${kind}/${made.body.id}`;
        expect((await call('GET', path)).body).to.deep.equal(made.body);
        const changes = change(maker);
        const changed = (await call('PATCH', path, changes)).body;
        expect(changed).to.deep.equal({ ...made.body, ...changes, updated_at: changed.updated_at });
        await world.app.query(`UPDATE ${kind} SET updated_at = created_at - interval '1 day' WHERE id = $1`, [
          changed.id,
        ]);
        const before = (await call('GET', path)).body;
        expect((await call('PATCH', path, changes)).body, 'the same again').to.deep.equal(before);
        expect(before).to.deep.equal({ ...changed, updated_at: made.body.created_at - 86_400 });
      });

      it(`are listed by ${orderedBy}, page by page`, async () => {
        const { maker } = world.home;
        const read = async (query = '') => (await call('GET', `${kind}${query}`)).body;
        for (let { count } = (await read()).meta; count < 27; count++) await makeSmall(maker, kind);
        const [one, two] = [await read(), await read('?page=2')];
        expect(one.meta).to.include({ current_page: 1, total_pages: Math.ceil(one.meta.count / one.payload.length) });
        expect(two.meta).to.include({ current_page: 2, count: one.meta.count });
        const all = [...one.payload, ...two.payload];
        const sorted = await world.app.query<{ id: number }>(
          `SELECT id FROM ${kind} WHERE account_id = $1 ORDER BY ${orderedBy} LIMIT ${all.length}`,
          [maker.accountId],
        );
        expect(all.map(({ id }: { id: number }) => id)).to.deep.equal(sorted.map(({ id }) => id));
      });

      it('are gone when they are deleted', async () => {
        const id = await makeSmall(world.home.maker, kind);
        expect((await call('DELETE', `${kind}/${id}`)).body).to.deep.equal({});
        for (const method of ['GET', 'PATCH', 'DELETE'])
          expect((await call(method, `${kind}/${id}`, method === 'GET' ? undefined : {})).status, method).to.equal(404);
      });

      for (const fault of refused) {
        it(`are not made, nor changed, with ${JSON.stringify(fault)}`, async () => {
          const id = await makeSmall(world.home.maker, kind);
          for (const [method, path] of [
            ['POST', kind],
            ['PATCH', `${kind}/${id}`],
          ] as const) {
            const given = { ...(method === 'POST' ? make(world.home.maker) : {}), ...fault };
            const { status, body } = await call(method, path, given);
            expect([status, body.details[0].path]).to.deep.equal([422, `/${Object.keys(fault)[0]}`]);
          }
        });
      }

      if (unique === undefined) return;
      it(`have a ${unique} of their own, in their account`, async () => {
        const { home, other } = world;
        const given = make(home.maker);
        expect((await call('POST', kind, given)).status).to.equal(201);
        const id = await makeSmall(home.maker, kind);
        for (const [method, path] of [
          ['POST', kind],
          ['PATCH', `${kind}/${id}`],
        ] as const) {
          const twin = { ...(method === 'POST' ? make(home.maker) : {}), [unique]: given[unique] };
          const { status, body } = await call(method, path, twin);
          const [{ path: pointer, rule }] = body.details;
          expect([status, pointer, rule]).to.deep.equal([422, `/${unique}`, 'unique']);
        }
        await other.maker.post(kind, given);
      });
    });
  }
});

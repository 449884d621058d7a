import { expect } from 'chai';
import type { Answer } from '../../support/app.ts';
import { bases } from '../../support/field-clients.ts';
import { hold, holdConversation } from '../../support/lock.ts';
import { World } from '../../support/world.ts';

// Nobody gives up waiting, however slow the machine.
const config = { lockTimeoutMs: 60_000, statementTimeoutMs: 60_000 };
const waiting = `SELECT FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`;
const most = 1000;

for (const [base, prefix] of Object.entries(bases)) {
  describe(`what two do at once at the ${base}`, function () {
    this.timeout(60_000);
    let world: World;
    let id: number;

    before(async () => {
      world = await World.build({ config });
    });

    beforeEach(async () => {
      id = await world.home.maker.conversation(world.home.inbox);
      await world.app.eventNames();
    });

    afterEach(() => world.app.query(`DELETE FROM labels WHERE title LIKE 'filler-%'`));

    after(() => world.stop());

    const send = (method: string, path: string, body: object, headers = {}) =>
      world.app.call(method, `${prefix}/api/v1/accounts/1/${path}`, body, headers);
    const titles = async () =>
      (await world.app.query<{ title: string }>('SELECT title FROM labels WHERE account_id = 1')).map(
        ({ title }) => title,
      );

    /** Begins all of it while `held` keeps each of them waiting, and lets them go together. */
    async function together(
      held: () => Promise<void>,
      requests: readonly (() => Promise<Answer>)[],
    ): Promise<Answer[]> {
      const answers = requests.map((request) => request());
      try {
        await world.app.eventually(async () => (await world.app.query(waiting)).length === requests.length);
      } finally {
        await held();
      }
      return Promise.all(answers);
    }

    it('custom attributes that replace those of a conversation are those of one of them, and no mixture', async () => {
      const path = `conversations/${id}`;
      await world.app.patch(path, { custom_attributes: { before: 1 } });
      await world.app.eventNames();
      const sets = [
        { one: 1, both: 1 },
        { other: 2, both: 2 },
      ];
      const held = await holdConversation(world.app.databaseUrl, id);
      const answers = await together(
        held,
        sets.map((set) => () => send('POST', `${path}/custom_attributes`, { custom_attributes: set })),
      );
      expect(answers.map(({ status }) => status)).to.deep.equal([200, 200]);
      const { custom_attributes: now } = (await world.app.get(path)).body;
      expect(sets).to.deep.include(now);
      const told = (await world.app.events()).map(({ account_payload: payload }) => payload!['changed_attributes']);
      const first = sets.find((set) => JSON.stringify(set) !== JSON.stringify(now));
      expect(told).to.deep.equal([
        { custom_attributes: { previous: { before: 1 }, current: first } },
        { custom_attributes: { previous: first, current: now } },
      ]);
    });

    it('custom attributes that are merged are all there, of conversations and of contacts', async () => {
      const contact = await world.home.maker.contact({ custom_attributes: { before: 1 } });
      const rows = { conversations: id, contacts: contact };
      for (const [noun, row] of Object.entries(rows)) {
        const held = await hold(world.app.databaseUrl, `SELECT FROM ${noun} WHERE id = $1 FOR UPDATE`, [row]);
        const answers = await together(
          held,
          [{ one: 1 }, { other: 2 }].map((set) => () => send('PATCH', `${noun}/${row}`, { custom_attributes: set })),
        );
        expect(
          answers.map(({ status }) => status),
          noun,
        ).to.deep.equal([200, 200]);
        const { custom_attributes: now } = (await world.app.get(`${noun}/${row}`)).body;
        expect(now, noun).to.deep.include({ one: 1, other: 2 });
      }
    });

    it('of two replacements of what both have read, If-Match lets one through', async () => {
      const path = `conversations/${id}`;
      const etag = (await world.app.get(path)).headers.get('etag')!;
      const held = await holdConversation(world.app.databaseUrl, id);
      const sets = [{ one: 1 }, { other: 2 }];
      const answers = await together(
        held,
        sets.map(
          (set) => () => send('POST', `${path}/custom_attributes`, { custom_attributes: set }, { 'if-match': etag }),
        ),
      );
      expect(answers.map(({ status }) => status)).to.have.members([200, 412]);
      const won = sets[answers.findIndex(({ status }) => status === 200)];
      expect((await world.app.get(path)).body.custom_attributes).to.deep.equal(won);
      expect(await world.app.eventNames()).to.deep.equal(['conversation_updated']);
    });

    it('new labels of which one set has room are made of one, and none of the other', async () => {
      const contact = await world.home.maker.contact();
      await world.app.eventNames();
      const before = await titles();
      await world.app.query(
        `INSERT INTO labels (account_id, title) SELECT 1, 'filler-' || n FROM generate_series(1, $1::int) AS n`,
        [most - before.length - 3],
      );
      const held = await hold(world.app.databaseUrl, `SELECT pg_advisory_xact_lock(hashtextextended('labels', 1))`);
      const sets = [
        [`conversations/${id}/labels`, [`first-${base}`, `second-${base}`]],
        [`contacts/${contact}/labels`, [`third-${base}`, `fourth-${base}`]],
      ] as const;
      const answers = await together(
        held,
        sets.map(
          ([path, labels]) =>
            () =>
              send('POST', path, { labels, create_missing: true }),
        ),
      );
      expect(answers.map(({ status }) => status)).to.have.members([200, 422]);
      const refused = answers.findIndex(({ status }) => status === 422);
      expect(answers[refused]!.body.error).to.match(/^An account can have at most 1000 labels: there is no room/);
      const [[lostPath, lost], [wonPath, won]] = [sets[refused]!, sets[1 - refused]!];
      const now = await titles();
      expect(now)
        .to.have.lengthOf(most - 1)
        .and.to.include.members([...won]);
      for (const title of lost) expect(now).not.to.include(title);
      expect((await world.app.get(wonPath)).body.payload).to.have.members(won);
      expect((await world.app.get(lostPath)).body.payload).to.deep.equal([]);
      expect(await world.app.eventNames()).to.deep.equal([
        wonPath.startsWith('contacts') ? 'contact_updated' : 'conversation_updated',
      ]);
    });

    it('a label and a set of new ones have room for one of them: the bound holds', async () => {
      const before = await titles();
      await world.app.query(
        `INSERT INTO labels (account_id, title) SELECT 1, 'filler-' || n FROM generate_series(1, $1::int) AS n`,
        [most - before.length - 1],
      );
      const held = await hold(world.app.databaseUrl, `SELECT pg_advisory_xact_lock(hashtextextended('labels', 1))`);
      const answers = await together(held, [
        () => send('POST', 'labels', { title: `fifth-${base}` }),
        () => send('POST', `conversations/${id}/labels`, { labels: [`sixth-${base}`], create_missing: true }),
      ]);
      expect(answers.filter(({ status }) => status === 422)).to.have.lengthOf(1);
      expect(await titles()).to.have.lengthOf(most);
    });
  });
}

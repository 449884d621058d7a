import { expect } from 'chai';
import { deleteOldEvents } from '../../../src/domain/upkeep/retention.ts';
import { TestApp, type Answer } from '../../support/app.ts';
import { Maker } from '../../support/maker.ts';
import { addAccount, type Person } from '../../support/people.ts';

interface Entry {
  id: number;
  cursor: string;
  event: string;
  conversation_id: number | null;
  sequence: number | null;
  created_at: number;
  payload: Record<string, unknown> | null;
}

describe('GET /events', () => {
  let app: TestApp;
  let accounts = 0;

  before(async () => {
    app = await TestApp.start();
  });

  after(() => app.stop());

  /** A new account, whose feed is its own. */
  async function open() {
    accounts += 1;
    const { id, administrator } = await addAccount(app, `Reader ${accounts}`);
    const maker = new Maker(app, id, { mark: `R${accounts}`, administrator });
    const get = (query = '', { headers }: Person = administrator): Promise<Answer> =>
      app.call('GET', `/api/v1/accounts/${id}/events?${query}`, undefined, headers);
    /** All pages from the beginning, or behind a cursor. */
    const read = async (query = '', by?: Person, from = ''): Promise<Entry[]> => {
      const seen: Entry[] = [];
      for (let after = from; ;) {
        const { status, body } = await get(`${query}${after && `&after=${after}`}`, by);
        expect(status, JSON.stringify(body)).to.equal(200);
        seen.push(...body.payload);
        if (body.meta.next_cursor === after) return seen;
        after = body.meta.next_cursor;
      }
    };
    /** Waits until every event has its position. */
    const placed = () =>
      app.eventually(async () => (await app.query('SELECT FROM unplaced_events LIMIT 1')).length === 0);
    return { id, administrator, maker, get, read, placed };
  }

  it('shows every event with the body that webhooks get, page by page, and goes on where it ended', async () => {
    const { id, maker, get, read, placed } = await open();
    const inbox = await maker.inbox();
    const conversation = await maker.conversation(inbox);
    await maker.message(conversation);
    await placed();
    const rows = await app.query<{ id: number; name: string; account_payload: object | null; sequence: number | null }>(
      'SELECT id, name, account_payload, sequence FROM events WHERE account_id = $1 ORDER BY id',
      [id],
    );
    const seen = await read('limit=1');
    expect(seen.map(({ id: event, event: name, payload, sequence }) => [event, name, payload, sequence])).to.deep.equal(
      rows.map((row) => [row.id, row.name, row.account_payload, row.sequence]),
    );
    expect(seen.map(({ event }) => event)).to.deep.equal([
      'contact_created',
      'conversation_created',
      'message_created',
    ]);
    expect(seen.map((entry) => entry.conversation_id)).to.deep.equal([null, conversation, conversation]);
    expect(seen[0]!.created_at).to.be.closeTo(Date.now() / 1000, 60);
    const whole = await get();
    const last = whole.body.meta.next_cursor as string;
    expect((await get(`after=${last}`)).body).to.deep.equal({ payload: [], meta: { next_cursor: last } });
    await maker.message(conversation);
    await placed();
    expect((await get(`after=${last}`)).body.payload).to.have.lengthOf(1);
    expect((await read('', undefined, seen[1]!.cursor)).at(0)?.id).to.equal(seen[2]!.id);
  });

  it('shows an empty feed, and goes on with its first event', async () => {
    const { maker, get, placed } = await open();
    const { payload, meta } = (await get()).body;
    expect(payload).to.deep.equal([]);
    await maker.contact();
    await placed();
    expect((await get(`after=${meta.next_cursor}`)).body.payload).to.have.lengthOf(1);
  });

  it('chooses by name and by conversation, also where few of many are wanted', async () => {
    const { id, maker, get, read, placed } = await open();
    const inbox = await maker.inbox();
    const [one, other] = [await maker.conversation(inbox), await maker.conversation(inbox)];
    for (const conversation of [one, other, one]) await maker.message(conversation);
    await placed();
    const names = async (query: string) => (await read(query)).map(({ event }) => event);
    expect(await names(`types=message_created&conversation_id=${one}`)).to.deep.equal(Array(2).fill('message_created'));
    expect(await names('types=contact_created,conversation_created')).to.have.lengthOf(4);
    expect((await read(`conversation_id=${one}&limit=1`)).map(({ sequence }) => sequence)).to.deep.equal([1, 2, 3]);
    // Events that are not wanted, more than one page looks at.
    await app.query(
      `WITH made AS (INSERT INTO events (account_id, name) SELECT $1, 'contact_created' FROM generate_series(1, 12000) RETURNING id)
       INSERT INTO unplaced_events SELECT id, $1 FROM made`,
      [id],
    );
    await placed();
    await app.eventually(async () => (await get('types=message_created')).body.payload.length === 3);
    await maker.message(other);
    await placed();
    expect(await names('types=message_created')).to.deep.equal(Array(4).fill('message_created'));
    const foreign = await open();
    expect((await foreign.get(`conversation_id=${one}`)).status).to.equal(404);
    const unknown = await get('types=message_created,message_lost');
    expect([unknown.status, unknown.body.error]).to.deep.equal([400, 'There is no event `message_lost`']);
  });

  it('shows agents the events of the conversations that they may see at that time, and bots nothing', async () => {
    const { maker, get, read, placed } = await open();
    const [member, mate, outsider] = [await maker.agent(), await maker.agent(), await maker.agent()];
    const [inbox, team] = [await maker.inbox({ members: [member] }), await maker.team([mate])];
    const [theirs, other] = [
      await maker.conversation(inbox, { team_id: team }),
      await maker.conversation(await maker.inbox()),
    ];
    await maker.message(theirs);
    await maker.message(other);
    await placed();
    const ofTheirs = (await read(`conversation_id=${theirs}`)).map(({ id }) => id);
    const idsFor = async (person: Person) => (await read('limit=2', person)).map(({ id }) => id);
    expect(await idsFor(member)).to.deep.equal(ofTheirs);
    expect(await idsFor(mate)).to.deep.equal(ofTheirs);
    expect(await idsFor(outsider)).to.deep.equal([]);
    expect(await read(`conversation_id=${theirs}`, outsider)).to.deep.equal([]);
    await maker.call('DELETE', `inboxes/${inbox}/members`, { user_ids: [member.id] });
    expect(await idsFor(member)).to.deep.equal([]);
    expect((await get('', await maker.bot())).status).to.equal(403);
  });

  it('refuses cursors that are forged, or of another feed or list', async () => {
    const { maker, get, placed } = await open();
    const stranger = await open();
    await stranger.maker.contact();
    await maker.contact();
    await placed();
    const foreign = (await stranger.get()).body.meta.next_cursor as string;
    const own = (await get()).body.meta.next_cursor as string;
    const changed = own.slice(0, -2) + (own.endsWith('AA') ? 'BB' : 'AA');
    for (const cursor of [foreign, changed, 'v1.', 'nonsense', '12']) {
      const { status, body } = await get(`after=${cursor}`);
      expect([status, body.code], cursor).to.deep.equal([400, 'bad_query']);
    }
    for (const query of ['limit=0', 'limit=501', 'limit=x', 'types=,', 'conversation_id=0'])
      expect((await get(query)).status, query).to.equal(400);
  });

  it('tells a reader who comes too late, and lets one begin with the oldest event that is kept', async () => {
    const { id, administrator, maker, get, read, placed } = await open();
    for (let count = 0; count < 4; count += 1) await maker.contact();
    await placed();
    const seen = await read();
    // The second event is old and waits for its delivery: it is kept.
    await app.query(
      `WITH lane AS (INSERT INTO lanes (account_id, endpoint_kind, endpoint_id, subject_kind, subject_id)
         VALUES ($1, 'webhook', 1, 'contact', 1) RETURNING id)
       INSERT INTO deliveries (account_id, event_id, lane_id, endpoint_kind, endpoint_id) SELECT $1, $2, id, 'webhook', 1 FROM lane`,
      [id, seen[1]!.id],
    );
    await app.query(`UPDATE events SET created_at = now() - interval '31 days' WHERE account_id = $1 AND id <= $2`, [
      id,
      seen[2]!.id,
    ]);
    await deleteOldEvents(app.app.database, 30);
    const late = await get(`after=${seen[0]!.cursor}`);
    expect([late.status, late.body.code]).to.deep.equal([410, 'cursor_expired']);
    const stream = `/api/v1/accounts/${id}/events/stream?after=${seen[0]!.cursor}`;
    expect((await app.call('GET', stream, undefined, administrator.headers)).status).to.equal(410);
    expect((await read('', undefined, seen[2]!.cursor)).map((entry) => entry.id)).to.deep.equal([seen[3]!.id]);
    // One at a time, although the first is older than what was deleted.
    expect((await read('limit=1')).map((entry) => entry.id)).to.deep.equal([seen[1]!.id, seen[3]!.id]);
    // A database from before this reader's last event, as after a restore.
    await app.query('DELETE FROM event_feed WHERE account_id = $1 AND event_id = $2', [id, seen[3]!.id]);
    await app.query('UPDATE event_feed_heads SET position = 3 WHERE account_id = $1', [id]);
    expect((await get(`after=${seen[3]!.cursor}`)).status).to.equal(410);
  });

  it('names the conversation whose deletion it tells', async () => {
    const { maker, read, placed } = await open();
    const conversation = await maker.conversation(await maker.inbox());
    await maker.call('DELETE', `conversations/${conversation}`);
    await placed();
    const last = (await read()).at(-1)!;
    expect([last.event, last.conversation_id]).to.deep.equal(['conversation_deleted', conversation]);
  });

  it('ends a page early where bodies are long', async () => {
    const { id, maker, get, read, placed } = await open();
    for (let count = 0; count < 3; count += 1) await maker.contact();
    await placed();
    await app.query(
      `UPDATE events SET account_payload = json_build_object('id', 1, 'long', repeat('x', 3000000)) WHERE account_id = $1`,
      [id],
    );
    expect((await get()).body.payload).to.have.lengthOf(1);
    expect(await read()).to.have.lengthOf(3);
  });
});

import { expect } from 'chai';
import { Client } from 'pg';
import { pino } from 'pino';
import { mergeCountChanges, recountConversations } from '../../../src/domain/upkeep/conversation-counts.ts';
import { system, transact, type Transaction } from '../../../src/events/transaction.ts';
import { mergeCounts } from '../../../src/records/conversations/counts.ts';
import { migrate } from '../../../src/postgres/migrate.ts';
import { TestApp } from '../../support/app.ts';
import { addAccount, addPerson, type Person } from '../../support/people.ts';
import { addContact, addConversation, addInbox, addTeam } from '../../support/records.ts';
import { createDatabaseOf010 } from '../../support/release.ts';

class Refusal extends Error {}

// What lists must say, counted row by row: by status, inbox and team, for the administrator and the member of one inbox.
const actual = `SELECT count(*) AS all, count(*) FILTER (WHERE assignee_id = $4) AS mine,
    count(*) FILTER (WHERE assignee_id IS NULL) AS unassigned, count(assignee_id) AS assigned
  FROM conversations WHERE account_id = 1 AND ($1::text = 'all' OR status = $1) AND ($2::bigint IS NULL OR inbox_id = $2)
    AND ($3::bigint IS NULL OR team_id = $3) AND ($5 OR inbox_id IN (SELECT inbox_id FROM inbox_members WHERE user_id = $4)
      OR team_id IN (SELECT team_id FROM team_members WHERE user_id = $4))`;

describe('counts of conversations', function () {
  this.timeout(60_000);
  let app: TestApp;
  let member: Person;
  let inboxes: [number, number];
  let team: number;
  const failures: { err?: { name: string; message: string } }[] = [];

  before(async () => {
    const log = pino({ level: 'error' }, { write: (line: string) => void failures.push(JSON.parse(line)) });
    app = await TestApp.start({ engine: false, log });
    member = await addPerson(app, { name: 'Member' });
    inboxes = [await addInbox(app, { members: [member] }), await addInbox(app)];
    team = await addTeam(app, 'Sales', [member]);
  });

  beforeEach(() => (failures.length = 0));

  after(() => app.stop());

  const account = { id: 1, name: 'Demo account' };
  const change = (work: (tx: Transaction) => Promise<void>) =>
    transact(app.app.database, { account, actor: system }, work);

  async function expectExact(): Promise<void> {
    for (const [person, isAdministrator] of [
      [{ id: 1, headers: undefined }, true],
      [member, false],
    ] as const) {
      for (const status of ['all', 'open', 'resolved', 'pending', 'snoozed']) {
        for (const [inboxId, teamId] of [[], [inboxes[0]], [inboxes[1]], [null, team], [inboxes[1], team]]) {
          const query = `status=${status}${inboxId ? `&inbox_id=${inboxId}` : ''}${teamId ? `&team_id=${teamId}` : ''}`;
          const { body } = await app.get(`conversations?${query}`, person.headers);
          const parameters = [status, inboxId ?? null, teamId ?? null, person.id, isAdministrator];
          const [row] = await app.query<Record<string, number>>(actual, parameters);
          const {
            all_count: all,
            mine_count: mine,
            unassigned_count: unassigned,
            assigned_count: assigned,
          } = body.data.meta;
          expect({ all, mine, unassigned, assigned }, `${query} of ${person.id}`).to.deep.equal(row);
        }
      }
    }
  }

  const kept = () =>
    app.query<{ table: string; total: number }>(
      `SELECT 'counts' AS table, total FROM conversation_counts WHERE account_id = 1
       UNION ALL SELECT 'changes', total FROM conversation_count_changes WHERE account_id = 1`,
    );

  it('are exact whoever writes at once, undoes it or gives up half way, and before and after they are merged', async () => {
    const ids: number[] = [];
    for (let index = 0; index < 12; index += 1) ids.push(await addConversation(app, inboxes[index % 2 ? 1 : 0]));
    // A writer's steps are the same in every run; only how they meet differs.
    const write = async (writer: number): Promise<void> => {
      for (let step = 0; step < 15; step += 1) {
        const at = (writer * 7 + step * 5) % ids.length;
        const mayGiveUp = change(async (tx) => {
          const [one, other] = [await tx.conversation(ids[Math.min(at, 10)]!), await tx.conversation(ids[11]!)];
          Object.assign(one!, { status: step % 2 ? 'resolved' : 'open', snoozedUntil: null });
          one!.assignee = step % 3 ? { id: member.id, name: 'Member' } : null;
          one!.team = (writer + step) % 2 ? { id: team, name: 'Sales' } : null;
          const undone = tx.savepoint(async (inner) => {
            (await inner.conversation(ids[11]!))!.status = 'pending';
            if (step % 2) throw new Refusal();
          });
          await undone.catch((error: unknown) => expect(error).to.be.instanceOf(Refusal));
          other!.assignee = writer % 2 ? { id: 1, name: 'Administrator' } : null;
          if (step % 4 === 3) throw new Refusal();
        });
        await mayGiveUp.catch((error: unknown) => expect(error).to.be.instanceOf(Refusal));
        if (step === 7) await app.delete(`conversations/${await addConversation(app, inboxes[1])}`);
      }
    };
    const merge = async (): Promise<void> => {
      for (let times = 0; times < 20; times += 1) await mergeCountChanges(app.app.database);
    };
    await Promise.all([...Array.from({ length: 6 }, (_, writer) => write(writer)), merge(), merge()]);
    await expectExact();
    expect(await recountConversations(app.app.database)).to.equal(0);
    await mergeCountChanges(app.app.database);
    await expectExact();
    expect(await recountConversations(app.app.database)).to.equal(0);
    const rows = await kept();
    expect(rows.filter(({ table }) => table === 'changes')).to.deep.equal([]);
    expect(rows.filter(({ total }) => total === 0)).to.deep.equal([]);
    expect(failures).to.deep.equal([]);
  });

  it('cost a writer nothing where its conversation stays what it was', async () => {
    const id = await addConversation(app, inboxes[0]);
    const before = await kept();
    await app.post(`conversations/${id}/messages`, { content: 'Good morning', message_type: 'outgoing' });
    expect(await kept()).to.deep.equal(before);
  });

  it('keep no writer waiting while they are merged, and none of what they write is lost', async () => {
    const id = await addConversation(app, inboxes[0]);
    await app.app.database.transaction(async (sql) => {
      await mergeCounts(sql, 1);
      const { status } = await app.post(`conversations/${id}/toggle_status`, { status: 'resolved' });
      expect(status).to.equal(200);
      await expectExact();
    });
    await expectExact();
  });

  it('go with their inbox and with their account', async () => {
    const inbox = await addInbox(app);
    await addConversation(app, inbox);
    await mergeCountChanges(app.app.database);
    await addConversation(app, inbox);
    await app.query('DELETE FROM inboxes WHERE id = $1', [inbox]);
    await mergeCountChanges(app.app.database);
    await expectExact();
    const left = await app.query('SELECT FROM conversation_counts WHERE inbox_id = $1', [inbox]);
    expect(left).to.deep.equal([]);
    const other = await addAccount(app, 'Closing');
    const itsInbox = await addInbox(app, { accountId: other.id });
    await app.query(
      `WITH contact AS (INSERT INTO contacts (account_id, name) VALUES ($1, 'Customer') RETURNING id)
       INSERT INTO conversations (account_id, inbox_id, contact_id, status) SELECT $1, $2, id, 'open' FROM contact`,
      [other.id, itsInbox],
    );
    await app.query('DELETE FROM accounts WHERE id = $1', [other.id]);
    const rows = await app.query('SELECT FROM conversation_count_changes WHERE account_id = $1', [other.id]);
    expect(rows).to.deep.equal([]);
  });

  it('are put right, and told of as an error, where somebody went past the triggers', async () => {
    const contact = await addContact(app);
    await mergeCountChanges(app.app.database);
    await app.query('ALTER TABLE conversations DISABLE TRIGGER conversations_count_new');
    await app.query(
      `INSERT INTO conversations (account_id, inbox_id, contact_id, status, assignee_id) VALUES (1, $1, $2, 'pending', $3)`,
      [inboxes[0], contact, member.id],
    );
    await app.query('ALTER TABLE conversations ENABLE TRIGGER conversations_count_new');
    // Everybody's of that kind, and the member's.
    expect(await recountConversations(app.app.database)).to.equal(2);
    expect(failures.map(({ err }) => err)).to.have.lengthOf(1);
    expect(failures[0]?.err?.message).to.equal(
      `2 counts of conversations were wrong in inbox ${inboxes[0]} of account 1`,
    );
    await expectExact();
    expect(await recountConversations(app.app.database)).to.equal(0);
  });
});

describe('counts of the conversations of 0.1.0, after an upgrade', () => {
  let app: TestApp;

  before(async () => {
    const databaseUrl = await createDatabaseOf010();
    const client = new Client({ connectionString: databaseUrl });
    await client.connect();
    await client.query(`
      INSERT INTO accounts (name) VALUES ('Demo account');
      INSERT INTO inboxes (account_id, name, channel_type, identifier) VALUES (1, 'Inbox', 'Channel::Api', 'a');
      INSERT INTO contacts (account_id, name) VALUES (1, 'Customer');
      INSERT INTO conversations (account_id, inbox_id, contact_id, status)
      SELECT 1, 1, 1, CASE WHEN g < 3 THEN 'open' ELSE 'resolved' END FROM generate_series(1, 5) g;`);
    await client.end();
    await migrate(databaseUrl);
    app = await TestApp.start({ engine: false, databaseUrl });
  });

  after(() => app.stop());

  it('are those of what was there', async () => {
    const counts = await app.query(
      'SELECT status, total, assigned FROM conversation_counts WHERE assignee_id IS NULL ORDER BY status',
    );
    expect(counts).to.deep.equal([
      { status: 'open', total: 2, assigned: 0 },
      { status: 'resolved', total: 3, assigned: 0 },
    ]);
    expect(await recountConversations(app.app.database)).to.equal(0);
  });
});

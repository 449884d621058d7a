import { expect } from 'chai';
import { smallAccount } from '../support/fake-chatwoot.ts';
import { Importing } from '../support/importing.ts';

const [many, first] = [6000, 10_000];

/** Their conversation 3 has thousands of messages, of which the earliest were given the highest ids. */
function oddAccount() {
  const account = smallAccount();
  account.messages[3] = Array.from({ length: many }, (_, index) => ({
    id: first + index,
    message_type: 0,
    content: `Message ${index}`,
    created_at: 1_600_000_000 + ((index + 100) % many),
  }));
  return account;
}

describe('switchboard import chatwoot, of many messages', function () {
  this.timeout(120_000);
  const importing = Importing.use(oddAccount);

  /** By transactions that wrote them: how many messages, and how many characters. */
  const writtenTogether = (account: number) =>
    importing.app.query<{ messages: number; characters: number }>(
      `SELECT count(*)::int AS messages, sum(length(content))::int AS characters FROM messages
       WHERE account_id = $1 GROUP BY xmin::text`,
      [account],
    );

  it('writes a conversation of thousands in parts, whatever the order of its ids', async () => {
    const account = await importing.newAccount();
    const { code, counts, remarks } = await importing.run(account);
    expect([code, remarks, counts.messages.created]).to.deep.equal([0, [], many + 7]);
    const rows = await importing.app.query<{ content: string }>(
      `SELECT m.content FROM messages m JOIN conversations c ON c.id = m.conversation_id
       WHERE m.account_id = $1 AND c.additional_attributes ->> 'chatwoot_id' = '3' ORDER BY m.created_at, m.id`,
      [account],
    );
    const wanted = Array.from({ length: many }, (_, index) => `Message ${(index + many - 100) % many}`);
    expect(rows.map(({ content }) => content)).to.deep.equal(wanted);
    const parts = await writtenTogether(account);
    expect(Math.max(...parts.map(({ messages }) => messages))).to.equal(100);
    const again = await importing.run(account);
    expect(again.counts.messages.created).to.equal(0);
    await importing.verify();
  });

  it('writes about a megabyte of text at once', async () => {
    const account = await importing.newAccount();
    importing.fake.account.messages[3] = Array.from({ length: 20 }, (_, index) => ({
      id: first + index,
      message_type: 0,
      content: `${index} ${'word '.repeat(28_000)}`,
      created_at: 1_600_000_000 + index,
    }));
    const { counts } = await importing.run(account);
    expect(counts.messages.created).to.equal(27);
    const parts = await writtenTogether(account);
    expect(Math.max(...parts.map(({ characters }) => characters))).to.be.within(900_000, 1_000_000);
  });

  describe('of which the database does not write some in time,', function () {
    this.timeout(300_000);
    const why = 'left out: the database did not store it in the time that a statement has';
    const texts = (account: number) =>
      importing.app.query<{ content: string }>(
        `SELECT m.content FROM messages m JOIN conversations c ON c.id = m.conversation_id
         WHERE m.account_id = $1 AND c.additional_attributes ->> 'chatwoot_id' = '3' ORDER BY m.content`,
        [account],
      );
    const missing = (account: number) =>
      importing.app.query('SELECT foreign_id FROM missing_messages WHERE account_id = $1 ORDER BY 1', [account]);

    /** Has messages of these texts end their statement, while the condition holds. */
    async function slowDown(condition: string): Promise<void> {
      await importing.app.query(
        `CREATE FUNCTION be_slow() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
           IF ${condition} THEN
             RAISE EXCEPTION 'canceling statement due to statement timeout' USING ERRCODE = '57014';
           END IF;
           RETURN NEW;
         END $$`,
      );
      await importing.app.query(
        `CREATE TRIGGER slow BEFORE INSERT ON messages FOR EACH ROW
         WHEN (NEW.content IN ('Message 77', 'Message 239')) EXECUTE FUNCTION be_slow()`,
      );
    }

    const speedUp = () => importing.app.query('DROP FUNCTION IF EXISTS be_slow() CASCADE');

    beforeEach(() => {
      importing.fake.account.messages[3]!.length = 250;
    });

    afterEach(speedUp);

    it('it leaves those alone out, names them, and asks for them in the next run', async () => {
      const account = await importing.newAccount();
      await slowDown('true');
      const named = [77, 239].map((index) => ({ what: `message ${first + index} of conversation 3`, why }));
      for (const created of [255, 0]) {
        const { code, counts, remarks } = await importing.run(account);
        expect([code, counts.messages.created, counts.messages.left_out]).to.deep.equal([1, created, 2]);
        expect(remarks).to.deep.equal(named);
      }
      await speedUp();
      await importing.app.events();
      const again = await importing.run(account);
      expect([again.code, again.remarks, again.counts.messages.created]).to.deep.equal([0, [], 2]);
      expect(again.counts.conversations.unchanged).to.equal(3);
      const found = (await texts(account)).map(({ content }) => content);
      expect([found.length, new Set(found).size]).to.deep.equal([250, 250]);
      expect(found).to.include.members(['Message 77', 'Message 239']);
      expect(await missing(account)).to.deep.equal([]);
      expect((await importing.run(account)).counts.messages).to.include({ created: 0, left_out: 0 });
      expect(await importing.app.events()).to.deep.equal([]);
      await importing.verify();
    });

    it('it writes those at the end that it can write by then', async () => {
      const account = await importing.newAccount();
      await slowDown(`NOT EXISTS (SELECT FROM messages WHERE account_id = ${account} AND content = 'Message 249')`);
      const { code, counts, remarks } = await importing.run(account);
      expect([code, remarks, counts.messages.created]).to.deep.equal([0, [], 257]);
      expect(await texts(account)).to.have.lengthOf(250);
      expect(await missing(account)).to.deep.equal([]);
      await importing.verify();
    });

    it('it asks for none that was deleted there, or whose conversation was deleted here, and forgets them with the account', async () => {
      const account = await importing.newAccount();
      await slowDown('true');
      await importing.run(account);
      expect(await missing(account)).to.have.lengthOf(2);
      const messages = importing.fake.account.messages[3]!;
      messages.splice(77, 1);
      const { remarks } = await importing.run(account);
      expect(remarks).to.deep.equal([
        { what: `message ${first + 77} of conversation 3`, why: 'it was deleted there' },
        { what: `message ${first + 239} of conversation 3`, why },
      ]);
      await speedUp();
      const [{ id } = { id: 0 }] = await importing.app.query<{ id: number }>(
        `SELECT id FROM conversations WHERE account_id = $1 AND additional_attributes ->> 'chatwoot_id' = '3'`,
        [account],
      );
      expect((await importing.app.delete(`/api/v1/accounts/${account}/conversations/${id}`)).status).to.equal(200);
      const gone = await importing.run(account);
      expect([gone.code, gone.counts.messages.created]).to.deep.equal([0, 0]);
      expect(await missing(account)).to.deep.equal([]);

      const short = await importing.newAccount('Short');
      await slowDown('true');
      await importing.run(short);
      expect(await missing(short)).to.have.lengthOf(1);
      expect((await importing.app.delete(`/platform/api/v1/accounts/${short}`)).status).to.equal(200);
      expect(await missing(short)).to.deep.equal([]);
    });
  });
});

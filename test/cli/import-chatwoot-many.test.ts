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

  it('halves what the database does not write in time, and leaves out the message alone that it never does', async () => {
    const account = await importing.newAccount();
    importing.fake.account.messages[3]!.length = 250;
    await importing.app.query(
      `CREATE FUNCTION be_slow() RETURNS trigger LANGUAGE plpgsql AS $$
       BEGIN RAISE EXCEPTION 'canceling statement due to statement timeout' USING ERRCODE = '57014'; END $$`,
    );
    await importing.app.query(
      `CREATE TRIGGER slow BEFORE INSERT ON messages FOR EACH ROW
       WHEN (NEW.content IN ('Message 77', 'Message 249')) EXECUTE FUNCTION be_slow()`,
    );
    try {
      const { code, counts, remarks } = await importing.run(account);
      expect([code, counts.messages.created, counts.messages.left_out]).to.deep.equal([1, 255, 2]);
      const why = 'left out: the database did not store it in the time that a statement has';
      expect(remarks).to.deep.equal([
        { what: `message ${first + 77} of conversation 3`, why },
        { what: `message ${first + 249} of conversation 3`, why },
      ]);
    } finally {
      await importing.app.query('DROP TRIGGER slow ON messages');
      await importing.app.query('DROP FUNCTION be_slow()');
    }
    const again = await importing.run(account);
    expect([again.code, again.counts.conversations.unchanged, again.counts.messages.created]).to.deep.equal([0, 3, 0]);
    await importing.verify();
  });
});

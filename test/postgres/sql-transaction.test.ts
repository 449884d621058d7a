import { expect } from 'chai';
import type { SqlTransaction } from '../../src/postgres/sql-transaction.ts';
import { prepared } from '../../src/postgres/prepared.ts';
import { TestApp } from '../support/app.ts';

describe('statements that a transaction sends together', () => {
  let app: TestApp;

  before(async () => {
    app = await TestApp.start({ engine: false });
    await app.query('CREATE TABLE kept (id int PRIMARY KEY, words text[], at timestamptz, more jsonb)');
  });

  after(() => app.stop());

  async function run<Result>(work: (transaction: SqlTransaction) => Promise<Result>): Promise<Result> {
    const transaction = await app.app.database.begin();
    try {
      return await work(transaction);
    } finally {
      await transaction.end();
    }
  }

  const insert = prepared('INSERT INTO kept (id, words, at, more) VALUES ($1, $2, $3, $4)');
  const ids = async () => (await app.query<{ id: number }>('SELECT id FROM kept ORDER BY id')).map(({ id }) => id);

  it('are answered each, with values as they were given', async () => {
    const words = ['plain', 'a "quoted" \\ word', '{1,2}', '', null];
    const at = new Date('2026-11-22T08:00:00.123Z');
    const [, rows] = await run(async (transaction) => {
      const answers = await Promise.all([
        transaction.sql(insert, [1, words, at, JSON.stringify({ a: [1] })]),
        transaction.sql<{ words: unknown; at: string; more: unknown }>('SELECT words, at, more FROM kept'),
      ]);
      await transaction.commit([]);
      return answers;
    });
    expect(rows).to.have.lengthOf(1);
    expect(rows[0]).to.deep.include({ words, more: { a: [1] } });
    expect(new Date(rows[0]!.at)).to.deep.equal(at);
  });

  it('fail together from the first that fails, and then nothing is committed', async () => {
    const before = await ids();
    const failed = await run(async (transaction) => {
      const sent = [1, 2].map((id) => transaction.sql(insert, [id, [], null, null]));
      const settled = await Promise.allSettled(sent);
      return settled.map((answer) => answer.status === 'rejected' && (answer.reason as { code: string }).code);
    });
    expect(failed).to.deep.equal(['23505', '23505']);
    expect(await ids()).to.deep.equal(before);
  });

  it('are committed with the last one, or not at all', async () => {
    const add = (...rows: number[]) =>
      run(async (transaction) => {
        for (const id of rows.slice(0, -1)) await transaction.sql(insert, [id, [], null, null]);
        return transaction.commit([{ text: insert, parameters: [rows.at(-1), [], null, null] }]);
      });
    await add(10, 11);
    const refusal = await add(12, 11).catch((error: { code: string }) => error.code);
    expect(refusal).to.equal('23505');
    expect(await ids())
      .to.include.members([10, 11])
      .and.not.to.include(12);
    await add(12, 13);
    expect(await ids()).to.include.members([12, 13]);
  });

  it('are refused once the transaction is over, whoever has the connection by then', async () => {
    const left = await run(async (transaction) => {
      await transaction.sql('SELECT 1');
      return transaction;
    });
    const late = await left.sql('SELECT 1').catch((error: Error) => error.message);
    expect(late).to.equal('The transaction is over');
  });
});

import { expect } from 'chai';
import { Database } from '../../src/postgres/database.ts';
import { createDatabase, dropDatabase } from '../support/postgres.ts';

describe('the end of a pool', () => {
  let url: string;

  before(async () => {
    url = await createDatabase();
  });

  after(() => dropDatabase(url));

  function open(): Database {
    return new Database({
      url,
      poolMax: 2,
      statementTimeoutMs: 5_000,
      lockTimeoutMs: 5_000,
      idleInTransactionTimeoutMs: 5_000,
      retriesLocks: false,
      clock: { now: () => new Date() },
      warn: () => undefined,
      failed: () => undefined,
    });
  }

  it('comes when a statement is answered for which it opened a connection', async () => {
    const database = open();
    const answered = database.ping();
    await database.close();
    await answered;
    expect(database.inUse).to.equal(0);
  });

  it('comes when statements are answered that waited for a connection', async () => {
    const database = open();
    await database.ping();
    const answered = Promise.all([1, 2, 3, 4].map(() => database.ping()));
    await database.close();
    await answered;
    expect(database.inUse).to.equal(0);
  });
});

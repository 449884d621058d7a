import { expect } from 'chai';
import { Client } from 'pg';
import { migrate } from '../../src/postgres/migrate.ts';
import { createDatabaseOf010 } from '../support/release.ts';
import { dropDatabase } from '../support/postgres.ts';

describe('deliveries of 0.1.0, after an upgrade', () => {
  it('go on in their schedule after the attempts that ended with a result', async () => {
    const url = await createDatabaseOf010();
    const client = new Client({ connectionString: url });
    await client.connect();
    await client.query(`
      INSERT INTO accounts (name) VALUES ('First');
      INSERT INTO contacts (account_id, name) VALUES (1, 'Customer');
      INSERT INTO lanes (account_id, endpoint_kind, endpoint_id, subject_kind, subject_id) VALUES (1, 'webhook', 1, 'contact', 1);
      INSERT INTO events (account_id, name, contact_id) SELECT 1, 'contact_updated', 1 FROM generate_series(1, 2);
      INSERT INTO deliveries (account_id, event_id, lane_id, endpoint_kind, endpoint_id, attempt)
        SELECT 1, id, 1, 'webhook', 1, CASE id WHEN 1 THEN 4 ELSE 0 END FROM events ORDER BY id;
      INSERT INTO attempts (account_id, delivery_id, number, outcome)
        SELECT 1, 1, number, CASE number WHEN 2 THEN 'unknown' ELSE 'failed' END FROM generate_series(1, 4) AS number`);
    await migrate(url);
    const { rows } = await client.query('SELECT attempt, failures, claims FROM deliveries ORDER BY id');
    await client.end();
    await dropDatabase(url);
    expect(rows).to.deep.equal([
      { attempt: 4, failures: 3, claims: 0 },
      { attempt: 0, failures: 0, claims: 0 },
    ]);
  });
});

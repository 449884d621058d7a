import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { TestApp } from '../support/app.ts';
import { runCommand } from '../support/command.ts';
import { createDatabase, dropDatabase } from '../support/postgres.ts';

describe('switchboard verify', function () {
  this.timeout(120_000);
  let app: TestApp;
  let folder: string;

  before(async () => {
    app = await TestApp.start();
    folder = mkdtempSync(join(tmpdir(), 'switchboard-verify-'));
    await app.post('contacts', { name: 'Customer' });
  });

  after(async () => {
    await app.stop();
    rmSync(folder, { recursive: true });
  });

  function verify(databaseUrl: string, ...args: string[]) {
    const key = 'a key that only the tests use, long enough';
    const env = { PATH: process.env['PATH'] ?? '', DATA_DIR: folder, DATABASE_URL: databaseUrl, SECRET_KEY: key };
    return runCommand(['verify', ...args], { env, cwd: folder });
  }

  it('ends with 0 beside a running service whose ledger is whole, and prints what the API answers', async () => {
    const { code, output } = await verify(app.databaseUrl);
    expect([code, output.trimEnd().split('\n').at(-1)]).to.deep.equal([0, 'Everything holds.']);
    const json = await verify(app.databaseUrl, '--json');
    expect(json.output.trimEnd().split('\n')).to.have.lengthOf(1);
    expect(JSON.parse(json.output)).to.deep.equal((await app.get('/platform/api/v1/ledger')).body);
  });

  const breakAndVerify = async () => {
    await app.query(`UPDATE conversation_counts SET total = total + 1`);
    await app.query(
      `INSERT INTO conversation_count_changes (account_id, status, inbox_id, total, assigned) VALUES (1, 'open', 99, 1, 0)`,
    );
    return verify(app.databaseUrl);
  };

  it('ends with 1 and names what is broken', async () => {
    const first = await breakAndVerify();
    // The service recounts once after its start, and may have mended it.
    const { code, output } = first.code === 1 ? first : await breakAndVerify();
    expect([code, output.trimEnd().split('\n').at(-1)]).to.deep.equal([1, 'Broken: L6']);
  });

  it('ends with 2 when it cannot look', async () => {
    const empty = await createDatabase();
    try {
      const unmigrated = await verify(empty);
      expect([unmigrated.code, unmigrated.output]).to.deep.equal([2, '']);
      expect(unmigrated.errors).to.match(/another version/);
    } finally {
      await dropDatabase(empty);
    }
    const missing = await verify(empty, '--json');
    expect([missing.code, missing.output]).to.deep.equal([2, '']);
    expect((await verify('not a database')).code).to.equal(2);
  });
});

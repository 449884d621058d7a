import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { Client } from 'pg';
import packageJson from '../../package.json' with { type: 'json' };
import { sealKey } from '../../src/backups/sealed-key.ts';
import { clusterFolder } from '../../src/postgres/embedded/home.ts';
import { TestApp } from '../support/app.ts';
import { headerOf, withHeader, withMiscounts } from '../support/backup-files.ts';
import { runCommand, type Ended } from '../support/command.ts';
import { createDatabase, dropDatabase } from '../support/postgres.ts';
import { newFolder, removeFolders, until } from './helpers.ts';

const launcher = fileURLToPath(new URL('../../bin/switchboard.js', import.meta.url));
const secretKey = 'a key that only the tests use, long enough';

const waiting = `SELECT FROM pg_stat_activity
  WHERE datname = current_database() AND application_name = 'switchboard backup' AND wait_event_type = 'Lock'`;

describe('refusals of backup and restore', function () {
  this.timeout(120_000);
  let app: TestApp;
  let folder: string;
  let made: Ended;

  const path = (name: string): string => join(folder, name);
  const run = (...args: string[]): Promise<Ended> => runAt(app.databaseUrl, ...args);
  const runAt = (databaseUrl: string, ...args: string[]): Promise<Ended> => {
    const env = { PATH: process.env['PATH'] ?? '', DATABASE_URL: databaseUrl, SECRET_KEY: secretKey };
    return runCommand(args, { env, cwd: folder });
  };

  before(async () => {
    app = await TestApp.start({ engine: false });
    folder = newFolder();
    writeFileSync(path('passphrase'), 'a passphrase that only the tests use\n');
    writeFileSync(path('another'), 'another passphrase, as long as that\n');
    writeFileSync(path('short'), 'too short\n');
    await app.query(`INSERT INTO attachments (account_id, object_key) VALUES (1, 'files/b'), (1, 'files/a')`);
    made = await run('backup', 'sealed', '--with-key', '--passphrase-file', 'passphrase');
    expect((await run('backup', 'keyless')).code).to.equal(0);
    mkdirSync(path('used'));
    writeFileSync(path('used/notes.txt'), 'not empty');
  });

  after(async () => {
    await app.stop();
    removeFolders();
  });

  it('lists the files that are in an object store beside the backup', () => {
    expect([made.code, made.errors]).to.deep.equal([0, '']);
    expect(made.output).to.include(
      '2 files of conversations are in the object store, and not in the backup: sealed.objects lists their keys.',
    );
    expect(readFileSync(path('sealed.objects'), 'utf8')).to.equal('files/a\nfiles/b\n');
  });

  const damage: Record<string, { make: (to: string) => void; refusal: RegExp }> = {
    'is cut short': {
      make: (to) => truncateSync(copied('sealed', to), statSync(path('sealed')).size - 1000),
      refusal: /is incomplete: its end is missing\. Copy it again, or use another backup\.$/,
    },
    'lost a part in its middle': {
      make: (to) => {
        const bytes = readFileSync(path('sealed'));
        writeFileSync(to, Buffer.concat([bytes.subarray(0, 5000), bytes.subarray(6000)]));
      },
      refusal: /is damaged: its checksum does not match its contents\. Copy it again, or use another backup\.$/,
    },
    'was altered in one bit': {
      make: (to) => {
        const bytes = readFileSync(path('sealed'));
        bytes[Math.floor(bytes.length / 2)]! ^= 1;
        writeFileSync(to, bytes);
      },
      refusal: /is damaged: its checksum does not match its contents\./,
    },
    'is empty': { make: (to) => writeFileSync(to, ''), refusal: /is no backup that `switchboard backup` made\.$/ },
    'is of another program': {
      make: (to) => writeFileSync(to, 'PGDMP\0\0'),
      refusal: /is no backup that `switchboard backup` made\.$/,
    },
    'has a newer format': {
      make: (to) => writeFileSync(to, 'switchboard backup 2\n and what nobody knows yet'),
      refusal: /was made by a newer release of Switchboard: restore it with that release\.$/,
    },
    'has migrations of a newer release': {
      make: (to) => {
        const { migrations } = headerOf(path('sealed'));
        withHeader(path('sealed'), to, { release: '9.0.0', migrations: [...migrations, '20991231-9.0.0'] });
      },
      refusal:
        /^This backup was made by release 9\.0\.0, which is newer: this release does not know the migration 20991231-9\.0\.0\. Restore it with release 9\.0\.0\.$/,
    },
    'is not there': { make: () => undefined, refusal: /cannot be read: ENOENT/ },
  };
  for (const [what, { make, refusal }] of Object.entries(damage))
    it(`refuse to restore a file that ${what}, and make nothing`, async () => {
      make(path('damaged'));
      const file = what === 'is not there' ? 'missing' : 'damaged';
      const { code, output, errors } = await run(
        'restore',
        file,
        '--data-dir',
        'new',
        '--passphrase-file',
        'passphrase',
      );
      expect([code, output]).to.deep.equal([1, '']);
      expect(errors.trimEnd()).to.match(refusal).and.not.include('\n');
      expect(existsSync(path('new'))).to.equal(false);
    });

  const mistakes: Record<string, [args: string[], refusal: RegExp]> = {
    'a folder that is not empty': [
      ['sealed', '--data-dir', 'used'],
      /used is not empty: restore into a folder that is/,
    ],
    'a folder that is a file': [['sealed', '--data-dir', 'short'], /short cannot be used: ENOTDIR/],
    'another passphrase': [
      ['sealed', '--data-dir', 'new', '--passphrase-file', 'another'],
      /^The passphrase is wrong: it does not open the key in this backup\. Nothing was restored\.$/,
    ],
    'no passphrase for the key in the backup': [
      ['sealed', '--data-dir', 'new'],
      /^SECRET_KEY is in this backup, sealed with a passphrase: name its file with --passphrase-file, or restore without/,
    ],
    'a passphrase for a backup without a key': [
      ['keyless', '--data-dir', 'new', '--passphrase-file', 'passphrase'],
      /^This backup has no key for the passphrase to open: leave --passphrase-file out\.$/,
    ],
    'a passphrase that is not there': [
      ['sealed', '--data-dir', 'new', '--passphrase-file', 'missing'],
      /^--passphrase-file cannot be read: ENOENT/,
    ],
    'no folder': [['sealed'], /^error: required option '--data-dir <folder>' not specified/],
  };
  for (const [what, [args, refusal]] of Object.entries(mistakes))
    it(`refuse to restore with ${what}, and make nothing`, async () => {
      const { code, output, errors } = await run('restore', ...args);
      expect([code, output]).to.deep.equal([1, '']);
      expect(errors.trimEnd()).to.match(refusal);
      expect(existsSync(path('new'))).to.equal(false);
    });

  const unmade: Record<string, [args: string[], refusal: RegExp]> = {
    'into a file that exists': [['sealed'], /^sealed exists: name a file that does not, or delete it\.$/],
    'into a folder that does not exist': [['none/backup'], /^none\/backup cannot be written: ENOENT/],
    'with the key, but without a passphrase': [['new', '--with-key'], /--passphrase-file FILE belong together/],
    'with a passphrase, but without the key': [['new', '--passphrase-file', 'passphrase'], /belong together/],
    'with a short passphrase': [
      ['new', '--with-key', '--passphrase-file', 'short'],
      /^The passphrase in short is too short: it needs at least 16 characters\.$/,
    ],
  };
  for (const [what, [args, refusal]] of Object.entries(unmade))
    it(`refuse to back up ${what}`, async () => {
      const before = readFileSync(path('sealed'));
      const { code, output, errors } = await run('backup', ...args);
      expect([code, output]).to.deep.equal([1, '']);
      expect(errors.trimEnd()).to.match(refusal);
      expect([existsSync(path('new')), readFileSync(path('sealed')).equals(before)]).to.deep.equal([false, true]);
    });

  it('refuse to back up into a file that an interrupted backup left', async () => {
    writeFileSync(path('again.partial'), 'half');
    const { code, errors } = await run('backup', 'again');
    expect([code, errors]).to.deep.equal([
      1,
      'again.partial exists: a backup into this file is running, or was interrupted. Delete it if none is running.\n',
    ]);
  });

  it('refuse to back up with a key that does not open the secrets, and a database that was never started', async () => {
    const env = { DATABASE_URL: app.databaseUrl, SECRET_KEY: 'x'.repeat(40) };
    const args = ['backup', 'new', '--with-key', '--passphrase-file', 'passphrase'];
    const other = await runCommand(args, { env, cwd: folder });
    expect([other.code, /were sealed with another SECRET_KEY/.test(other.errors)]).to.deep.equal([1, true]);
    const empty = await createDatabase();
    const { code, errors } = await runAt(empty, 'backup', 'new');
    await dropDatabase(empty);
    expect([code, errors]).to.deep.equal([
      1,
      'This release has not been started on this database yet: start it once, then try again.\n',
    ]);
    expect([existsSync(path('new')), existsSync(path('new.partial'))]).to.deep.equal([false, false]);
  });

  it('refuse to back up a key with white space at an end, which the file of a restored key loses', async () => {
    const env = { DATABASE_URL: app.databaseUrl, SECRET_KEY: `${secretKey}\n` };
    const args = ['backup', 'new', '--with-key', '--passphrase-file', 'passphrase'];
    const { code, output, errors } = await runCommand(args, { env, cwd: folder });
    expect([code, output, existsSync(path('new'))]).to.deep.equal([1, '', false]);
    expect(errors).to.equal(
      'SECRET_KEY begins or ends with white space, which the secret-key of a restored folder could not keep: back up without ' +
        '--with-key, and keep the key yourself.\n',
    );
  });

  it('refuse to back up where the list of files exists, and leave what a link there names', async () => {
    writeFileSync(path('victim'), 'kept');
    symlinkSync('victim', path('linked.objects'));
    const { code, errors } = await run('backup', 'linked');
    expect([code, errors]).to.deep.equal([1, 'linked.objects exists: name a file that does not, or delete it.\n']);
    expect([readFileSync(path('victim'), 'utf8'), existsSync(path('linked.partial'))]).to.deep.equal(['kept', false]);
    expect(existsSync(path('linked'))).to.equal(false);
    expect(statSync(path('sealed.objects')).mode & 0o777).to.equal(0o600);
  });

  it('say that a migration ran meanwhile, and leave no file', async () => {
    const migration = new Client({ connectionString: app.databaseUrl });
    await migration.connect();
    try {
      await migration.query('BEGIN; ALTER TABLE labels ADD COLUMN planted int');
      const ending = run('backup', 'new');
      await until(async () => (await app.query(waiting)).length > 0);
      await migration.query('COMMIT');
      const { code, output, errors } = await ending;
      expect([code, output, errors]).to.deep.equal([1, '', 'A migration ran meanwhile: back up again.\n']);
      expect(filesOf('new')).to.deep.equal([]);
    } finally {
      await migration.query('ALTER TABLE labels DROP COLUMN planted');
      await migration.end();
    }
  });

  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    it(`end a backup on ${signal}, and leave no file`, async () => {
      const holder = new Client({ connectionString: app.databaseUrl });
      await holder.connect();
      try {
        await holder.query('BEGIN; LOCK TABLE labels IN ACCESS EXCLUSIVE MODE');
        const env = { PATH: process.env['PATH'] ?? '', DATABASE_URL: app.databaseUrl, SECRET_KEY: secretKey };
        const child = spawn(process.execPath, [launcher, 'backup', 'new'], { cwd: folder, env });
        const errors = text(child.stderr);
        await until(async () => (await app.query(waiting)).length > 0);
        child.kill(signal);
        expect(await once(child, 'exit')).to.deep.equal([1, null]);
        expect(await errors).to.equal(`The backup did not complete: ${signal} stopped it. No file was written.\n`);
        expect(filesOf('new')).to.deep.equal([]);
      } finally {
        await holder.end();
        await until(async () => (await app.query(waiting)).length === 0);
      }
    });

  it('refuse to finish a restore whose key does not open its secrets', async () => {
    const key = sealKey('x'.repeat(40), 'a passphrase that only the tests use');
    withHeader(path('sealed'), path('another-key'), { key });
    const args = ['another-key', '--data-dir', 'keyed', '--passphrase-file', 'passphrase'];
    const { code, errors } = await run('restore', ...args);
    expect(code).to.equal(1);
    expect(errors).to.match(
      /^The key in this backup does not open the secrets in it\. Delete .*keyed, which cannot be used, and restore with --no-key\.$/m,
    );
    expect(existsSync(path('keyed/secret-key'))).to.equal(false);
    expect(existsSync(path('keyed/restore-unfinished'))).to.equal(true);
  });

  it('say that a backup was cut off, and leave no file', async () => {
    const holder = new Client({ connectionString: app.databaseUrl });
    await holder.connect();
    try {
      await holder.query('BEGIN; LOCK TABLE labels IN ACCESS EXCLUSIVE MODE');
      const ending = run('backup', 'new');
      const ends = `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE datname = current_database() AND application_name = 'switchboard backup' AND wait_event_type = 'Lock'`;
      await until(async () => (await app.query(ends)).length > 0);
      const { code, output, errors } = await ending;
      expect([code, output, errors]).to.deep.equal([
        1,
        '',
        'The backup did not complete: terminating connection due to administrator command. No file was written.\n',
      ]);
      expect([existsSync(path('new')), existsSync(path('new.partial'))]).to.deep.equal([false, false]);
    } finally {
      await holder.end();
    }
  });

  it('say that a restore failed, and that its folder cannot be used', async () => {
    withMiscounts(path('keyless'), path('miscounted'));
    const { code, errors } = await run('restore', 'miscounted', '--data-dir', 'failed');
    expect(code).to.equal(1);
    expect(errors).to.match(
      /^The restore did not complete: \w+ has \d+ rows, and 999 in the backup\. Delete .*failed, which cannot be used, and restore again\.$/m,
    );
    const env = { PATH: process.env['PATH'] ?? '', DATA_DIR: path('failed'), SECRET_KEY: secretKey };
    const verified = await runCommand(['verify'], { env, cwd: folder });
    expect([verified.code, /this folder cannot be used/.test(verified.errors)]).to.deep.equal([2, true]);
  });

  it('refuse every use of a folder whose restore was killed', async () => {
    expect(headerOf(path('keyless')).release).to.equal(packageJson.version);
    const args = [launcher, 'restore', 'keyless', '--data-dir', 'killed'];
    const child = spawn(process.execPath, args, { cwd: folder, stdio: 'ignore' });
    await until(() => existsSync(clusterFolder(path('killed/postgres'))));
    child.kill('SIGKILL');
    await once(child, 'exit');
    const env = { PATH: process.env['PATH'] ?? '', DATA_DIR: path('killed'), SECRET_KEY: secretKey };
    for (const command of [['start'], ['verify'], ['token'], ['backup', 'new']]) {
      const { code, output, errors } = await runCommand(command, { env, cwd: folder });
      expect([code === 0, output], command.join(' ')).to.deep.equal([false, '']);
      expect(errors).to.match(
        /^The restore into .*killed is running, or did not complete: this folder cannot be used\./m,
      );
    }
    const again = await run('restore', 'keyless', '--data-dir', 'killed');
    expect([again.code, /is not empty/.test(again.errors)]).to.deep.equal([1, true]);
  });

  function filesOf(name: string): string[] {
    return readdirSync(folder).filter((file) => file.startsWith(name));
  }

  function copied(from: string, to: string): string {
    copyFileSync(path(from), to);
    return to;
  }
});

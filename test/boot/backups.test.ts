import { expect } from 'chai';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { runningPostgresUrl } from '../../src/postgres/embedded/running.ts';
import { rowsOf } from '../faults/helpers.ts';
import { Sink } from '../faults/sink.ts';
import { rowsInBackup } from '../support/backup-files.ts';
import { runCommand, type Ended } from '../support/command.ts';
import { noise, sendFiles } from '../support/files.ts';
import { killServices, ServiceProcess } from '../support/service.ts';
import { newFolder, removeFolders, until } from './helpers.ts';

const writers = 4;
const passphrase = 'a passphrase that only the tests use';
const isCopy = { status: 'ready', sending: false, reason: 'copy' };
const file = { name: 'manual.bin', bytes: noise(700_000) };

const message = (content: string) => ({ content, message_type: 'incoming' });

const guards = `
  SELECT conrelid::regclass::text AS "table", conname AS name, pg_get_constraintdef(oid) AS definition FROM pg_constraint
  WHERE connamespace = 'public'::regnamespace
  UNION ALL
  SELECT tgrelid::regclass::text, tgname, concat(pg_get_triggerdef(oid), tgenabled) FROM pg_trigger WHERE NOT tgisinternal
  ORDER BY 1, 2`;

describe('backup and restore', function () {
  // Each start takes long beside others.
  this.timeout(600_000);
  let folder: string;
  let original: string;
  let sink: Sink;
  let service: ServiceProcess;
  let conversations: number[];
  /** The link to the file, at the original. */
  let link: URL;
  /** Messages of each writer that were acknowledged before the backup began. */
  let acknowledged: number[];
  let backedUp: Ended;

  const path = (name: string): string => join(folder, name);
  const run = (args: string[], env: Record<string, string> = {}): Promise<Ended> =>
    runCommand(args, { env: { PATH: process.env['PATH'] ?? '', LOG_LEVEL: 'error', ...env }, cwd: folder });
  const backUp = (name: string, ...args: string[]) => run(['backup', name, ...args], { DATA_DIR: original });
  const restore = (name: string, to: string, ...args: string[]) => run(['restore', name, '--data-dir', to, ...args]);
  const withPassphrase = ['--passphrase-file', 'passphrase'];

  before(async () => {
    folder = newFolder();
    original = path('original');
    writeFileSync(path('passphrase'), `${passphrase}\n`);
    sink = await Sink.start();
    service = await ServiceProcess.start({ dataDir: original });
    await service.post('webhooks', { url: sink.url, subscriptions: ['message_created'] });
    const inbox = (await service.post('inboxes', { name: 'Help', channel: { type: 'api' } })).body.id;
    const contact = (await service.post('contacts', { name: 'Customer' })).body.id;
    conversations = [];
    for (let made = 0; made < writers; made += 1)
      conversations.push((await service.post('conversations', { inbox_id: inbox, contact_id: contact })).body.id);
    const messages = `conversations/${conversations[0]}/messages`;
    const sent = await sendFiles(service, messages, message('file'), { files: [file] });
    link = new URL(sent.body.attachments[0].data_url);
    await backUpUnderLoad();
    expect((await backUp('keyless.backup')).code).to.equal(0);
  });

  after(async () => {
    await killServices();
    await sink.close();
    removeFolders();
  });

  async function backUpUnderLoad(): Promise<void> {
    const written = conversations.map(() => 0);
    const ending = new AbortController();
    const write = async (id: number, writer: number): Promise<void> => {
      for (let number = 0; !ending.signal.aborted; number += 1) {
        const { status } = await service.post(`conversations/${id}/messages`, message(`load ${number}`));
        expect(status).to.equal(201);
        written[writer] = number + 1;
      }
    };
    const writing = Promise.all(conversations.map(write));
    await Promise.race([until(() => written.every((count) => count >= 5)), writing]);
    acknowledged = [...written];
    backedUp = await backUp('under-load.backup', '--with-key', ...withPassphrase);
    ending.abort();
    await writing;
    const after = written.reduce((sum, count, writer) => sum + count - (acknowledged[writer] ?? 0), 0);
    process.stderr.write(`  ${acknowledged.join(' + ')} messages before, ${after} while the backup was made\n`);
    expect(after).to.be.greaterThan(0);
  }

  it('writes a file that only its owner reads, with its checksum', () => {
    expect([backedUp.code, backedUp.errors]).to.deep.equal([0, '']);
    const bytes = readFileSync(path('under-load.backup'));
    const sum = createHash('sha256').update(bytes).digest('hex');
    expect(backedUp.output).to.match(
      new RegExp(`^Backed up \\d+ tables with [\\d,]+ rows into under-load.backup, [\\d,]+ bytes.\nSHA-256: ${sum}\n`),
    );
    expect(backedUp.output).to.include('SECRET_KEY is in the backup, sealed with the passphrase.');
    expect(statSync(path('under-load.backup')).mode & 0o777).to.equal(0o600);
    const key = readFileSync(join(original, 'secret-key'), 'utf8').trim();
    expect(bytes.includes(key)).to.equal(false);
  });

  describe('of a backup under load', () => {
    const copy = (): string => path('copy');
    const atCopy = { LOG_LEVEL: 'error' };

    before(async () => {
      const { code, output, errors } = await restore('under-load.backup', 'copy', ...withPassphrase);
      expect([code, errors]).to.deep.equal([0, '']);
      expect(output)
        .to.include('SECRET_KEY is restored as well')
        .and.include(`DATA_DIR=${copy()} npx switchboard start`);
    });

    it('has every row of the backup, whose ledger is clean', async () => {
      const again = await run(['backup', 'again.backup'], { DATA_DIR: copy() });
      expect([again.code, again.errors]).to.deep.equal([0, '']);
      // The copy has no home that any database could take for its own.
      const [{ installation, ...rows }, { installation: homeless, ...others }] = [
        rowsInBackup(path('under-load.backup')),
        rowsInBackup(path('again.backup')),
      ] as [Record<string, string>, Record<string, string>];
      expect(homeless).to.be.a('string').and.not.equal(installation);
      expect(Object.keys(others)).to.deep.equal(Object.keys(rows));
      for (const [name, text] of Object.entries(rows)) expect(others[name] === text, name).to.equal(true);
      const verified = await run(['verify'], { DATA_DIR: copy() });
      expect([verified.code, verified.output.trimEnd().split('\n').at(-1)]).to.deep.equal([0, 'Everything holds.']);
    });

    it('serves as a copy: what was acknowledged before, one moment of what came after, files; it sends nothing until --adopt', async () => {
      const guarded = await rowsOf(runningPostgresUrl(original) ?? '', guards);
      await service.stop();
      const arrived = sink.log.length;
      let served = await ServiceProcess.start({ dataDir: copy(), env: atCopy });
      expect((await served.get('/readyz')).body).to.deep.equal(isCopy);
      const url = runningPostgresUrl(copy()) ?? '';
      expect(await rowsOf(url, guards)).to.deep.equal(guarded);
      for (const [writer, id] of conversations.entries()) {
        const said = await rowsOf<{ content: string }>(
          url,
          `SELECT content FROM messages WHERE conversation_id = ${id} AND content LIKE 'load %' ORDER BY id`,
        );
        expect(said.map(({ content }) => content)).to.deep.equal(said.map((_, number) => `load ${number}`));
        expect(said.length).to.be.at.least(acknowledged[writer] ?? 0);
      }
      // The link is signed with the key, which was restored.
      const bytes = await (await fetch(served.url + link.pathname + link.search)).arrayBuffer();
      expect(file.bytes.equals(Buffer.from(bytes))).to.equal(true);

      const { status } = await served.post(`conversations/${conversations[0]}/messages`, message('in the copy'));
      expect(status).to.equal(201);
      const [delivery] = (await served.get('deliveries?state=pending')).body.payload;
      expect(delivery.waits_for.reason).to.equal('outbound');
      expect(sink.log).to.have.lengthOf(arrived);
      await served.stop();
      served = await ServiceProcess.start({ dataDir: copy(), env: atCopy, args: ['--adopt'] });
      await until(() => sink.log.some(({ body: { content } }) => content === 'in the copy'));
      await served.stop();
    });
  });

  it('restores without the key, and says how to bring it', async () => {
    // Production's database, which nothing that is printed may touch.
    writeFileSync(path('.env'), 'DATABASE_URL=postgresql://nobody@127.0.0.1:9/production\n');
    const { code, output } = await restore('keyless.backup', "key'less one");
    expect(code).to.equal(0);
    const there = `DATABASE_URL= DATABASE_URL_FILE= DATA_DIR='${path("key'\\''less one")}' npx switchboard`;
    expect(output).to.include(`Check it: ${there} verify\n`).and.include(`Start it: ${there} start\n`);
    expect(output).to.include("SECRET_KEY is not restored: set it to the original's, or copy the original's");
    expect(existsSync(path("key'less one/secret-key"))).to.equal(false);
    const verified = await run(['verify'], {
      DATABASE_URL: '',
      DATABASE_URL_FILE: '',
      DATA_DIR: path("key'less one"),
      SECRET_KEY: readFileSync(join(original, 'secret-key'), 'utf8').trim(),
    });
    expect(verified.code).to.equal(0);
    rmSync(path('.env'));
    const other = await run(['neutralize', '--yes'], { DATA_DIR: path("key'less one"), SECRET_KEY: 'x'.repeat(40) });
    expect([other.code, other.errors]).to.deep.equal([
      1,
      'The secrets in this database were sealed with another SECRET_KEY (on the embedded database: DATA_DIR/secret-key). Start with that one.\n',
    ]);
  });
});

import { expect } from 'chai';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { writeServicePass } from '../../src/lib/service-pass.ts';
import { adminToken, TestApp } from '../support/app.ts';
import { runCommand } from '../support/command.ts';
import { addPerson } from '../support/people.ts';
import { zipOf } from '../support/zip.ts';

describe('switchboard articles import', function () {
  this.timeout(120_000);
  let app: TestApp;
  let data: string;
  let folder: string;

  before(async () => {
    app = await TestApp.start({ engine: false });
    data = mkdtempSync(join(tmpdir(), 'switchboard-data-'));
    await writeServicePass(data, { url: app.url, token: adminToken });
  });
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'switchboard-articles-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));
  after(async () => {
    await app.stop();
    rmSync(data, { recursive: true });
  });

  /** Calls the command with the DATA_DIR of the service, unless the environment says otherwise. */
  function run(args: string[], env: Record<string, string> = { DATA_DIR: data }) {
    return runCommand(['articles', 'import', ...args], {
      env: { PATH: process.env['PATH'] ?? '', ...env },
      cwd: folder,
    });
  }

  function write(files: Record<string, string | Buffer>): void {
    for (const [name, content] of Object.entries(files)) {
      const path = join(folder, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, content);
    }
  }

  const paths = async (account = 1) =>
    (await app.query<{ path: string }>('SELECT path FROM articles WHERE account_id = $1 ORDER BY path', [account])).map(
      ({ path }) => path,
    );

  it('takes the Markdown of a folder, and the same again changes nothing', async () => {
    const secret = join(data, 'secret.md');
    writeFileSync(secret, 'Not to be read.');
    write({
      'returns.md': '# Returns\n\nWithin 30 days.',
      'guides/descale.de.md': '---\ntitle: Entkalken\n---\nMit Zitronensäure.',
      'guides/picture.png': 'no text',
      '.git/notes.md': 'hidden',
      'node_modules/package/README.md': 'of a package',
    });
    symlinkSync(secret, join(folder, 'link.md'));
    const first = await run(['.', '--language', 'fr']);
    expect(first).to.deep.equal({ code: 0, output: '2 created, 0 updated, 0 unchanged.\n', errors: '' });
    expect(await paths()).to.deep.equal(['guides/descale.de.md', 'returns.md']);
    expect(await app.query('SELECT title, language FROM articles ORDER BY path')).to.deep.equal([
      { title: 'Entkalken', language: 'de' },
      { title: 'Returns', language: 'fr' },
    ]);
    write({ 'returns.md': '# Returns\n\nWithin 60 days.' });
    const { output } = await run([folder, '--json']);
    expect(JSON.parse(output)).to.deep.equal({ created: 0, updated: 1, unchanged: 1, errors: [] });
  });

  it('says which files were left out, and ends with 1', async () => {
    write({
      'good.md': 'Good.',
      'empty.md': '# Nothing else',
      'endless.md': '---\ntitle: x',
      'latin.md': Buffer.from('\u00fc', 'latin1'),
      'huge.md': 'x'.repeat(1024 * 1024 + 1),
      'long.md': 'x'.repeat(150_001),
    });
    const { code, output } = await run([folder]);
    expect(code).to.equal(1);
    expect(output.split('\n').toSorted()).to.deep.equal(
      [
        '',
        '1 created, 0 updated, 0 unchanged.',
        '5 left out:',
        '  - empty.md: `content` must not be empty',
        '  - endless.md: the front matter has no end: a line of three hyphens is missing',
        '  - huge.md: has more than 1048576 bytes',
        '  - latin.md: is not valid UTF-8',
        '  - long.md: `content` must have at most 150000 characters',
      ].toSorted(),
    );
  });

  it('sends a large folder in parts', async () => {
    write(Object.fromEntries(Array.from({ length: 450 }, (_, index) => [`many/${index}.md`, `Text ${index}.`])));
    const { output } = await run([folder]);
    expect(output).to.equal('450 created, 0 updated, 0 unchanged.\n');
    expect((await paths()).filter((path) => path.startsWith('many/'))).to.have.length(450);
  });

  it('sends an archive or lines as they are', async () => {
    write({ 'help.zip': zipOf({ 'zipped.md': 'Zipped.' }), 'help.jsonl': '{"title": "x"}\n' });
    expect((await run(['help.zip'])).output).to.equal('1 created, 0 updated, 0 unchanged.\n');
    const { code, output } = await run(['help.jsonl']);
    expect([code, output]).to.deep.equal([
      1,
      '0 created, 0 updated, 0 unchanged.\n1 left out:\n  - line 1: `content` is missing\n',
    ]);
  });

  it('goes to the account and the service that it is told', async () => {
    write({ 'other.md': 'Of the other account.' });
    await app.query(`INSERT INTO accounts (id, name) VALUES (7, 'Other')`);
    const { headers } = await addPerson(app, { name: 'Other', role: 'administrator', accountId: 7 });
    const env = { SWITCHBOARD_URL: app.url, SWITCHBOARD_TOKEN: headers.api_access_token };
    expect((await run([folder, '--account', '7'], env)).output).to.equal('1 created, 0 updated, 0 unchanged.\n');
    expect(await paths(7)).to.deep.equal(['other.md']);
    const { code, errors } = await run([folder], env);
    expect([code, errors]).to.deep.equal([1, 'The service refused (404): Account not found\n']);
  });

  it('says what is wrong with the call', async () => {
    const refused: [string[], Record<string, string>, string][] = [
      [['missing'], { DATA_DIR: data }, 'There is no folder or file missing.'],
      [['.'], { DATA_DIR: data }, 'There is no Markdown file (.md) in ..'],
      [['.', '--account', 'x'], { DATA_DIR: data }, 'It must be a number from 1'],
      [['.'], { DATA_DIR: folder }, 'No start has left its address'],
    ];
    for (const [args, env, word] of refused) {
      const { code, errors } = await run(args, env);
      expect(code, args.join(' ')).to.equal(1);
      expect(errors).to.contain(word);
    }
    write({ 'text.md': 'Text.' });
    const { code, errors } = await run(['.'], { SWITCHBOARD_URL: 'http://127.0.0.1:9', SWITCHBOARD_TOKEN: 'x' });
    expect([code, errors.slice(0, 22)]).to.deep.equal([1, 'No service answers at ']);
  });
});

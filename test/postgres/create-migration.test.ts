import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { migrations } from '../../src/postgres/migrations/index.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

describe('npm run migrate:create', () => {
  let folder: string;
  before(() => {
    folder = mkdtempSync(join(tmpdir(), 'switchboard-migration-'));
    for (const name of ['src', 'scripts', 'package.json', '.oxfmtrc.json'])
      cpSync(join(root, name), join(folder, name), { recursive: true });
    symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  const index = () => join(folder, 'src/postgres/migrations/index.ts');
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [join(folder, 'scripts/create-migration.ts'), ...args], { encoding: 'utf8' });

  it('writes a migration of today that is the last in the list', async () => {
    const { status, stdout, stderr } = run('canned-responses');
    expect(status, stderr).to.equal(0);
    const name = `${new Date().toISOString().slice(0, 10).replaceAll('-', '')}-canned-responses`;
    expect(stdout).to.include(`src/postgres/migrations/${name}.ts`);
    const created = (await import(pathToFileURL(index()).href)) as { migrations: typeof migrations };
    const names = created.migrations.map((migration) => migration.name);
    expect(names).to.deep.equal([...migrations.map((migration) => migration.name), name]);
    expect(created.migrations.at(-1)?.class.name).to.equal('CannedResponses');
    expect(existsSync(join(folder, `src/postgres/migrations/${name}.ts`))).to.equal(true);
    const formatted = spawnSync(join(root, 'node_modules/.bin/oxfmt'), ['--check', 'src/postgres/migrations'], {
      cwd: folder,
      encoding: 'utf8',
    });
    expect(formatted.status, formatted.stdout).to.equal(0);
  });

  it('refuses a name that is there, none, and one that is no subject; the list stays as it was', () => {
    const before = readFileSync(index(), 'utf8');
    for (const args of [['first-schema'], [], ['Canned'], ['../x'], ['a b'], ['canned_responses']])
      expect(run(...args).status, args.join()).to.equal(1);
    expect(readFileSync(index(), 'utf8')).to.equal(before);
  });
});

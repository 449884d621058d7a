import { expect } from 'chai';
import { chownSync, existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { canEnter } from '../../src/postgres/embedded/system-user.ts';
import { copyNativeWithoutLinks, isRoot, kill, killOwners, newFolder, nobody } from './helpers.ts';
import { query, removeFolders, startOwner } from './helpers.ts';

const serverOwner = (pid: number): number => statSync(`/proc/${pid}`).uid;
const sources = fileURLToPath(new URL('.', import.meta.url));

describe('embedded Postgres under root and others', function () {
  this.timeout(90_000);

  before(function () {
    if (!isRoot) this.skip();
  });

  afterEach(() => {
    killOwners();
    removeFolders();
  });

  it('runs for root as another account, in DATA_DIR where that account can pass', async () => {
    const dataDir = join(newFolder(), 'data');
    const owner = await startOwner({ dataDir });
    expect(serverOwner(owner.pid)).not.to.equal(0);
    expect(statSync(join(dataDir, 'postgres', 'cluster')).uid).to.equal(serverOwner(owner.pid));
    expect(existsSync(join(dataDir, 'postgres-home'))).to.equal(false);
    await kill(owner);
  });

  it('runs for root below a folder of mode 700, programs and data, with the data elsewhere', async () => {
    const parent = newFolder(0o700);
    const nativeFolder = copyNativeWithoutLinks(parent);
    const dataDir = join(parent, 'data');
    const first = await startOwner({ dataDir, nativeFolder });
    await query(first.url, 'CREATE TABLE kept AS SELECT 7 AS seven');
    const home = readFileSync(join(dataDir, 'postgres-home'), 'utf8').trim();
    expect(home).to.match(/^\/var\/lib\/switchboard\//);
    expect(existsSync(join(dataDir, 'postgres'))).to.equal(false);
    expect(statSync(join(home, 'cluster')).mode & 0o777).to.equal(0o700);
    await kill(first);
    const second = await startOwner({ dataDir, nativeFolder });
    expect(await query(second.url, 'SELECT seven FROM kept')).to.deep.equal([{ seven: 7 }]);
    expect(readFileSync(join(dataDir, 'postgres-home'), 'utf8').trim()).to.equal(home);
    await kill(second);
  });

  it('serves a test run of root below a folder of mode 700', async () => {
    const nativeFolder = copyNativeWithoutLinks(newFolder(0o700));
    const owner = await startOwner({ ephemeral: true, nativeFolder });
    expect(await query(owner.url, 'SELECT 1 AS one')).to.deep.equal([{ one: 1 }]);
    await kill(owner);
  });

  it('runs for an ordinary account, also when the installation is not its own', async function () {
    if (!canEnter(sources, { uid: nobody, gid: nobody })) this.skip();
    const parent = newFolder();
    const dataDir = join(parent, 'data');
    const nativeFolder = copyNativeWithoutLinks(parent);
    const own = newFolder(0o700);
    chownSync(own, nobody, nobody);
    const owner = await startOwner({ dataDir: join(own, 'data'), nativeFolder }, nobody);
    expect(serverOwner(owner.pid)).to.equal(nobody);
    expect(existsSync(join(own, 'data', 'postgres', 'binaries'))).to.equal(true);
    await kill(owner);
    const refused = await startOwner({ dataDir }, nobody).catch((error: Error) => error.message);
    expect(refused).to.include('cannot be used').and.include('EACCES');
  });
});

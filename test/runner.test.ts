import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { chooseChanged } from '../scripts/changed-tests.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

describe('npm test', () => {
  const folder = mkdtempSync(join(tmpdir(), 'switchboard-runner-'));
  after(() => rmSync(folder, { recursive: true }));

  function write(name: string, text: string): string {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  }

  function run(...args: string[]): { status: number | null; lines: string[] } {
    const { status, stdout, stderr } = spawnSync(process.execPath, ['scripts/test.ts', ...args], {
      cwd: root,
      encoding: 'utf8',
    });
    return { status, lines: `${stdout}${stderr}`.trimEnd().split('\n') };
  }

  const passing = write(
    'passing.test.ts',
    `describe('one', () => { it('holds', () => {}); it('holds too', () => {}); });`,
  );
  const failing = write('failing.test.ts', `it('fails', () => { throw new Error('as planned'); });`);
  const dying = write('dying.test.ts', `it('ends its process', () => { process.exit(7); });`);
  const broken = write('broken.test.ts', `import './nothing.ts';`);
  const leaving = write(
    'leaving.test.ts',
    `import { createServer } from 'node:net';
    it('leaves a server', (done) => { createServer().listen(0, done); });`,
  );

  it('prints each file as it ends and the sum as its last line', () => {
    const { status, lines } = run(passing);
    expect(status).to.equal(0);
    expect(lines).to.include('1 test files');
    expect(lines.some((line) => line.startsWith('1/1') && line.endsWith('passing.test.ts: 2 passed'))).to.equal(true);
    expect(lines.at(-1)).to.equal('2 passed, 0 failed');
  });

  it('names a failure at once, again with its cause at the end, and fails', () => {
    const { status, lines } = run(failing, passing);
    expect(status).to.equal(1);
    const named = lines.findIndex((line) => line.includes('FAILED') && line.endsWith('failing.test.ts: fails'));
    const cause = lines.findIndex((line) => line.includes('Error: as planned'));
    expect(named).to.be.greaterThan(-1);
    expect(cause).to.be.greaterThan(named);
    expect(lines.at(-1)).to.equal('2 passed, 1 failed');
  });

  it('counts a file that ends its process or does not load as failed, and runs the others', () => {
    const { status, lines } = run(dying, broken, passing);
    expect(status).to.equal(1);
    expect(lines.some((line) => line.endsWith('dying.test.ts: the test process ended (7)'))).to.equal(true);
    expect(lines.some((line) => line.endsWith('broken.test.ts: does not load'))).to.equal(true);
    expect(lines.at(-1)).to.equal('2 passed, 2 failed');
  });

  it('runs files that failed once more, alone, and says which of them passed then', () => {
    const marker = JSON.stringify(join(folder, 'has-failed'));
    const unsteady = write(
      'unsteady.test.ts',
      `import { existsSync, writeFileSync } from 'node:fs';
      it('passes the second time', () => {
        if (existsSync(${marker})) return;
        writeFileSync(${marker}, '');
        throw new Error('at first');
      });`,
    );
    const { status, lines } = run('--retry', unsteady, failing, passing);
    expect(status).to.equal(1);
    expect(lines).to.include('2 files failed: each runs once more, alone');
    const told = lines.indexOf('Unsteady, these passed when their file ran again:');
    expect(lines[told + 1]).to.match(/FAILED .*unsteady\.test\.ts: passes the second time$/);
    expect(lines[told + 2]).to.equal('    at first');
    expect(lines.filter((line) => line.includes('FAILED') && line.endsWith('failing.test.ts: fails'))).to.have.length(
      3,
    );
    expect(lines.at(-1)).to.equal('3 passed, 1 failed');
    expect(run('--retry', unsteady).status).to.equal(0);
  }).timeout(120_000);

  it('fails where tests leave something open, or where none ran', () => {
    expect(run(leaving).lines.slice(-4).join('\n')).to.match(
      /The tests left open: 1 × TCPServerWrap[^]*1 passed, 1 failed/,
    );
    expect(run(passing, '--grep', 'no such title')).to.deep.include({ status: 1 });
  }).timeout(120_000);
});

describe('npm test -- --changed', () => {
  const files = ['test/domain/silence.test.ts', 'test/api/contacts.test.ts', 'test/story.test.ts'];
  const choose = (changed: readonly string[], secondsOf: (file: string) => number = () => 1): string[] =>
    chooseChanged({ files, changed, secondsOf, read: () => `import { x } from '../../src/lib/mail.ts';` });

  it('chooses tests that share words with what changed, that import it, and the rules of the whole house', () => {
    expect(choose(['src/records/contacts/contact.ts'])).to.deep.equal([files[1], files[2]]);
    expect(choose(['web/widget/chat.ts'])).to.deep.equal([files[2]]);
    expect(choose(['src/lib/mail.ts'])).to.have.members(files);
    expect(choose([])).to.deep.equal([]);
  });

  it('keeps within its time, but for tests that themselves changed', () => {
    expect(choose([files[0]!, 'src/domain/contacts.ts'], () => 500)).to.deep.equal([files[0]]);
  });
});

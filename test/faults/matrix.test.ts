import { expect } from 'chai';
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { faults } from './matrix/matrix.ts';
import type { Outcome } from './matrix/run.ts';
import { tableOf } from './matrix/table.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const scripts = (JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as Manifest).scripts;
const title = ({ id, what }: { id: string; what: string }): string => `${id}, ${what}`;
// Every wait in it is given up when nothing comes on any more; this is for a machine on which everything comes on slowly.
const patienceMs = 40 * 60_000;

interface Manifest {
  scripts: Record<string, string>;
}

/** The faults whose tests are asked for, by mocha's own option. */
function wantedFaults(): string[] {
  const asked = process.argv.find((word) => word.startsWith('--grep='))?.slice('--grep='.length);
  const wanted = new RegExp(asked ?? '.');
  return faults.filter((fault) => wanted.test(`the faults ${title(fault)}`)).map(({ id }) => id);
}

/** Runs the command; resolves with its exit code and output. */
function runCommand(...args: string[]): Promise<{ code: number | null; output: string; told: string }> {
  const [, ...words] = (scripts['faults'] ?? '').split(' ');
  const child = spawn(process.execPath, [...words, ...args], { cwd: root, stdio: ['ignore', 'pipe', 'pipe'] });
  const { promise, resolve } = Promise.withResolvers<{ code: number | null; output: string; told: string }>();
  let [output, told] = ['', ''];
  child.stdout.on('data', (chunk: Buffer) => (output += chunk.toString()));
  child.stderr.on('data', (chunk: Buffer) => (told += chunk.toString()));
  child.once('close', (code) => resolve({ code, output, told }));
  return promise;
}

describe('the faults', function () {
  this.timeout(patienceMs);
  const outcomes = new Map<string, Outcome>();
  let code: number | null;

  before(async () => {
    const wanted = wantedFaults();
    if (wanted.length === 0) return;
    const { output, told, ...ended } = await runCommand('--json', `--only=${wanted.join(',')}`);
    code = ended.code;
    console.log(`      ${told.split('\n')[0]}`);
    if (code !== 0) console.log(told);
    for (const outcome of JSON.parse(output) as Outcome[]) outcomes.set(outcome.id, outcome);
  });

  for (const fault of faults) {
    it(title(fault), () => {
      const outcome = outcomes.get(fault.id);
      const { lost, ghosts, order, unexplained, ledger, problems, events } = outcome!.row;
      expect({ lost, ghosts, order, unexplained, ledger, problems }).to.deep.equal({
        lost: [],
        ghosts: [],
        order: [],
        unexplained: [],
        ledger: [],
        problems: [],
      });
      expect(events, 'events').to.be.above(0);
      expect(code).to.equal(0);
    });
  }
});

describe('the command `faults`', function () {
  this.timeout(60_000);

  it('knows its faults, and says which there are', async () => {
    const { code, told } = await runCommand('--only=F1,F99');
    expect(code).to.equal(2);
    expect(told).to.include('There is no F99. There are F1, F2,');
  });

  it('prints a line for each, the sums, and what it found', () => {
    const row = {
      events: 1_200,
      delivered: 2_400,
      lost: ['a', 'b', 'c', 'd'],
      ghosts: [],
      order: ['swapped'],
      explained: 7,
      unexplained: [],
      ledger: [],
      problems: ['slow'],
      seconds: 3,
      isClean: false,
    };
    const lines = tableOf([
      { id: 'F1', what: 'one', row },
      { id: 'F2', what: 'two', row: { ...row, lost: [], order: [], problems: [], isClean: true } },
    ]).split('\n');
    expect(lines.slice(2)).to.deep.equal([
      '| F1 | one | 1,200 | 2,400 | 4 | 0 | 1 | 7 | 0 | 0 | FAILS |',
      '| F2 | two | 1,200 | 2,400 | 0 | 0 | 0 | 7 | 0 | 0 | clean |',
      '| all lines |  | 2,400 | 4,800 | 4 | 0 | 1 | 14 | 0 | 0 | FAILS |',
      'F1 lost: a',
      'F1 lost: b',
      'F1 lost: c',
      'F1 lost: and 1 more',
      'F1 order: swapped',
      'F1 problems: slow',
    ]);
  });
});

import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { invariants } from '../../src/deliveries/log/invariants.ts';
import { faults } from './matrix/matrix.ts';

const page = readFileSync(new URL('../../docs/reliability.md', import.meta.url), 'utf8');

describe('docs/reliability.md', () => {
  const cells = (line: string): string[] => line.split('|').map((cell) => cell.trim());

  it('has the table of a whole run: every fault that there is, clean', () => {
    const table = page.slice(page.indexOf('## The faults'), page.indexOf('## Long checks'));
    const listed = table.split('\n').filter((line) => /^\| (?:F\d+|all|soak) \|/.test(line));
    const shown = listed.map((line) => cells(line));
    expect(shown.map(([, id, what]) => ({ id, what }))).to.deep.equal(faults.map(({ id, what }) => ({ id, what })));
    expect(shown.every((line) => line.at(-2) === 'clean')).to.equal(true);
  });

  it('says the invariants as the ledger does', () => {
    for (const { id, name } of invariants) expect(page).to.include(`| ${id} | ${name} |`);
  });
});

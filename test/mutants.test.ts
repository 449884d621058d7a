import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { changesOf, sample } from '../scripts/mutants/draw.ts';
import { PlantedMutants, type PlantedMutant } from '../scripts/mutants/mutant.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

describe('the planted mistakes', () => {
  it('have one place each, by the name of a function and its text, and a test that must see them', () => {
    const rooms = JSON.parse(readFileSync(`${root}/test/mutants.json`, 'utf8')) as Record<string, PlantedMutant[]>;
    const places = new PlantedMutants(root);
    const problems = Object.values(rooms)
      .flat()
      .map((mutant) => places.find(mutant))
      .flatMap((found) => ('problem' in found ? [found.problem] : []));
    expect(problems).to.deep.equal([]);
  });
});

describe('mistakes drawn by chance', () => {
  const source = [
    'export async function send(tx: Tx, text: string, most = 3): Promise<boolean> {',
    '  if (!text || text.length > most) return false;',
    '  await record(tx);',
    '  return (await tx.sql(`SELECT 1 FROM a WHERE a.id = $1 AND a.account_id = $2 ORDER BY 1`)).length === 1;',
    '}',
  ].join('\n');
  const results = changesOf('x.ts', source).map(
    ({ start, end, replacement }) => source.slice(0, start) + replacement + source.slice(end),
  );

  it('turn conditions, drop guards, calls and conditions of statements', () => {
    const expected = ['text.length >= most', '!text && text', '= $1 ORDER BY 1', 'length !== 1', 'most = 4'];
    for (const part of expected) expect(results.some((text) => text.includes(part))).to.equal(true, part);
    expect(results.some((text) => !text.includes('record(tx)'))).to.equal(true);
    expect(results.some((text) => !text.includes('return false'))).to.equal(true);
    expect(results).to.not.include(source);
  });

  it('are the same by the same seed', () => {
    const values = Array.from({ length: 50 }, (_, index) => index);
    expect(sample(values, 5, 7)).to.deep.equal(sample(values, 5, 7));
    expect(sample(values, 5, 7)).to.not.deep.equal(sample(values, 5, 8));
  });
});

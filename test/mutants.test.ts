import { expect } from 'chai';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { mutants } from './mutants/index.ts';

const root = fileURLToPath(new URL('..', import.meta.url));

describe('the planted mistakes', () => {
  it('still have their place in the source, once each, and a test that must see them', () => {
    const misplaced = mutants.flatMap(({ file, text, test, only }) => {
      const times = existsSync(join(root, file)) ? readFileSync(join(root, file), 'utf8').split(text).length - 1 : 0;
      const told = times === 1 ? [] : [`${file} has \`${text}\` ${times} times`];
      return existsSync(join(root, test)) ? told : [...told, `${test} (${only ?? 'all'}) is gone`];
    });
    expect(misplaced).to.deep.equal([]);
  });
});

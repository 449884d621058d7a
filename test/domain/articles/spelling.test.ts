import { expect } from 'chai';
import { distance, exchanges } from '../../../src/domain/articles/spelling.ts';

describe('the distance of two words', () => {
  for (const [one, other, errors] of [
    ['invoice', 'invoice', 0],
    ['invoice', 'invocie', 1],
    ['invoice', 'invoic', 1],
    ['invoice', 'innvoice', 1],
    ['invoice', 'invaice', 1],
    ['recieve', 'receive', 1],
    ['pasword', 'passwrod', 2],
    ['', 'ab', 2],
    ['abcd', 'wxyz', 4],
  ] as const)
    it(`${one} and ${other}: ${errors}`, () => {
      expect(distance(one, other, 5)).to.equal(errors);
      expect(distance(other, one, 5)).to.equal(errors);
      expect(distance(one, other, errors - 1)).to.be.above(errors - 1);
    });

  it('exchanges each letter with the next', () => {
    expect(exchanges('abc')).to.deep.equal(['bac', 'acb']);
  });
});

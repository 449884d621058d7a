import { expect } from 'chai';
import { guessesFor } from '../../../src/domain/articles/query-terms.ts';
import { exchanges } from '../../../src/domain/articles/spelling.ts';
import { distance } from '../../../src/lib/text/distance.ts';

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

describe('guesses for a word', () => {
  it('are its misspellings and, where words are written as one, its parts', () => {
    expect(guessesFor({ language: 'en', term: 'gets' })).to.deep.equal(['egts', 'gtes', 'gest']);
    expect(guessesFor({ language: 'de', term: 'kontoauszug' })).to.include.members(['konto', 'auszug', 'kontoasuzug']);
    expect(guessesFor({ language: 'en', term: 'kontoauszug' })).not.to.include('konto');
  });

  it('are none for numbers, for the shortest words, and for what is longer than a word', () => {
    for (const term of ['get', 'a4711b', 'a'.repeat(51), 'ab'.repeat(1000)])
      expect(guessesFor({ language: 'de', term }), term).to.deep.equal([]);
    expect(guessesFor({ language: 'en', term: 'ab'.repeat(25) })).to.have.lengthOf(49);
  });
});

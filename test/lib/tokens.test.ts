import { expect } from 'chai';
import * as fc from 'fast-check';
import { systemRandom } from '../../src/lib/ports.ts';
import { hashToken, lastFour, looksForged, newToken } from '../../src/lib/secrets/tokens.ts';

describe('tokens', () => {
  it('have a prefix for their kind, 43 random characters and a checksum of 6', () => {
    expect(newToken('user', systemRandom)).to.match(/^swu_[0-9A-Za-z]{49}$/);
    expect(newToken('bot', systemRandom)).to.match(/^swb_[0-9A-Za-z]{49}$/);
  });

  it('keep all 256 random bits: the extremes differ and have the same length', () => {
    const [low, high] = [0, 255].map((byte) =>
      newToken('user', { ...systemRandom, bytes: (n) => Buffer.alloc(n, byte) }),
    );
    expect(low)
      .to.have.length(53)
      .and.to.match(/^swu_0{43}/);
    expect(high).to.have.length(53).and.not.to.equal(low);
  });

  it('are never taken for forged when real', () => {
    for (let round = 0; round < 500; round += 1) {
      expect(looksForged(newToken(round % 2 === 0 ? 'user' : 'bot', systemRandom))).to.equal(false);
    }
  });

  it('are recognised as forged when any single character is changed', () => {
    const token = newToken('bot', systemRandom);
    fc.assert(
      fc.property(
        fc.integer({ min: 4, max: 52 }),
        fc.constantFrom('0', 'A', 'z', '9', '-', '_', 'é'),
        (index, character) => {
          fc.pre(token[index] !== character);
          expect(looksForged(token.slice(0, index) + character + token.slice(index + 1))).to.equal(true);
        },
      ),
    );
  });

  it('are recognised as forged when cut, lengthened or made of the prefix alone', () => {
    const token = newToken('user', systemRandom);
    for (const forged of [token.slice(0, -1), `${token}0`, 'swu_', 'swb_x', token.replace('swu_', 'swb_')]) {
      expect(looksForged(forged), forged).to.equal(true);
    }
  });

  it('are not judged without our prefix', () => {
    for (const foreign of ['', 'abc', 'SWU_x', 'sk-123']) expect(looksForged(foreign)).to.equal(false);
  });

  it('are stored as SHA-256 and shown by their last four characters', () => {
    expect(hashToken('abc').toString('hex')).to.equal(
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    );
    expect(lastFour('swu_abcdefgh')).to.equal('efgh');
  });
});

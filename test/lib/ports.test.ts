import { expect } from 'chai';
import { systemClock, systemRandom } from '../../src/lib/ports.ts';

describe('ports', () => {
  it('tell the time of this machine', () => {
    const before = Date.now();
    expect(systemClock.now().getTime()).to.be.within(before, Date.now());
  });

  it('give bytes, fractions below one and UUIDs that do not repeat', () => {
    expect(systemRandom.bytes(16)).to.have.length(16);
    const fractions = Array.from({ length: 1_000 }, () => systemRandom.fraction());
    expect(Math.min(...fractions)).to.be.within(0, 0.1);
    expect(Math.max(...fractions)).to.be.within(0.9, 0.999_999_999_999_999);
    expect(systemRandom.uuid()).to.match(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(new Set(Array.from({ length: 1_000 }, () => systemRandom.uuid())).size).to.equal(1_000);
  });
});

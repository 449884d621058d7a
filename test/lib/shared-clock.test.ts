import { expect } from 'chai';
import { SharedClock } from '../../src/lib/shared-clock.ts';

describe('the shared clock', () => {
  const start = Date.UTC(2026, 0, 1);
  let present: number;
  const own = { now: () => new Date(present) };

  beforeEach(() => {
    present = start;
  });

  /** Another clock that is ahead by so much, and takes so long to answer. */
  const other =
    (aheadMs: number, roundTripMs = 0) =>
    async () => {
      present += roundTripMs / 2;
      const told = new Date(present + aheadMs);
      present += roundTripMs / 2;
      return told;
    };
  const ahead = (clock: SharedClock) => clock.now().getTime() - present;

  it('tells its own time until it has asked, and the other one from then on', async () => {
    const clock = new SharedClock(own);
    expect(ahead(clock)).to.equal(0);
    await clock.measure(other(3_600_000, 40));
    expect(ahead(clock)).to.equal(3_600_000);
    present += 5_000;
    expect(ahead(clock)).to.equal(3_600_000);
    await clock.measure(other(-250));
    expect(ahead(clock)).to.equal(-250);
  });

  it('keeps what it knows when the answer takes too long, or does not come', async () => {
    const clock = new SharedClock(own);
    await clock.measure(other(1_000));
    await clock.measure(other(9_000, 1_500));
    expect(ahead(clock)).to.equal(1_000);
    const failure = await clock.measure(() => Promise.reject(new Error('away'))).catch((error: unknown) => error);
    expect(failure).to.be.instanceOf(Error);
    expect(ahead(clock)).to.equal(1_000);
  });
});

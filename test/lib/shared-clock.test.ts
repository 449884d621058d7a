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

  describe('on a machine whose clock jumps', () => {
    let steady: number;
    let asked: number;
    let clock: SharedClock;

    beforeEach(async () => {
      steady = 1_000;
      asked = 0;
      clock = new SharedClock(own, () => steady);
      const ask = async () => {
        asked += 1;
        return new Date(start + steady);
      };
      await clock.follow(ask, () => undefined);
    });

    afterEach(() => clock.stop());

    const elapsed = () => clock.now().getTime() - start;

    for (const jump of [600_000, -600_000]) {
      it(`by ${jump / 1000} s, does not`, () => {
        steady += 10;
        present += 10 + jump;
        expect(elapsed()).to.equal(1_010);
        steady += 20;
        present += 20;
        expect(elapsed()).to.equal(1_030);
      });
    }

    it('asks the other clock at once, and not again while it does not answer', async () => {
      present += 3_600_000;
      for (let reads = 0; reads < 5; reads += 1) clock.now();
      expect(asked).to.equal(2);
      await Promise.resolve();
      steady += 5_000;
      present += 5_000;
      clock.now();
      expect(asked, 'the jump is known').to.equal(2);
    });

    it('and which has slept, tells the time that has passed as soon as the other clock was asked', async () => {
      const slept = 3_600_000;
      const awake = async () => new Date(start + steady + slept);
      present += slept;
      clock.now();
      await clock.measure(awake);
      expect(elapsed()).to.equal(1_000 + slept);
    });
  });
});

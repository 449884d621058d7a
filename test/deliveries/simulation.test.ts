import { expect } from 'chai';
import * as fc from 'fast-check';
import { maxClaims } from '../../src/deliveries/core/claims.ts';
import { retrySchedule } from '../../src/deliveries/core/retry.ts';
import { allSlots, happenings, Simulation, type Script } from './simulation.ts';

// A delivery that takes more steps would never end.
const maxSteps = 20_000;

const script = fc.record<Script>({
  kind: fc.constantFrom('webhook', 'bot'),
  lanes: fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 4 }),
  holdAttempts: fc.constantFrom(0, 1, 3, 99),
  happenings: fc.array(fc.constantFrom(...happenings), { minLength: 1, maxLength: 12 }),
  fractions: fc.array(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }), { minLength: 3, maxLength: 17 }),
});

function play(chosen: Script): Simulation {
  const simulation = new Simulation(chosen);
  for (let steps = 0; !simulation.isOver; steps++) {
    if (steps > maxSteps) throw new Error(`Not over after ${maxSteps} steps`);
    simulation.step();
  }
  return simulation;
}

describe('deliveries without sockets and rows', () => {
  it('end, in their order, whatever happens to their attempts', () => {
    fc.assert(
      fc.property(script, (chosen) => {
        const { lanes, slots } = play(chosen);
        const most = retrySchedule[chosen.kind].length + 1;
        for (const { failures, attempt } of lanes.flatMap(({ deliveries }) => deliveries)) {
          expect(failures, 'failures').to.be.at.most(most);
          expect(attempt, 'attempts').to.be.at.most(most * (maxClaims + 1));
        }
        expect(slots.free).to.equal(allSlots);
      }),
      { numRuns: 300 },
    );
  });

  it('of a receiver that always answers are made once each', () => {
    const { lanes } = play({
      kind: 'webhook',
      lanes: [5, 3],
      holdAttempts: 3,
      happenings: ['ok'],
      fractions: [0.3, 0.7],
    });
    for (const { state, attempt } of lanes.flatMap(({ deliveries }) => deliveries)) {
      expect([state, attempt]).to.deep.equal(['delivered', 1]);
    }
  });

  it('that never leave a result end as defective', () => {
    const { lanes } = play({ kind: 'bot', lanes: [2], holdAttempts: 3, happenings: ['lost'], fractions: [0.5] });
    const ends = lanes.flatMap(({ deliveries }) => deliveries).map(({ state, attempt }) => [state, attempt]);
    expect(ends).to.deep.equal([
      ['exhausted', maxClaims + 1],
      ['exhausted', maxClaims + 1],
    ]);
  });
});

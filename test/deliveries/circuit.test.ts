import { expect } from 'chai';
import {
  maxFailingMs,
  maxProbeMs,
  minExpiringFailures,
  nextHealth,
  unknownHealth,
  type EndedAttempt,
  type EndpointHealth,
  type EndpointOutcome,
  type HealthChange,
} from '../../src/deliveries/core/circuit.ts';

const start = new Date('2026-11-22T12:00:00Z');
const after = (ms: number) => new Date(start.getTime() + ms);

/** Finishes attempts one after the other; `probe` marks those that an open circuit admitted. */
function live(
  outcomes: readonly (EndpointOutcome | `probe ${EndpointOutcome}`)[],
  changes: Partial<EndedAttempt> = {},
  health: EndpointHealth = unknownHealth,
): { health: EndpointHealth; changes: HealthChange[] } {
  let last = health;
  const told: HealthChange[] = [];
  for (const text of outcomes) {
    const isProbe = text.startsWith('probe ');
    const outcome = text.replace('probe ', '') as EndpointOutcome;
    const next = nextHealth(last, { outcome, isProbe, kind: 'webhook', now: start, fraction: 0, ...changes });
    last = next.health;
    told.push(next.change);
  }
  return { health: last, changes: told };
}

describe('the circuit of an endpoint', () => {
  it('opens with the third attempt running that got no answer, and is told so once', () => {
    expect(live(['unanswered', 'unanswered']).health).to.include({ circuitProbeAt: null, circuitTrips: 0 });
    const { health, changes } = live(['unanswered', 'unanswered', 'unanswered', 'unanswered']);
    expect(changes).to.deep.equal([null, null, 'opened', null]);
    expect(health).to.deep.include({ circuitTrips: 1, circuitProbeAt: after(5_000), consecutiveFailures: 4 });
  });

  it('an answer between them, be it an error, begins the count anew; other failures never open it', () => {
    for (const answer of ['failed', 'delivered'] as const) {
      const { health } = live(['unanswered', 'unanswered', answer, 'unanswered', 'unanswered']);
      expect(health.circuitProbeAt, answer).to.equal(null);
    }
    expect(live(Array.from({ length: 20 }, () => 'failed')).health).to.include({
      circuitProbeAt: null,
      consecutiveFailures: 20,
    });
    expect(live(['unanswered', 'skipped', 'unanswered', 'skipped', 'unanswered']).changes.at(-1)).to.equal('opened');
  });

  for (const kind of ['webhook', 'bot'] as const) {
    it(`a ${kind}'s probes that fail come at distances that double up to a bound, spread by a fifth`, () => {
      let { health } = live(['unanswered', 'unanswered', 'unanswered'], { kind });
      const distances: number[] = [];
      for (let probe = 0; probe < 40; probe++) {
        const fraction = probe % 2;
        health = live([probe % 3 ? 'probe unanswered' : 'probe failed'], { kind, fraction }, health).health;
        distances.push((health.circuitProbeAt!.getTime() - start.getTime()) / (1 + 0.2 * fraction));
      }
      const doubled = Array.from({ length: 40 }, (_, at) => Math.min(maxProbeMs[kind], 10_000 * 2 ** at));
      expect(distances.map(Math.round)).to.deep.equal(doubled);
      expect(health.circuitTrips).to.equal(41);
    });
  }

  it('what was under way when it opened moves no probe', () => {
    const { health } = live(['unanswered', 'unanswered', 'unanswered']);
    const later = live(['unanswered', 'failed'], { now: after(9_000) }, health);
    expect(later.health).to.deep.include({ circuitTrips: 1, circuitProbeAt: after(5_000), consecutiveFailures: 5 });
  });

  it('closes with the first success, a probe or not', () => {
    const { health } = live(['unanswered', 'unanswered', 'unanswered', 'probe unanswered']);
    for (const success of ['delivered', 'probe delivered'] as const) {
      const closed = live([success, success], {}, health);
      expect(closed.changes).to.deep.equal(['closed', null]);
      expect(closed.health).to.deep.equal({ ...unknownHealth, isProven: true });
    }
  });

  it('a probe that was not made leaves its turn to the next', () => {
    const { health } = live(['unanswered', 'unanswered', 'unanswered']);
    expect(live(['skipped'], { now: after(1_000) }, health).health).to.deep.equal(health);
    const { health: left } = live(['probe skipped'], { now: after(1_000) }, health);
    expect(left).to.deep.equal({ ...health, circuitProbeAt: after(1_000) });
    expect(live(['probe skipped']).health).to.deep.equal(unknownHealth);
  });
});

describe('an endpoint that only fails', () => {
  const many = Array.from({ length: minExpiringFailures - 1 }, () => 'failed' as const);

  it('is to be switched off after five days, not before, and never after a success', () => {
    const { health } = live(many);
    expect(health.failingSince).to.deep.equal(start);
    expect(live(['failed'], { now: after(maxFailingMs - 1) }, health).changes).to.deep.equal([null]);
    expect(live(['failed'], { now: after(maxFailingMs) }, health).changes).to.deep.equal(['expired']);
    expect(live(['skipped'], { now: after(maxFailingMs) }, health).changes).to.deep.equal([null]);
    const { health: well } = live(['delivered'], { now: after(maxFailingMs - 1) }, health);
    expect(live(['failed'], { now: after(maxFailingMs) }, well).changes).to.deep.equal([null]);
  });

  it('seldom is not switched off: that takes ten failures running, the last of them after five days', () => {
    let { health } = live(['failed']);
    for (let failures = 2; failures <= 10; failures++) {
      const next = live(['unanswered'], { now: after(failures * maxFailingMs) }, health);
      expect(next.changes.includes('expired'), `${failures} failures`).to.equal(failures === 10);
      health = next.health;
    }
    const { health: few } = live([...many.slice(1), 'delivered', 'failed']);
    expect(live(['failed'], { now: after(6 * maxFailingMs) }, few).changes).to.deep.equal([null]);
  });

  it('has no circuit any more then', () => {
    const { health } = live([...many.slice(3), 'unanswered', 'unanswered', 'unanswered']);
    const expired = live(['probe unanswered'], { now: after(maxFailingMs) }, health);
    expect(expired.changes).to.deep.equal(['expired']);
    expect(expired.health).to.include({
      circuitProbeAt: null,
      circuitTrips: 0,
      consecutiveFailures: minExpiringFailures,
    });
  });

  it('is proven by its last attempt alone', () => {
    expect(live(['delivered']).health.isProven).to.equal(true);
    expect(live(['delivered', 'failed']).health.isProven).to.equal(false);
    expect(live(['delivered', 'skipped']).health.isProven).to.equal(true);
    expect(live(['unanswered', 'delivered']).health.isProven).to.equal(true);
  });
});

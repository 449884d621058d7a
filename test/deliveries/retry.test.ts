import { expect } from 'chai';
import * as fc from 'fast-check';
import { nextStep, retrySchedule } from '../../src/deliveries/core/retry.ts';
import type { EndpointKind } from '../../src/deliveries/core/endpoint.ts';
import type { FinishedAttempt, NextStep } from '../../src/deliveries/core/retry.ts';
import { systemRandom } from '../../src/lib/ports.ts';

const minute = 60_000;
const hour = 60 * minute;
const now = new Date('2026-11-20T12:00:00Z');

function finish(
  changes: Partial<FinishedAttempt['result']>,
  rest: Partial<FinishedAttempt> = {},
  fraction = 0,
): NextStep {
  return nextStep({
    kind: 'webhook',
    attempt: 1,
    result: { ok: false, status: 500, headers: {}, errorCode: null, ...changes },
    now,
    random: { ...systemRandom, fraction: () => fraction },
    ...rest,
  });
}

function delay(...attempt: Parameters<typeof finish>): number {
  const next = finish(...attempt);
  if (next.step !== 'retry') throw new Error(`Not a retry: ${next.step}`);
  return next.delayMs;
}

const kind = fc.constantFrom<EndpointKind>('webhook', 'bot');
const failure = fc.oneof(
  fc.record({ status: fc.constantFrom(301, 400, 404, 429, 500, 502, 503, 504), errorCode: fc.constant(null) }),
  fc.record({ status: fc.constant(null), errorCode: fc.constantFrom('timeout', 'dns', 'connect', 'tls', 'reset') }),
);

describe('retry', () => {
  it('ends with a success', () => {
    expect(finish({ ok: true, status: 204 })).to.deep.equal({ step: 'delivered' });
  });

  it('follows the documented schedules, then gives up', () => {
    const webhook = [
      5_000,
      minute,
      5 * minute,
      30 * minute,
      2 * hour,
      5 * hour,
      10 * hour,
      14 * hour,
      20 * hour,
      24 * hour,
    ];
    const bot = [1_000, 5_000, 30_000, 2 * minute, 10 * minute];
    for (const [endpoint, waits] of [
      ['webhook', webhook],
      ['bot', bot],
    ] as const) {
      expect(waits.map((_, index) => delay({}, { kind: endpoint, attempt: index + 1 }))).to.deep.equal(waits);
      const last = finish({}, { kind: endpoint, attempt: waits.length + 1 });
      expect(last).to.deep.equal({ step: 'exhausted', reason: 'attempts_used_up' });
    }
  });

  it('is never early, and late by a fifth at most', () => {
    fc.assert(
      fc.property(
        kind,
        fc.nat(9),
        failure,
        fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }),
        (endpoint, index, result, fraction) => {
          const scheduled = retrySchedule[endpoint][index];
          fc.pre(scheduled !== undefined);
          const waited = delay(result, { kind: endpoint, attempt: index + 1 }, fraction);
          expect(waited).to.be.at.least(scheduled);
          expect(waited).to.be.at.most(Math.ceil(Math.max(scheduled, minute) * 1.2));
          expect(Number.isInteger(waited)).to.equal(true);
        },
      ),
    );
  });

  it('spreads: two attempts with other randomness wait differently', () => {
    const waits = Array.from({ length: 50 }, () => delay({}, { attempt: 5, random: systemRandom }));
    expect(new Set(waits).size).to.be.above(40);
  });

  it('gives an overloaded account endpoint a minute, a bot its own pace', () => {
    for (const status of [429, 502, 503, 504]) {
      expect(delay({ status })).to.equal(minute);
      expect(delay({ status }, { kind: 'bot' })).to.equal(1_000);
    }
    expect(delay({ status: null, errorCode: 'timeout' })).to.equal(minute);
    expect(delay({ status: null, errorCode: 'timeout' }, { kind: 'bot' })).to.equal(1_000);
    expect(delay({ status: 503 }, { attempt: 4 })).to.equal(30 * minute);
    for (const status of [500, 404, 308]) expect(delay({ status })).to.equal(5_000);
    for (const errorCode of ['connect', 'dns', 'reset', 'tls'] as const)
      expect(delay({ status: null, errorCode })).to.equal(5_000);
  });

  it('honours Retry-After in seconds and as a date, never less than the schedule', () => {
    const after = (value: string, rest: Partial<FinishedAttempt> = {}) =>
      delay({ status: 429, headers: { 'retry-after': value } }, rest);
    expect(after('90')).to.equal(90_000);
    expect(after(' 90 ')).to.equal(90_000);
    expect(after('1')).to.equal(minute);
    expect(after('Fri, 20 Nov 2026 12:05:00 GMT')).to.equal(5 * minute);
    expect(after('Fri, 20 Nov 2026 11:00:00 GMT')).to.equal(minute);
    expect(after('90', { attempt: 5 })).to.equal(2 * hour);
    expect(after('90', { kind: 'bot' })).to.equal(90_000);
  });

  it('bounds Retry-After: 10 hours for account webhooks, 10 minutes for bots', () => {
    for (const value of ['36001', '9999999999', 'Sun, 20 Nov 2044 12:00:00 GMT']) {
      expect(delay({ headers: { 'retry-after': value } })).to.equal(10 * hour);
      expect(delay({ headers: { 'retry-after': value } }, { kind: 'bot' })).to.equal(10 * minute);
    }
  });

  it('ignores a Retry-After that says nothing', () => {
    const nonsense = [
      '',
      'soon',
      '-5',
      '1e9',
      '0x10',
      '99999999999',
      '2026-11-20',
      'Xxx, 99 Xxx 9999 99:99:99 GMT',
      'NaN',
      'Infinity',
    ];
    for (const value of nonsense) expect(delay({ headers: { 'retry-after': value } }), value).to.equal(5_000);
    fc.assert(
      fc.property(fc.string(), (value) => {
        const waited = delay({ headers: { 'retry-after': value } }, {}, 0.999);
        expect(waited).to.be.within(5_000, 12 * hour);
      }),
    );
  });

  it('disables an endpoint that is gone, at any attempt', () => {
    for (const attempt of [1, 11])
      expect(finish({ status: 410 }, { attempt })).to.deep.equal({ step: 'disable', reason: 'gone' });
  });

  it('gives up at once where no attempt can succeed', () => {
    for (const errorCode of ['blocked_address', 'bad_url', 'bad_request'] as const) {
      expect(finish({ status: null, errorCode })).to.deep.equal({ step: 'exhausted', reason: errorCode });
    }
  });

  it('ends every delivery: no answers keep it going beyond its schedule', () => {
    fc.assert(
      fc.property(kind, fc.array(failure, { minLength: 12, maxLength: 12 }), (endpoint, results) => {
        const steps = results.map((result, index) => finish(result, { kind: endpoint, attempt: index + 1 }).step);
        expect(steps.indexOf('exhausted')).to.equal(retrySchedule[endpoint].length);
      }),
    );
  });
});

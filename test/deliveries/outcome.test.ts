import { expect } from 'chai';
import { outcomeOf } from '../../src/deliveries/core/circuit.ts';

describe('what a call says of its endpoint', () => {
  const cases = [
    [{ ok: true, errorCode: null }, 'delivered'],
    [{ ok: false, errorCode: null }, 'failed'],
    [{ ok: false, errorCode: 'timeout' }, 'unanswered'],
    [{ ok: false, errorCode: 'connect' }, 'unanswered'],
    [{ ok: false, errorCode: 'reset' }, 'unanswered'],
    [{ ok: false, errorCode: 'dns' }, 'unanswered'],
    [{ ok: false, errorCode: 'tls' }, 'unanswered'],
    [{ ok: false, errorCode: 'bad_response' }, 'failed'],
    [{ ok: false, errorCode: 'headers_overflow' }, 'failed'],
    [{ ok: false, errorCode: 'blocked_address' }, 'failed'],
    [{ ok: false, errorCode: 'bad_url' }, 'failed'],
    [{ ok: false, errorCode: 'bad_request' }, 'failed'],
    [{ ok: false, errorCode: 'aborted' }, 'skipped'],
  ] as const;
  for (const [result, outcome] of cases) {
    it(`${result.errorCode ?? (result.ok ? 'a 2xx' : 'another status')}: ${outcome}`, () => {
      expect(outcomeOf(result)).to.equal(outcome);
    });
  }
});

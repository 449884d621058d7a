import type { OutboundResult } from '../../outbound/http.ts';
import type { NextStep } from './retry.ts';

/** How an attempt ended for its delivery, and what follows. */
export interface Verdict {
  /** `pending`: another attempt follows. */
  state: 'pending' | 'delivered' | 'exhausted' | 'cancelled';
  /** Milliseconds until the next attempt of a pending delivery. */
  delayMs: number;
  status: number | null;
  errorCode: string | null;
  durationMs: number;
  /** The answer's body; its beginning is stored. */
  responseBody: string | null;
}

const states = { delivered: 'delivered', retry: 'pending', exhausted: 'exhausted', disable: 'exhausted' } as const;

/** The verdict on a delivery that ends without an attempt; `errorCode` is the reason. */
export function withoutAttempt(state: 'cancelled' | 'exhausted', errorCode: string): Verdict {
  return { state, delayMs: 0, status: null, errorCode, durationMs: 0, responseBody: null };
}

/** The verdict on a call with this result and next step. Pure. */
export function afterCall(
  step: NextStep,
  result: Pick<OutboundResult, 'ok' | 'status' | 'errorCode' | 'durationMs' | 'body'>,
): Verdict {
  return {
    state: states[step.step],
    delayMs: step.step === 'retry' ? step.delayMs : 0,
    status: result.status,
    errorCode: result.errorCode ?? (result.ok ? null : 'bad_status'),
    durationMs: result.durationMs,
    responseBody: result.body,
  };
}

/**
 * Corrects the verdict on a call when the endpoint's present address is `address`. Pure. After a failure at an old address
 * the new one is tried at once; without an address the delivery ends.
 */
export function afterMove(verdict: Verdict, called: string | null, address: string | null): Verdict {
  const hasFailed = verdict.state === 'pending' || verdict.state === 'exhausted';
  if (!hasFailed || address === called) return verdict;
  return { ...verdict, delayMs: 0, state: address === null ? verdict.state : 'pending' };
}

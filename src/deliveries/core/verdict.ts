import type { OutboundResult, OutboundTimes } from '../../outbound/http.ts';
import type { NextStep } from './retry.ts';

/** Data of an attempt on the wire, except the bodies: stored for a later look at the delivery. */
export interface Wire {
  startedAt: Date;
  /** The code of the system or library behind an error; see OutboundResult. */
  errorDetail: string | null;
  sent: Readonly<Record<string, string>>;
  /** The headers of the answer; null without one. */
  received: Readonly<Record<string, string>> | null;
  times: OutboundTimes;
}

/** The result of an attempt for its delivery, and the next step. */
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
  /** Null when nothing was sent. */
  wire: Wire | null;
}

/** The error code of an attempt that did a part of its work, and counts as no failure; a part of SQL texts. */
export const continuesCode = 'continues';

const states = { delivered: 'delivered', retry: 'pending', exhausted: 'exhausted', disable: 'exhausted' } as const;

/** The verdict on a delivery that ends without an attempt; `errorCode` is the reason. */
export function withoutAttempt(state: 'cancelled' | 'exhausted', errorCode: string): Verdict {
  return { state, delayMs: 0, status: null, errorCode, durationMs: 0, responseBody: null, wire: null };
}

/** The result of a call, as far as the verdict on it goes. */
export type CallResult = Pick<
  OutboundResult,
  'ok' | 'status' | 'headers' | 'errorCode' | 'errorDetail' | 'durationMs' | 'times' | 'body'
>;

/** A call's beginning and the headers that it sent. */
export type CallMade = Pick<Wire, 'startedAt' | 'sent'>;

/** The verdict on a call with this result and next step. Pure. */
export function afterCall(step: NextStep, result: CallResult, made: CallMade): Verdict {
  return {
    state: states[step.step],
    delayMs: step.step === 'retry' ? step.delayMs : 0,
    status: result.status,
    errorCode: result.errorCode ?? (result.ok ? null : 'bad_status'),
    durationMs: result.durationMs,
    responseBody: result.body,
    wire: {
      ...made,
      errorDetail: result.errorDetail,
      received: result.status === null ? null : result.headers,
      times: result.times,
    },
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

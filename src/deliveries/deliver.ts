import type { OutboundErrorCode, OutboundHttp, OutboundResult } from '../outbound/http.ts';
import type { Clock, Random } from '../lib/ports.ts';
import { SecretUnreadableError, type SecretBox } from '../lib/secret-box.ts';
import type { Claimed } from './queue/claim.ts';
import type { Finished } from './queue/finish.ts';
import { nextStep, type NextStep } from './core/retry.ts';
import { signatureHeaders } from './core/sign.ts';
import type { SlotOutcome } from './core/slots.ts';

export interface DelivererPorts {
  outbound: OutboundHttp;
  secretBox: SecretBox;
  clock: Clock;
  random: Random;
}

const states = { delivered: 'delivered', retry: 'pending', exhausted: 'exhausted', disable: 'exhausted' } as const;

// Without an answer: the receiver is down, out of reach, or too slow. An answer that makes no sense is one all the same.
const unansweredCodes: ReadonlySet<OutboundErrorCode | null> = new Set(['timeout', 'connect', 'reset', 'dns', 'tls']);

/** What a call says of the endpoint that was called. */
export function outcomeOf({ ok, errorCode }: Pick<OutboundResult, 'ok' | 'errorCode'>): SlotOutcome {
  if (ok) return 'delivered';
  if (errorCode === 'aborted') return 'skipped';
  return unansweredCodes.has(errorCode) ? 'unanswered' : 'failed';
}

/** The same for every attempt and resend of one event to one endpoint, so that its receiver can tell repetitions. */
function webhookId({ event, endpoint }: Claimed): string {
  return `evt_${event.id}_${endpoint.kind}_${endpoint.id}`;
}

/** The end of a delivery of which no attempt is made; `errorCode` says why. */
export function ended(claimed: Claimed, state: 'cancelled' | 'exhausted', errorCode: string): Finished {
  const { deliveryId, laneId, token } = claimed;
  return {
    deliveryId,
    laneId,
    token,
    state,
    delayMs: 0,
    status: null,
    errorCode,
    durationMs: 0,
    responseBody: null,
  };
}

// A secret that does not open never will: it was sealed under another key, or changed in the database.
function openOrNull(secretBox: SecretBox, sealed: string | null): string | null {
  try {
    return sealed === null ? null : secretBox.open(sealed);
  } catch (error) {
    if (error instanceof SecretUnreadableError) return null;
    throw error;
  }
}

/** One call of an endpoint, or the reason why none was made. */
export interface HttpAttempt {
  finished: Finished;
  outcome: SlotOutcome;
  /** What follows the call; null when none was made. */
  step: NextStep | null;
  /** The system's own word for what went wrong, for the log. */
  detail: string | null;
}

function refused(finished: Finished): HttpAttempt {
  return { finished, outcome: 'skipped', step: null, detail: null };
}

/** Makes one attempt: a signed POST. */
export async function deliverByHttp(claimed: Claimed, ports: DelivererPorts): Promise<HttpAttempt> {
  const { endpoint, body, attempt } = claimed;
  if (endpoint.sealedSecret === null) return refused(ended(claimed, 'cancelled', 'endpoint_gone'));
  if (endpoint.url === null) return refused(ended(claimed, 'cancelled', 'endpoint_disabled'));
  const secret = openOrNull(ports.secretBox, endpoint.sealedSecret);
  if (secret === null) return refused(ended(claimed, 'exhausted', 'secret_unreadable'));
  const previous = openOrNull(ports.secretBox, endpoint.previousSealedSecret);
  const signature = signatureHeaders({
    id: webhookId(claimed),
    timestamp: ports.clock.now(),
    body,
    secrets: previous === null ? [secret] : [secret, previous],
  });
  const result = await ports.outbound.post(endpoint.url, {
    headers: {
      'content-type': 'application/json',
      'user-agent': 'Switchboard',
      ...signature,
      'webhook-attempt': String(attempt),
    },
    body,
  });
  const step = nextStep({
    kind: endpoint.kind,
    attempt: claimed.failures + 1,
    result,
    now: ports.clock.now(),
    random: ports.random,
  });
  const finished: Finished = {
    deliveryId: claimed.deliveryId,
    laneId: claimed.laneId,
    token: claimed.token,
    state: states[step.step],
    delayMs: step.step === 'retry' ? step.delayMs : 0,
    status: result.status,
    errorCode: result.errorCode ?? (result.ok ? null : 'bad_status'),
    durationMs: result.durationMs,
    responseBody: result.body,
  };
  return { finished, outcome: outcomeOf(result), step, detail: result.errorDetail };
}

import type { OutboundErrorCode, OutboundHttp, OutboundResult } from '../lib/outbound-http.ts';
import type { Clock, Random } from '../lib/ports.ts';
import type { SecretBox } from '../lib/secret-box.ts';
import type { Claimed } from './claim.ts';
import type { Finished } from './finish.ts';
import { nextStep, type NextStep } from './retry.ts';
import { signatureHeaders } from './sign.ts';
import type { SlotOutcome } from './slots.ts';

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
export function webhookId({ event, endpoint }: Claimed): string {
  return `evt_${event.id}_${endpoint.kind}_${endpoint.id}`;
}

/** The end of a delivery that is not made after all; `errorCode` says why. */
export function cancelled(claimed: Claimed, errorCode: string): Finished {
  const { deliveryId, laneId, token } = claimed;
  return {
    deliveryId,
    laneId,
    token,
    state: 'cancelled',
    delayMs: 0,
    status: null,
    errorCode,
    durationMs: 0,
    responseBody: null,
  };
}

/** Makes one attempt: a signed POST. `step` says what follows, null for a deleted endpoint. */
export async function deliverByHttp(
  claimed: Claimed,
  ports: DelivererPorts,
): Promise<{ finished: Finished; outcome: SlotOutcome; step: NextStep | null }> {
  const { endpoint, body, attempt } = claimed;
  if (endpoint.url === null || endpoint.sealedSecret === null)
    return { finished: cancelled(claimed, 'endpoint_gone'), outcome: 'skipped', step: null };
  const signature = signatureHeaders({
    id: webhookId(claimed),
    timestamp: ports.clock.now(),
    body,
    secrets: [endpoint.sealedSecret, endpoint.previousSealedSecret]
      .filter((sealed) => sealed !== null)
      .map((sealed) => ports.secretBox.open(sealed)),
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
    kind: endpoint.kind === 'bot' ? 'bot' : 'account',
    attempt,
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
  return { finished, outcome: outcomeOf(result), step };
}

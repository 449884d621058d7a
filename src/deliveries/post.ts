import type { Database } from '../postgres/database.ts';
import { findAddress } from '../domain/endpoints/address.ts';
import type { OutboundHttp, OutboundResult } from '../outbound/http.ts';
import type { Clock, Random } from '../lib/ports.ts';
import { SecretUnreadableError, type SecretBox } from '../lib/secret-box.ts';
import type { Made } from './attempt.ts';
import { outcomeOf } from './core/circuit.ts';
import type { calleeOf } from './core/refusal.ts';
import { goneStatus, nextStep } from './core/retry.ts';
import { signatureHeaders, type SignatureHeaders } from './core/sign.ts';
import { afterCall, afterMove, withoutAttempt, type Verdict } from './core/verdict.ts';
import type { Claimed } from './queue/claim.ts';

export interface PostOptions {
  database: Database;
  outbound: OutboundHttp;
  secretBox: SecretBox;
  clock: Clock;
  random: Random;
  /** Called instead of the correction, when the receiver answers 410 Gone. */
  whenGone?: (claimed: Claimed, made: Made & { verdict: Verdict }) => Promise<Made>;
}

/**
 * Makes one attempt: a signed POST to the callee, or none for the reason that it is not called. After a failure at an old
 * address, the verdict is corrected for the present one.
 */
export async function post(claimed: Claimed, callee: ReturnType<typeof calleeOf>, ports: PostOptions): Promise<Made> {
  if (typeof callee === 'string') return unmade(withoutAttempt('cancelled', callee));
  const secret = openOrNull(ports.secretBox, callee.sealedSecret);
  if (secret === null) return unmade(withoutAttempt('exhausted', 'secret_unreadable'));
  const result = await ports.outbound.post(callee.url, {
    headers: {
      'content-type': 'application/json',
      'user-agent': 'Switchboard',
      ...sign(claimed, secret, ports),
      'webhook-attempt': String(claimed.attempt),
    },
    body: claimed.body,
  });
  return result.ok ? judge(claimed, result, ports) : heedFailure(claimed, result, ports);
}

function judge(claimed: Claimed, result: OutboundResult, { clock, random }: PostOptions) {
  const attempt = { kind: claimed.endpoint.kind, attempt: claimed.failures + 1, result, now: clock.now(), random };
  return {
    verdict: afterCall(nextStep(attempt), result),
    outcome: outcomeOf(result),
    detail: result.errorDetail,
    isSettled: false,
  };
}

async function heedFailure(claimed: Claimed, result: OutboundResult, ports: PostOptions): Promise<Made> {
  const made = judge(claimed, result, ports);
  if (result.status === goneStatus && ports.whenGone) return ports.whenGone(claimed, made);
  const { account, endpoint } = claimed;
  // If the address cannot be read, the result counts as it is.
  const address = await findAddress(ports.database.em(), account.id, endpoint).catch(() => endpoint.url);
  return { ...made, verdict: afterMove(made.verdict, endpoint.url, address) };
}

function unmade(verdict: Verdict): Made {
  return { verdict, outcome: 'skipped', isSettled: false, detail: null };
}

// The id is the same in every attempt and resend of one event to one endpoint, so that the receiver can recognize repetitions.
function sign({ event, endpoint, body }: Claimed, secret: string, { secretBox, clock }: PostOptions): SignatureHeaders {
  const previous = openOrNull(secretBox, endpoint.previousSealedSecret);
  return signatureHeaders({
    id: `evt_${event.id}_${endpoint.kind}_${endpoint.id}`,
    timestamp: clock.now(),
    body,
    secrets: previous === null ? [secret] : [secret, previous],
  });
}

// A secret that cannot be opened never will be: it was sealed with another key, or changed in the database.
function openOrNull(secretBox: SecretBox, sealed: string | null): string | null {
  try {
    return sealed === null ? null : secretBox.open(sealed);
  } catch (error) {
    if (error instanceof SecretUnreadableError) return null;
    throw error;
  }
}

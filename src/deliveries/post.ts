import type { Database } from '../postgres/database.ts';
import { findAddress } from '../domain/endpoints/address.ts';
import type { OutboundHttp } from '../outbound/http.ts';
import type { Clock, Random } from '../lib/ports.ts';
import { SecretUnreadableError, type SecretBox } from '../lib/secret-box.ts';
import type { Made } from './attempt.ts';
import { outcomeOf } from './core/circuit.ts';
import { calleeOf } from './core/refusal.ts';
import { nextStep } from './core/retry.ts';
import { signatureHeaders, type SignatureHeaders } from './core/sign.ts';
import { afterCall, afterMove, withoutAttempt, type Verdict } from './core/verdict.ts';
import type { Claimed } from './queue/claim.ts';

export interface PostOptions {
  database: Database;
  outbound: OutboundHttp;
  secretBox: SecretBox;
  clock: Clock;
  random: Random;
}

/** The end of a call, made or not. */
export interface Posted extends Made {
  verdict: Verdict;
  isSettled: false;
  /** Whether a webhook's receiver answered 410 Gone. */
  isGone: boolean;
}

/** Makes one attempt: a signed POST. After a failure at an old address, the verdict is corrected for the present one. */
export async function post(claimed: Claimed, ports: PostOptions): Promise<Posted> {
  const { endpoint, body, attempt, failures } = claimed;
  const callee = calleeOf(endpoint);
  if (typeof callee === 'string') return unmade(withoutAttempt('cancelled', callee));
  const secret = openOrNull(ports.secretBox, callee.sealedSecret);
  if (secret === null) return unmade(withoutAttempt('exhausted', 'secret_unreadable'));
  const result = await ports.outbound.post(callee.url, {
    headers: {
      'content-type': 'application/json',
      'user-agent': 'Switchboard',
      ...sign(claimed, secret, ports),
      'webhook-attempt': String(attempt),
    },
    body,
  });
  const { clock, random } = ports;
  const finished = { kind: endpoint.kind, attempt: failures + 1, result, now: clock.now(), random };
  const step = nextStep(finished);
  const posted = { verdict: afterCall(step, result), outcome: outcomeOf(result), detail: result.errorDetail };
  const isGone = step.step === 'disable' && endpoint.kind === 'webhook';
  if (result.ok || isGone) return { ...posted, isGone, isSettled: false };
  return { ...posted, verdict: await heedMove(claimed, posted.verdict, ports), isGone, isSettled: false };
}

async function heedMove({ account, endpoint }: Claimed, verdict: Verdict, { database }: PostOptions): Promise<Verdict> {
  // If the address cannot be read, the result counts as it is.
  const address = await findAddress(database.em(), account.id, endpoint).catch(() => endpoint.url);
  return afterMove(verdict, endpoint.url, address);
}

function unmade(verdict: Verdict): Posted {
  return { verdict, outcome: 'skipped', isGone: false, isSettled: false, detail: null };
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

import type { Database } from '../../postgres/database.ts';
import { findAddress } from '../../domain/endpoints/address.ts';
import { isFleeting } from '../../events/catalog.ts';
import type { OutboundHttp, OutboundResult } from '../../outbound/http.ts';
import { keepResults } from '../../lib/keep-results.ts';
import type { Clock, Random } from '../../lib/ports.ts';
import { traceHeader, traceOf } from '../../lib/trace.ts';
import { SecretUnreadableError, type SecretBox } from '../../lib/secrets/secret-box.ts';
import type { Made } from '../attempt.ts';
import { chatwootHeaders } from '../../deliveries/core/chatwoot-headers.ts';
import { openCredentials } from '../../deliveries/core/credentials.ts';
import { outcomeOf } from '../../deliveries/core/circuit.ts';
import type { calleeOf } from '../../deliveries/core/refusal.ts';
import { goneStatus, nextStep, withoutRetry } from '../../deliveries/core/retry.ts';
import { messageIdOf, signatureHeaders } from '../../deliveries/core/sign.ts';
import { afterCall, afterMove, withoutAttempt, type CallMade, type Verdict } from '../../deliveries/core/verdict.ts';
import type { Claimed } from '../../deliveries/lanes/claim.ts';

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
  const own = openCredentials(claimed.endpoint, (sealed) => openOrNull(ports.secretBox, sealed));
  if (secret === null || own === null) return unmade(withoutAttempt('exhausted', 'secret_unreadable'));
  const startedAt = ports.clock.now();
  const body = claimed.formatted ?? claimed.body;
  const sent = {
    'content-type': 'application/json',
    'user-agent': 'Switchboard',
    ...sign({ ...claimed, body }, startedAt, { secret, secretBox: ports.secretBox }),
    'webhook-attempt': String(claimed.attempt),
    ...(claimed.event.isTest ? { 'webhook-test': 'true' } : {}),
    [traceHeader]: traceFor(claimed, ports),
  };
  const identity = own.certificate && { ...own.certificate, owner: `${claimed.endpoint.kind} ${claimed.endpoint.id}` };
  const headers = { ...own.headers, ...sent };
  const result = await ports.outbound.post(callee.url, { headers, body, ...(identity ? { identity } : {}) });
  // The gate was held since the claim: the delivery is claimed again when its lease has ended, and waits then.
  if (result.errorCode === 'outbound_held') return { verdict: null, isSettled: true, outcome: 'skipped', detail: null };
  // Secret headers reach the receiver alone.
  const call = { result, made: { startedAt, sent: { ...own.shown, ...sent } } };
  return result.ok ? judge(claimed, call, ports) : heedFailure(claimed, call, ports);
}

function traceFor({ account, event: { id, depth } }: Claimed, { secretBox }: PostOptions): string {
  return traceOf(secretBox, { accountId: account.id, eventId: id, depth });
}

interface Call {
  made: CallMade;
  result: OutboundResult;
}

function judge(claimed: Claimed, { result, made }: Call, { clock, random }: PostOptions) {
  const attempt = { kind: claimed.endpoint.kind, attempt: claimed.failures + 1, result, now: clock.now(), random };
  const step = nextStep(attempt);
  return {
    verdict: afterCall(isTriedOnce(claimed) ? withoutRetry(step) : step, result, made),
    outcome: outcomeOf(result),
    detail: result.errorDetail,
    isSettled: false,
  };
}

// A test is not retried because its caller waits for the answer; a fleeting event is useless later.
function isTriedOnce({ trigger, event }: Claimed): boolean {
  return trigger === 'test' || isFleeting(event.name);
}

async function heedFailure(claimed: Claimed, call: Call, ports: PostOptions): Promise<Made> {
  const made = judge(claimed, call, ports);
  if (call.result.status === goneStatus && ports.whenGone) return ports.whenGone(claimed, made);
  const { account, endpoint } = claimed;
  // If the address cannot be read, the result counts as it is.
  const address = await findAddress(ports.database.sql, account.id, endpoint).catch(() => endpoint.url);
  return { ...made, verdict: afterMove(made.verdict, endpoint.url, address) };
}

function unmade(verdict: Verdict): Made {
  return { verdict, outcome: 'skipped', isSettled: false, detail: null };
}

function sign(
  { event, endpoint, body, formatted }: Claimed,
  timestamp: Date,
  { secret, secretBox }: Pick<PostOptions, 'secretBox'> & { secret: string },
): Record<string, string> {
  const id = messageIdOf(event.id, endpoint);
  const older = endpoint.olderSealedSecrets.map((sealed) => openOrNull(secretBox, sealed));
  const secrets = [secret, ...older.filter((one) => one !== null)];
  return {
    ...signatureHeaders({ id, timestamp, body, secrets }),
    ...(formatted === null ? {} : chatwootHeaders({ id, timestamp, body, secret })),
  };
}

const maxSecrets = 1_000;
const openers = new WeakMap<SecretBox, (sealed: string) => string | null>();

function openOrNull(box: SecretBox, sealed: string): string | null {
  const open = openers.get(box) ?? keepResults(maxSecrets, (text) => tryToOpen(box, text));
  openers.set(box, open);
  return open(sealed);
}

// A secret that cannot be opened never will be: it was sealed with another key, or changed in the database.
function tryToOpen(box: SecretBox, sealed: string): string | null {
  try {
    return box.open(sealed);
  } catch (error) {
    if (error instanceof SecretUnreadableError) return null;
    throw error;
  }
}

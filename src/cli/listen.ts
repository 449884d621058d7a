import { setTimeout as wait } from 'node:timers/promises';
import { signatureHeaders } from '../deliveries/core/sign.ts';
import { OperatorError } from '../lib/operator-error.ts';
import { systemClock, systemRandom } from '../lib/ports.ts';
import { printable } from '../lib/text/printable.ts';
import { newWebhookSecret } from '../lib/secrets/secret-box.ts';
import { createServiceClient, openStream, postTo, ServiceRefusal } from '../lib/service-client.ts';
import type { ServicePass } from '../lib/service-pass.ts';
import { listenIncoming } from './hooks/listen-incoming.ts';
import { passOf, type ServiceOptions } from './service.ts';
import { readServerEvents } from './server-events.ts';

export interface ListenOptions extends ServiceOptions {
  /** Where events are sent, as a webhook's receiver gets them. */
  forward?: string;
  /** The secret that signs what is forwarded; a new one by default. */
  secret?: string;
  account?: string;
  types?: string;
  /** Requests of hooks instead of events. */
  incoming?: boolean;
}

/** An event as the stream sends it. */
interface Streamed {
  id: number;
  event: string;
  conversation_id: number | null;
  created_at: number;
  payload: object | null;
}

interface Profile {
  accounts: { id: number }[];
}

// Between two tries to come back, in milliseconds.
const pauses = [1_000, 2_000, 5_000, 10_000];
/** The time that a webhook's receiver has. */
const answerMs = 10_000;

/**
 * The command `listen`: prints the events of an account as they are committed, and forwards them, signed, to a server of the
 * user's. Comes back after breaks without missing any; ends with the process, or when the service refuses it.
 */
export async function listen(options: ListenOptions): Promise<void> {
  const pass = passOf(options);
  const account = options.account ?? (await firstAccount(pass));
  if (options.incoming === true) return hearHooks({ pass, account }, options);
  const forward = options.forward === undefined ? null : createForwarder(options.forward, options.secret);
  if (forward) console.error(`Forwarding to ${options.forward}, signed with ${forward.secret}`);
  console.error(`Listening to account ${account} at ${pass.url}. Ctrl+C ends it.`);
  const types = options.types === undefined ? '' : `?types=${encodeURIComponent(options.types)}`;
  const path = `/api/v1/accounts/${encodeURIComponent(account)}/events/stream${types}`;
  const place: Place = { lastEventId: null, failures: 0, hasAnswered: false };
  for (;;) {
    await follow({ pass, path, place }, (event) => show(event, { json: options.json ?? false, forward })).catch(
      (error: unknown) => forgive(error, place),
    );
    const pause = pauses[Math.min(place.failures, pauses.length - 1)] ?? 0;
    place.failures += 1;
    console.error(`The stream has ended; coming back in ${pause / 1000} s.`);
    await wait(pause);
  }
}

async function hearHooks(
  { pass, account }: { pass: ServicePass; account: string },
  { forward = null, json = false }: { forward?: string | null; json?: boolean },
): Promise<void> {
  if (forward !== null && !URL.canParse(forward)) throw noUrl(forward);
  console.error(`Listening to the hooks of account ${account} at ${pass.url}. Ctrl+C ends it.`);
  return listenIncoming({ pass, account, forward, json });
}

function noUrl(forward: string): OperatorError {
  return new OperatorError(`--forward ${forward} is no URL: give one such as http://127.0.0.1:8000/hook`);
}

/** Where the listener is in the feed, how often it has failed to come back, and whether it ever was there. */
interface Place {
  lastEventId: string | null;
  failures: number;
  hasAnswered: boolean;
}

async function follow(
  { pass, path, place }: { pass: ServicePass; path: string; place: Place },
  handle: (event: Streamed) => Promise<void>,
): Promise<void> {
  const body = await openStream(pass, path, place.lastEventId);
  Object.assign(place, { failures: 0, hasAnswered: true });
  for await (const { id, data } of readServerEvents(body)) {
    place.lastEventId = id;
    if (data !== null) await handle(JSON.parse(data) as Streamed);
  }
}

// A refusal stays one, and so does an address at which nothing ever answered; everything else may pass.
function forgive(error: unknown, place: Place): void {
  const { status } = error instanceof ServiceRefusal ? error : { status: null };
  if (status === 410) beginAnew(place);
  else if (status !== null && status < 500 && status !== 429) throw error;
  else if (!place.hasAnswered && error instanceof OperatorError) throw error;
}

// After a break that was longer than events are kept.
function beginAnew(place: Place): void {
  place.lastEventId = null;
  console.error('Events of the break are not kept any more and are missing here: going on with those of now.');
}

async function firstAccount(pass: ServicePass): Promise<string> {
  const { accounts } = await createServiceClient(pass)<Profile>('GET', '/api/v1/profile');
  if (accounts[0]) return String(accounts[0].id);
  throw new OperatorError(
    'The token belongs to nobody who is in an account: give --account, or a --token of somebody who is.',
  );
}

type Forwarder = ReturnType<typeof createForwarder>;

async function show(event: Streamed, { json, forward }: { json: boolean; forward: Forwarder | null }): Promise<void> {
  const forwarded = forward && event.payload ? await forward.send(event.id, event.payload) : null;
  if (json) return console.log(JSON.stringify(forwarded ? { ...event, forwarded } : event));
  const time = new Date(event.created_at * 1000).toISOString().slice(11, 19);
  const where = event.conversation_id === null ? '' : `  conversation ${event.conversation_id}`;
  const answer = forwarded ? `  → ${forwarded.status ?? forwarded.error} in ${forwarded.ms} ms` : '';
  console.log(printable(`${time}  ${event.event}  #${event.id}${where}${answer}`));
}

const secretPattern = /^whsec_[A-Za-z0-9+/]{32,}={0,2}$/;

// Signed as deliveries are.
function createForwarder(url: string, secret = newWebhookSecret(systemRandom)) {
  if (!URL.canParse(url)) throw noUrl(url);
  if (!secretPattern.test(secret))
    throw new OperatorError('--secret is no secret of a webhook: give the one that an earlier call printed (whsec_…)');
  return {
    secret,
    send: async (eventId: number, payload: object) => {
      const body = JSON.stringify(payload);
      const signed = { id: `evt_${eventId}_listen`, timestamp: systemClock.now(), body, secrets: [secret] };
      const headers = { 'content-type': 'application/json', 'webhook-attempt': '1', ...signatureHeaders(signed) };
      const begun = performance.now();
      const answer = await postTo(url, { headers, body, timeoutMs: answerMs });
      return { ...answer, ms: Math.round(performance.now() - begun) };
    },
  };
}

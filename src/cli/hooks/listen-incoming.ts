import { setTimeout as wait } from 'node:timers/promises';
import { OperatorError } from '../../lib/operator-error.ts';
import { createServiceClient, postTo, ServiceRefusal, type CallService } from '../../lib/service-client.ts';
import type { ServicePass } from '../../lib/service-pass.ts';
import { printable } from '../../lib/text/printable.ts';
import type { Shape } from '../../schemas.ts';
import { readList } from '../service.ts';

type Hook = Shape<'resources/hook'>;
type Brief = Shape<'resources/hook-request'>;
type Whole = Shape<'resources/whole-hook-request'>;

interface IncomingOptions {
  pass: ServicePass;
  account: string;
  forward: string | null;
  json: boolean;
}

const lookMs = 1_000;
const answerMs = 10_000;
/** Pages of a hook that one look reads at most: the rest of a flood is skipped, with a line that says so. */
const maxPages = 8;
// Headers of the connection, and of the hop before it.
const notForwarded = new Set(['host', 'connection', 'content-length', 'transfer-encoding', 'expect']);

/** Prints requests of hooks as they come, and sends their bodies and headers on; ends with the process, or when the service refuses it. */
export async function listenIncoming({ pass, account, forward, json }: IncomingOptions): Promise<void> {
  const call = createServiceClient(pass);
  const base = `/api/v1/accounts/${encodeURIComponent(account)}/hooks`;
  const place: Place = { seen: new Map(), isFirst: true };
  for (;;) {
    for (const { hook, fresh } of await look(call, base, place))
      for (const brief of fresh.toReversed()) await show(call, { hook, brief, base, forward, json });
    await wait(lookMs);
  }
}

/** The newest request of each hook that was seen, and whether nothing was looked at yet. */
interface Place {
  seen: Map<number, number>;
  isFirst: boolean;
}

// Requests from before the command are not shown; those of a hook that is created meanwhile are, from its beginning.
async function look(call: CallService, base: string, place: Place): Promise<{ hook: Hook; fresh: Brief[] }[]> {
  const { seen, isFirst } = place;
  const { payload: hooks } = await patiently(() => readList<Hook>(call, base), isFirst);
  const found: { hook: Hook; fresh: Brief[] }[] = [];
  for (const hook of hooks) {
    const last = seen.get(hook.id) ?? null;
    const fresh = await patiently(() => requestsSince(call, `${base}/${hook.id}`, last), isFirst);
    seen.set(hook.id, fresh[0]?.id ?? last ?? 0);
    if (!isFirst) found.push({ hook, fresh });
  }
  place.isFirst = false;
  return found;
}

// A break of the service passes; a refusal stays one.
async function patiently<Result>(read: () => Promise<Result>, isFirst: boolean): Promise<Result> {
  for (;;) {
    try {
      return await read();
    } catch (error) {
      const { status } = error instanceof ServiceRefusal ? error : { status: null };
      const isFinal = status !== null && status < 500 && status !== 429;
      if (isFinal || (isFirst && error instanceof OperatorError)) throw error;
      await wait(lookMs);
    }
  }
}

async function requestsSince(call: CallService, path: string, last: number | null): Promise<Brief[]> {
  const found: Brief[] = [];
  for (let page = 1; page <= maxPages; page += 1) {
    const { payload } = await call<{ payload: Brief[] }>('GET', `${path}/requests?page=${page}`);
    // A page moves while requests come.
    const fresh = payload.filter(({ id }) => id > (last ?? 0) && !found.some((one) => one.id === id));
    found.push(...fresh);
    if (last === null || fresh.length < payload.length || payload.length === 0) return found;
  }
  console.error('More requests came than can be shown: the older ones are left out.');
  return found;
}

interface Shown {
  hook: Hook;
  brief: Brief;
  base: string;
  forward: string | null;
  json: boolean;
}

async function show(call: CallService, { hook, brief, base, forward, json }: Shown): Promise<void> {
  const isKept = brief.outcome === 'accepted';
  const whole = isKept ? await call<Whole>('GET', `${base}/${hook.id}/requests/${brief.id}`) : null;
  const forwarded = forward !== null && whole?.body ? await sendOn(forward, whole, whole.body) : null;
  if (json) return console.log(JSON.stringify({ ...(whole ?? brief), hook_id: hook.id, forwarded }));
  const time = new Date(brief.received_at * 1_000).toISOString().slice(11, 19);
  const outcome = brief.reason === null ? brief.outcome : `${brief.outcome}: ${brief.reason}`;
  const answer = forwarded === null ? '' : `  → ${forwarded.status ?? forwarded.error}`;
  console.log(
    printable(`${time}  ${hook.handler}  #${brief.id}  hook ${hook.id}  ${outcome}  ${brief.bytes} bytes${answer}`),
  );
}

function sendOn(url: string, { headers, body_encoding: encoding }: Whole, body: string) {
  const text = encoding === 'base64' ? Buffer.from(body, 'base64').toString('latin1') : body;
  const sent = headers.filter(({ name, value }) => !notForwarded.has(name) && value !== '[redacted]');
  return postTo(url, {
    headers: Object.fromEntries(sent.map(({ name, value }) => [name, value])),
    body: text,
    timeoutMs: answerMs,
  });
}

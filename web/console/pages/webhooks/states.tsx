import type { ComponentChildren } from 'preact';
import type { Reply } from '../../../shared/call.ts';
import { Time } from '../../kit/time.tsx';
import { sharedWebhook, webhookAddress } from '../../shared-webhook.ts';
import { eventExamples } from '../activity/event-examples.ts';

export type Webhook = Reply<'GET webhooks/:id'>;
export type Delivery = Reply<'GET deliveries'>['payload'][number];

/** The events that webhooks can subscribe to. */
export const webhookEvents = eventExamples.filter(({ audience }) => audience === 'account').map(({ name }) => name);
/** Events that are delivered to webhooks or bots. */
export const deliveredEvents = [...new Set(eventExamples.map(({ name }) => name))].toSorted();

/** The name of a webhook, or what else people know it by. */
export function nameOf({ id, name }: Pick<Webhook, 'id' | 'name'>): string {
  return name ?? `Webhook ${id}`;
}

/** How a webhook stands: whether it gets anything, and why not. */
export function Standing({ webhook }: { webhook: Webhook }) {
  const { active, disabled_reason: reason, paused_at: pausedAt, circuit } = webhook;
  if (!active)
    return (
      <>
        <span class="badge bad">disabled</span> {reason}
      </>
    );
  if (pausedAt !== null)
    return (
      <>
        <span class="badge wait">paused</span> since <Time at={pausedAt} />
      </>
    );
  if (circuit.state === 'open')
    return (
      <>
        <span class="badge bad">circuit open</span> next probe <Time at={circuit.next_attempt_at} />
      </>
    );
  if (circuit.consecutive_failures > 0)
    return <span class="badge wait">failing ({circuit.consecutive_failures} in a row)</span>;
  return <span class="badge good">active</span>;
}

const kinds = { pending: 'wait', failing: 'bad', delivered: 'good', exhausted: 'bad', cancelled: '' } as const;

/** The states that deliveries can be in. */
export const states = Object.keys(kinds) as Delivery['state'][];

/** The state of a delivery. */
export function State({ state }: Pick<Delivery, 'state'>) {
  return <span class={`badge ${kinds[state]}`}>{state}</span>;
}

const soonSeconds = 60;

/** Whether something may soon happen to the delivery, so that it is to be looked at again. */
export function isUnderWay({ state, next_attempt_at: next }: Pick<Delivery, 'state' | 'next_attempt_at'>): boolean {
  if (state !== 'pending' && state !== 'failing') return false;
  return next === null || next - Date.now() / 1000 < soonSeconds;
}

/** The classes of errors by which deliveries can be filtered. */
export const errorClasses = [
  'dns',
  'connect',
  'tls',
  'timeout',
  'blocked_address',
  'bad_status',
  'too_large',
  'reset',
  'unknown',
] as const;

const sentences: Readonly<Record<string, string>> = {
  dns: 'host name not found',
  connect: 'connection failed',
  tls: 'TLS error',
  timeout: 'timed out',
  blocked_address: 'private address, not allowed',
  bad_status: 'response was not 2xx',
  too_large: 'response headers too large',
  reset: 'connection reset',
  unknown: 'result unknown, or not an HTTP response',
  cancelled_on_request: 'cancelled by an administrator',
  endpoint_disabled: 'endpoint disabled',
};

/** A class of errors in words; codes that have none stay as they are. */
export function errorInWords(code: string): string {
  const words = sentences[code];
  return words === undefined ? code : `${code}: ${words}`;
}

/** A conversation, as a link for who may open it. */
export function Conversation({ id, children }: { id: number; children: ComponentChildren }) {
  return sharedWebhook ? <>{children}</> : <a href={`/console/conversations/${id}`}>{children}</a>;
}

/** Where a delivery goes, as a link. */
export function Receiver({ of, names }: { of: Delivery; names?: ReadonlyMap<number, string> }) {
  const { webhook_id: webhook, agent_bot_id: bot } = of;
  if (webhook !== null) return <a href={webhookAddress(webhook)}>{names?.get(webhook) ?? `Webhook ${webhook}`}</a>;
  return <a href={`/console/bots/${bot}`}>Bot {bot}</a>;
}

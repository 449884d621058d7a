import { messageIdOf } from '../../../deliveries/core/sign.ts';
import type { DeliveryDetail, LoggedAttempt } from '../../../deliveries/log/attempts.ts';
import type { LoggedDelivery } from '../../../deliveries/log/log.ts';
import type { Wait } from '../../../deliveries/log/waits.ts';
import { unixSeconds, unixSecondsOrNull } from '../../../lib/unix-time.ts';
import type { Shape } from '../../../schemas.ts';

type Attempt = Shape<'resources/delivery-detail'> extends { attempts: (infer One)[] } ? One : never;
type ErrorClass = NonNullable<Attempt['error']>['class'];

/** A delivery in lists, with what it waits for. */
export function presentDelivery(delivery: LoggedDelivery, wait: Wait | undefined): Shape<'resources/delivery'> {
  return { ...present(delivery, wait), attempts: delivery.attempts };
}

/** A delivery with all its attempts. */
export function presentDetail(delivery: DeliveryDetail, wait: Wait | undefined): Shape<'resources/delivery-detail'> {
  const { attemptList, body } = delivery;
  return { ...present(delivery, wait), attempts: attemptList.map((attempt) => presentAttempt(attempt, body)) };
}

function present({ endpoint, event, ...delivery }: LoggedDelivery, wait: Wait | undefined): Shape<'shapes/delivery'> {
  const isWebhook = endpoint.kind === 'webhook';
  return {
    id: delivery.id,
    webhook_id: isWebhook ? endpoint.id : null,
    agent_bot_id: isWebhook ? null : endpoint.id,
    endpoint_kind: isWebhook ? 'webhook' : 'agent_bot',
    event_id: event.id,
    event: event.name,
    conversation_id: event.conversationId,
    webhook_message_id: messageIdOf(event.id, endpoint),
    state: delivery.state,
    trigger: delivery.trigger,
    last_status: delivery.lastStatus,
    last_error: delivery.lastError && (classes[delivery.lastError] ?? delivery.lastError),
    next_attempt_at: unixSecondsOrNull(delivery.nextAttemptAt),
    waits_for: wait
      ? { reason: wait.reason, delivery_id: wait.deliveryId, until: unixSecondsOrNull(wait.until) }
      : null,
    cancelled_by: delivery.cancelledBy,
    created_at: unixSeconds(delivery.createdAt),
  };
}

// All other codes are reasons of the service, or of a bot inside it.
const classes: Readonly<Record<string, ErrorClass>> = {
  dns: 'dns',
  connect: 'connect',
  tls: 'tls',
  timeout: 'timeout',
  blocked_address: 'blocked_address',
  bad_status: 'bad_status',
  headers_overflow: 'too_large',
  reset: 'reset',
  bad_response: 'unknown',
  bad_request: 'unknown',
  bad_url: 'unknown',
};

/** The codes of errors that are presented as this class. */
export function codesOf(errorClass: ErrorClass): string[] {
  return Object.keys(classes).filter((code) => classes[code] === errorClass);
}

function presentAttempt(attempt: LoggedAttempt, body: string): Attempt {
  const { number, startedAt, sent, received, status, responseBody, times, durationMs } = attempt;
  return {
    number,
    started_at: unixSeconds(startedAt),
    error: errorOf(attempt),
    request: { headers: sent, body },
    response: status === null ? null : { status, headers: received, body: responseBody ?? '' },
    times: {
      dns: times.dns,
      connect: times.connect,
      tls: times.tls,
      first_byte: times.firstByte,
      total: durationMs,
    },
  };
}

function errorOf({ outcome, errorCode, errorDetail, status }: LoggedAttempt): Attempt['error'] {
  if (outcome === 'delivered') return null;
  const known = errorCode === null ? undefined : classes[errorCode];
  // Attempts of earlier versions may have no detail.
  const detail = (known === 'bad_status' && status !== null ? String(status) : errorDetail) || (errorCode ?? 'unknown');
  return { class: known ?? 'unknown', detail };
}

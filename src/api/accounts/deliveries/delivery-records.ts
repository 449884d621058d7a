import { messageIdOf } from '../../../deliveries/core/sign.ts';
import type { DeliveryDetail, LoggedAttempt } from '../../../deliveries/log/attempts.ts';
import { errorClassOf } from '../../../deliveries/core/error-class.ts';
import type { LoggedDelivery } from '../../../deliveries/log/log.ts';
import type { Wait } from '../../../deliveries/log/waits.ts';
import { unixSeconds, unixSecondsOrNull } from '../../../lib/unix-time.ts';
import type { Shape } from '../../../schemas.ts';

type Attempt = Shape<'resources/delivery-detail'> extends { attempts: (infer One)[] } ? One : never;

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
  const { kind } = endpoint;
  return {
    id: delivery.id,
    webhook_id: kind === 'webhook' ? endpoint.id : null,
    agent_bot_id: kind === 'bot' ? endpoint.id : null,
    automation_id: kind === 'automation' ? endpoint.id : null,
    endpoint_kind: kind === 'bot' ? 'agent_bot' : kind,
    event_id: event.id,
    event: event.name,
    conversation_id: event.conversationId,
    webhook_message_id: messageIdOf(event.id, endpoint),
    state: delivery.state,
    trigger: delivery.trigger,
    last_status: delivery.lastStatus,
    last_error: delivery.lastError && (errorClassOf(delivery.lastError) ?? delivery.lastError),
    next_attempt_at: unixSecondsOrNull(delivery.nextAttemptAt),
    waits_for: wait
      ? { reason: wait.reason, delivery_id: wait.deliveryId, until: unixSecondsOrNull(wait.until) }
      : null,
    cancelled_by: delivery.cancelledBy,
    created_at: unixSeconds(delivery.createdAt),
  };
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
  const known = errorCode === null ? undefined : errorClassOf(errorCode);
  // Attempts of earlier versions may have no detail.
  const detail = (known === 'bad_status' && status !== null ? String(status) : errorDetail) || (errorCode ?? 'unknown');
  return { class: known ?? 'unknown', detail };
}

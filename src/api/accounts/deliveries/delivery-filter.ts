import { codesOf } from '../../../deliveries/core/error-class.ts';
import type { LogFilter } from '../../../deliveries/log/log-filter.ts';
import { optionalDate } from '../../../lib/unix-time.ts';
import type { Shape } from '../../../schemas.ts';

/** The filter that a request describes, in the names of the list of deliveries. */
export function toFilter(asked: Shape<'requests/delivery.count.query'>): Omit<LogFilter, 'endpoint' | 'after'> {
  return {
    state: asked.state ?? null,
    event: asked.event ?? null,
    status: asked.status_code ?? null,
    errorCodes: asked.error_class === undefined ? null : codesOf(asked.error_class),
    answer: asked.q ?? null,
    conversationId: asked.conversation_id ?? null,
    since: optionalDate(asked.since),
    until: optionalDate(asked.until),
  };
}

import type { Claimed } from '../deliveries/lanes/claim.ts';
import type { Verdict } from '../deliveries/core/verdict.ts';

/** A log for failures; a pino logger fits. */
export interface FailureLog {
  warn(fields: object, message: string): void;
}

const maxDetailChars = 500;
// Text from a bot must not move a terminal's cursor or fake lines of the log.
const controls = /[\p{Cc}\s]+/gu;

/**
 * Logs one line for a failed attempt: account, endpoint, conversation, error, and the delivery's state (`pending` when
 * another attempt follows). `detail` is the error message of the bot or the service; without one the status or the outcome
 * stands for it.
 */
export function tellFailure(
  log: FailureLog,
  { account, endpoint, event, deliveryId, attempt }: Claimed,
  { state, status, errorCode }: Pick<Verdict, 'state' | 'status' | 'errorCode'>,
  detail: string | null,
): void {
  const words = detail ?? (status === null ? (errorCode ?? 'unknown') : `HTTP status ${status}`);
  log.warn(
    {
      account: account.id,
      [endpoint.kind]: endpoint.id,
      conversation: event.conversationId,
      delivery: deliveryId,
      attempt,
      outcome: errorCode,
      error: words.slice(0, maxDetailChars).toWellFormed().replace(controls, ' '),
      state,
    },
    'delivery failed',
  );
}

import type { Claimed } from './queue/claim.ts';
import type { Verdict } from './core/verdict.ts';

/** Where failures are told; a pino logger fits. */
export interface FailureLog {
  warn(fields: object, message: string): void;
}

const maxDetailChars = 500;
// A bot's own words must not move the cursor of a terminal, nor begin lines of their own.
const controls = /[\p{Cc}\s]+/gu;

/**
 * Leaves one line for an attempt that failed: whose, for which endpoint and conversation, how it ended, and what follows
 * (`pending`: another attempt). `detail` is the bot's or the system's word for it.
 */
export function tellFailure(
  log: FailureLog,
  { account, endpoint, event, deliveryId, attempt }: Claimed,
  { state, status, errorCode }: Pick<Verdict, 'state' | 'status' | 'errorCode'>,
  detail: string | null,
): void {
  const words = detail ?? (status === null ? null : `HTTP status ${status}`);
  log.warn(
    {
      account: account.id,
      [endpoint.kind]: endpoint.id,
      conversation: event.conversationId,
      delivery: deliveryId,
      attempt,
      outcome: errorCode,
      error: words?.slice(0, maxDetailChars).toWellFormed().replace(controls, ' ') ?? null,
      state,
    },
    'delivery failed',
  );
}

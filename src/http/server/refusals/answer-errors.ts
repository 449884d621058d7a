import { Readable } from 'node:stream';
import { setTimeout as wait } from 'node:timers/promises';
import type { Context, Next } from 'koa';
import type { Logger } from 'pino';
import { ApiError, busy, upgrading } from '../../../errors.ts';
import { isLockTimeout, isMalformedValue, isOutage, isRetryable } from '../../../postgres/errors.ts';
import type { Shape } from '../../../schemas.ts';
import { pagePolicy } from '../../route/page-policy.ts';

// Lets a client that is still sending a refused body finish, so that it reads the answer.
const lingerMs = 2_000;

/** The body of an error's answer. */
export function errorBody({ message, code, details }: ApiError, requestId: string): Shape<'resources/error'> {
  const body: Shape<'resources/error'> = { error: message, code, request_id: requestId };
  return details.length > 0 ? { ...body, details } : body;
}

// Closing the connection while the client sends would reset it, and the client might never read the answer.
async function* lingering(ctx: Context, text: string): AsyncGenerator<string> {
  yield text;
  if (ctx.req.readableEnded) return;
  const ended = new Promise((resolve) => ctx.req.once('end', resolve).once('close', resolve).resume());
  const giveUp = new AbortController();
  await Promise.race([ended, wait(lingerMs, undefined, { signal: giveUp.signal }).catch(() => undefined)]);
  giveUp.abort();
}

/** Means of answering errors. */
export interface ErrorAnswers {
  log: Logger;
  /** Looks whether a newer release has migrated the database, which explains any failure. */
  isUpgraded: () => Promise<boolean>;
  /** Draws an error for people, where the operation is for people's browsers; HTML. */
  draw: (error: ApiError, requestId: string) => string;
}

/** Answers every error of a request in one shape, or as a page; the outermost middleware but the headers and the log. */
export function answerErrors({ log, isUpgraded, draw }: ErrorAnswers) {
  return async (ctx: Context, next: Next): Promise<void> => {
    try {
      await next();
    } catch (error) {
      const requestId = ctx.state.requestId as string;
      const answer = await asApiError(error, log.child({ request_id: requestId }), isUpgraded);
      const asPage = wantsPage(ctx);
      const text = asPage ? draw(answer, requestId) : JSON.stringify(errorBody(answer, requestId));
      ctx.status = answer.status;
      ctx.type = asPage ? 'html' : 'json';
      if (asPage) ctx.set('content-security-policy', pagePolicy);
      ctx.set(answer.headers);
      ctx.body = answer.headers.connection === 'close' ? Readable.from(lingering(ctx, text)) : text;
      ctx.length = Buffer.byteLength(text);
    }
  };
}

// Programs ask for JSON, or for anything.
function wantsPage(ctx: Context): boolean {
  return ctx.state.isForPeople === true && ctx.accepts('json', 'html') === 'html';
}

async function asApiError(error: unknown, log: Logger, isUpgraded: () => Promise<boolean>): Promise<ApiError> {
  if (error instanceof ApiError) return error;
  if (isOutage(error)) {
    log.warn({ reason: error instanceof Error ? error.message : String(error) }, 'database unavailable');
    return unavailable();
  }
  // Other transactions kept the same rows locked for too long, or conflicted again and again.
  if (isLockTimeout(error) || isRetryable(error)) return busy();
  if (isMalformedValue(error))
    return new ApiError(422, 'validation_failed', 'The request holds a value that cannot be stored');
  const { status, expose, message } = error as { status?: number; expose?: boolean; message?: string };
  if (expose && status && status < 500) return new ApiError(status, 'bad_request', message ?? 'Bad request');
  if (await isUpgraded()) return upgrading();
  log.error({ err: error }, 'request failed');
  return new ApiError(
    500,
    'internal',
    'Something went wrong in the service; the request_id helps its operator to find out what',
  );
}

function unavailable(): ApiError {
  return new ApiError(503, 'unavailable', 'The service cannot answer at the moment: try again soon', {
    headers: { 'retry-after': '1' },
  });
}

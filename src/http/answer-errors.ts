import type { Context, Next } from 'koa';
import type { Logger } from 'pino';
import { ApiError } from '../errors.ts';
import { isMalformedValue, isOutage } from '../lib/sql-errors.ts';
import type { Shape } from '../schemas.ts';

function asApiError(error: unknown, log: Logger): ApiError {
  if (error instanceof ApiError) return error;
  if (isOutage(error)) {
    log.warn({ reason: error instanceof Error ? error.message : String(error) }, 'database unavailable');
    return new ApiError(503, 'unavailable', 'The service cannot answer at the moment', { headers: { 'retry-after': '1' } });
  }
  if (isMalformedValue(error)) return new ApiError(422, 'validation_failed', 'A value cannot be stored');
  const { status, expose, message } = error as { status?: number; expose?: boolean; message?: string };
  if (expose && status && status < 500) return new ApiError(status, 'bad_request', message ?? 'Bad request');
  log.error({ err: error }, 'request failed');
  return new ApiError(500, 'internal', 'Something went wrong on our side');
}

/** Answers whatever a request was refused or broken by, always in the same shape; the outermost middleware but one. */
export function answerErrors(log: Logger) {
  return async (ctx: Context, next: Next): Promise<void> => {
    try {
      await next();
      if (ctx.status === 404 && ctx.body === undefined) throw new ApiError(404, 'not_found', 'There is nothing here');
    } catch (error) {
      const requestId = ctx.state.requestId as string;
      const answer = asApiError(error, log.child({ request_id: requestId }));
      const body: Shape<'resources/error'> = { error: answer.message, code: answer.code, request_id: requestId };
      if (answer.details.length > 0) body.details = answer.details;
      ctx.status = answer.status;
      ctx.set(answer.headers);
      ctx.body = body;
    }
  };
}

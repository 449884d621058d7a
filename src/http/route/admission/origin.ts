import type { Context } from 'koa';
import type { Origin } from '../../../domain/audit/acts.ts';

/** Where a request came from. */
export function originOf(ctx: Context): Origin {
  return { address: ctx.ip, requestId: ctx.state.requestId as string };
}

import type { Context } from 'koa';
import { maxCausationDepth } from '../../../deliveries/lanes/enqueue.ts';
import { forbidden } from '../../../errors.ts';
import type { SecretBox } from '../../../lib/secrets/secret-box.ts';
import { depthIn, traceHeader } from '../../../lib/trace.ts';

/**
 * Returns the depth of what the call causes: one more than that of the event whose trace it repeats; 0 without a trace of the
 * account. Errors: 403 `causation_depth` for a change in reaction to an event that is too deep.
 */
export function depthOf(ctx: Context, accountId: number | null, box: SecretBox): number {
  const trace = ctx.get(traceHeader);
  const depth = trace === '' || accountId === null ? null : depthIn(box, accountId, trace);
  if (depth === null) return 0;
  if (depth > maxCausationDepth && ctx.method !== 'GET') {
    const sentence = `The event of this ${traceHeader} was caused by automations, bots and webhooks, ${depth} in a row: the change is refused, since it looks like a loop`;
    throw forbidden(sentence, 'causation_depth');
  }
  return depth + 1;
}

import type { Readable } from 'node:stream';
import type { Context } from 'koa';
import { admit } from './admission/admit.ts';
import type { MountOptions } from './mount.ts';
import { addressKey } from '../server/limits/rate-limit.ts';
import { readQuery } from './body/read-request.ts';
import { factsOf } from './admission/roles.ts';
import type { Route } from './route.ts';

/**
 * Answers a stream of server-sent events: the caller is admitted by token or ticket, and the place to begin is read, as for
 * every call; then the stream holds nothing but its connection.
 */
export async function serveStream(ctx: Context, { contract, steps }: Route, options: MountOptions): Promise<void> {
  const { gate } = options;
  const { role, query: schema } = contract;
  const admitted = await admit(ctx, { role, recall: false, takesTickets: true }, options);
  const query = schema && readQuery(ctx.querystring, schema);
  const lastEventId = ctx.get('last-event-id') || null;
  const call = { ...admitted, query, body: undefined, files: [], lastEventId, address: addressKey(ctx) };
  const visitor = factsOf(role).share === 'visitors';
  const parties = 'account' in call ? gate.ofAccount(call.account.id, { visitor }) : [];
  const open = (await gate.run(parties, () => steps.handle(call, undefined))) as () => Readable;
  ctx.status = 200;
  ctx.type = 'text/event-stream';
  // Proxies would keep small pieces back.
  ctx.set('x-accel-buffering', 'no');
  // HEAD has no body, so nothing is opened that nobody reads.
  ctx.body = ctx.method === 'HEAD' ? '' : open();
}

// `defineChannel` becomes part of a channel's bundle. This file imports types only.
import type { Channel, ChannelContext, OutgoingMessage } from './channel-api.ts';
import type { HookRequest } from './hook-doors.ts';

type EndType = 'sent' | 'refused' | 'later' | 'webhook';
type Ctx<Config> = ChannelContext<Config>;

/** Handlers of a channel, as the service calls them. */
interface DefinedChannel<Config> {
  on: {
    hook_received(ctx: Ctx<Config> & { readonly hook: HookRequest }): Promise<void>;
    send(ctx: Ctx<Config> & { readonly message: OutgoingMessage }): Promise<void>;
    check?(ctx: Ctx<Config>): Promise<void>;
  };
}

/**
 * Makes a channel, which must be the default export of the main file.
 * `export default defineChannel({ received(ctx, request) { … }, async send(ctx, message) { …; return { external_id }; } });`
 */
export function defineChannel<Config = Record<string, unknown>>(channel: Channel<Config>): DefinedChannel<Config> {
  const check = (ctx: Ctx<Config>): Promise<void> =>
    ending(ctx, async () => {
      const found = await channel.check?.(ctx);
      endWith(ctx, 'webhook', { url: found?.webhook_url ?? null });
    });
  return {
    on: {
      ...(channel.check ? { check } : {}),
      hook_received: (ctx) =>
        ending(ctx, async () => {
          const { hook } = ctx;
          if (hook.name === 'status' && channel.status) await channel.status(ctx, hook);
          else await channel.received(ctx, hook);
        }),
      send: (ctx) =>
        ending(ctx, async () => {
          const { external_id: id } = await channel.send(ctx, ctx.message);
          endWith(ctx, 'sent', { external_id: id });
        }),
    },
  };
}

// Errors of `ctx.channel` say how the run ends; any other is the channel's own.
async function ending<Config>(ctx: Ctx<Config>, work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    const { ending: end } = (error ?? {}) as { ending?: { type: 'refused' | 'later' } };
    if (end?.type !== 'refused' && end?.type !== 'later') throw error;
    endWith(ctx, end.type, end);
  }
}

function endWith<Config>({ channel }: Ctx<Config>, type: EndType, fields: object): void {
  (channel as unknown as { end: (type: EndType, fields: object) => void }).end(type, fields);
}

import { defineEntity, p } from '@mikro-orm/core';

const HookSchema = defineEntity({
  name: 'Hook',
  tableName: 'hooks',
  properties: {
    id: p.bigint('number').primary(),
    accountId: p.bigint('number'),
    agentBotId: p.bigint('number'),
    ownerKind: p.text().$type<'agent_bot' | 'automation' | 'channel'>(),
    /** The inbox of a channel; null for all others. */
    inboxId: p.bigint('number').nullable(),
    name: p.text(),
    handler: p.text(),
    lastFour: p.text(),
    lastReceivedAt: p.datetime().nullable(),
    createdAt: p.datetime().defaultRaw('now()'),
    updatedAt: p.datetime().defaultRaw('now()'),
  },
});

/**
 * A way in for another system: what it sends to the URL is handled by the bot, automation or channel. `handler` names a hook of its plugin,
 * `lastFour` are the last characters of the URL.
 */
export class Hook extends HookSchema.class {
  static readonly noun = 'Hook';
}
HookSchema.setClass(Hook);

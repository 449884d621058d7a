import { defineEntity, p } from '@mikro-orm/core';

const HookSchema = defineEntity({
  name: 'Hook',
  tableName: 'hooks',
  properties: {
    id: p.bigint('number').primary(),
    accountId: p.bigint('number'),
    agentBotId: p.bigint('number'),
    ownerKind: p.text().$type<'agent_bot' | 'automation'>(),
    name: p.text(),
    handler: p.text(),
    lastFour: p.text(),
    lastReceivedAt: p.datetime().nullable(),
    createdAt: p.datetime().defaultRaw('now()'),
    updatedAt: p.datetime().defaultRaw('now()'),
  },
});

/**
 * A way in for another system: what it sends to the URL is handled by the bot or automation. `handler` names a hook of its plugin,
 * `lastFour` are the last characters of the URL.
 */
export class Hook extends HookSchema.class {
  static readonly noun = 'Hook';
}
HookSchema.setClass(Hook);

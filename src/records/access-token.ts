import { defineEntity, p } from '@mikro-orm/core';

const AccessTokenSchema = defineEntity({
  name: 'AccessToken',
  tableName: 'access_tokens',
  properties: {
    id: p.bigint('number').primary(),
    userId: p.bigint('number').nullable(),
    agentBotId: p.bigint('number').nullable(),
    tokenHash: p.blob(),
    lastFour: p.text(),
    createdAt: p.datetime().defaultRaw('now()'),
  },
});

/** What a user or a bot proves itself with; only its SHA-256 is kept. */
export class AccessToken extends AccessTokenSchema.class {}
AccessTokenSchema.setClass(AccessToken);

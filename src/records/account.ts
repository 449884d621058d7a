import { defineEntity, p } from '@mikro-orm/core';

const AccountSchema = defineEntity({
  name: 'Account',
  tableName: 'accounts',
  properties: {
    id: p.bigint('number').primary(),
    name: p.text(),
    llmBaseUrl: p.text().nullable(),
    llmModel: p.text().nullable(),
    llmApiKey: p.text().nullable(),
    createdAt: p.datetime().defaultRaw('now()'),
    updatedAt: p.datetime().defaultRaw('now()'),
  },
});

/**
 * A tenant: everything but users, system bots and access tokens belongs to one. `llmBaseUrl` and `llmModel` are its model
 * server, null for the service's own; `llmApiKey` is sealed.
 */
export class Account extends AccountSchema.class {
  static readonly noun = 'Account';
}
AccountSchema.setClass(Account);

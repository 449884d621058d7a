import { defineEntity, p } from '@mikro-orm/core';

const AccountSchema = defineEntity({
  name: 'Account',
  tableName: 'accounts',
  properties: {
    id: p.bigint('number').primary(),
    name: p.text(),
    createdAt: p.datetime().defaultRaw('now()'),
    updatedAt: p.datetime().defaultRaw('now()'),
  },
});

/** A tenant: everything but users, system bots and access tokens belongs to one. */
export class Account extends AccountSchema.class {
  static readonly noun = 'Account';
}
AccountSchema.setClass(Account);

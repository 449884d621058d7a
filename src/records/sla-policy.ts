import { defineEntity, p } from '@mikro-orm/core';

const SlaPolicySchema = defineEntity({
  name: 'SlaPolicy',
  tableName: 'sla_policies',
  properties: {
    id: p.bigint('number').primary(),
    accountId: p.bigint('number'),
    name: p.text(),
    firstResponseSeconds: p.integer().nullable(),
    resolutionSeconds: p.integer().nullable(),
    createdAt: p.datetime().defaultRaw('now()'),
    updatedAt: p.datetime().defaultRaw('now()'),
  },
});

/** The promised times, counted from the creation of a conversation; null where nothing is promised. */
export class SlaPolicy extends SlaPolicySchema.class {
  static readonly noun = 'SLA policy';
}
SlaPolicySchema.setClass(SlaPolicy);

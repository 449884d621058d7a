import { defineEntity, p } from '@mikro-orm/core';

const TeamSchema = defineEntity({
  name: 'Team',
  tableName: 'teams',
  properties: {
    id: p.bigint('number').primary(),
    accountId: p.bigint('number'),
    name: p.text(),
    description: p.text().nullable(),
    allowAutoAssign: p.boolean().default(true),
    createdAt: p.datetime().defaultRaw('now()'),
    updatedAt: p.datetime().defaultRaw('now()'),
  },
});

/** A group of agents to which conversations can be assigned. */
export class Team extends TeamSchema.class {
  static readonly noun = 'Team';
}
TeamSchema.setClass(Team);

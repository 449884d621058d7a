import { defineEntity, p } from '@mikro-orm/core';

const AgentSchema = defineEntity({
  name: 'Agent',
  tableName: 'agents',
  properties: {
    id: p.bigint('number').primary(),
    accountId: p.bigint('number'),
    userId: p.bigint('number'),
    role: p.text().$type<'administrator' | 'agent'>(),
    availability: p.text().$type<'online' | 'busy' | 'offline'>().default('online'),
    createdAt: p.datetime().defaultRaw('now()'),
    updatedAt: p.datetime().defaultRaw('now()'),
  },
});

/** A user's membership of an account: what the REST API calls an agent, known there by the user's id. */
export class Agent extends AgentSchema.class {}
AgentSchema.setClass(Agent);

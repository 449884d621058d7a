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

/**
 * An agent of an account. `userId` is the agent's id, which is that of the seat (see domain/people/seats.ts), as is every
 * `user_id` of a tenant table: it equals an id in `users` only by chance.
 */
export class Agent extends AgentSchema.class {
  static readonly noun = 'Agent';
}
AgentSchema.setClass(Agent);

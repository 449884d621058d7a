import { findCustomerWords } from '../../records/messages/customer-words.ts';
import type { BurstPorts } from '../../runs/doors/settled.ts';
import type { Mechanisms } from './mechanisms.ts';

/** Creates the ports of `ctx.settled`. */
export function burstsOf({ config, clock, databases }: Mechanisms): BurstPorts {
  return {
    clock,
    quietMs: config.burstQuietMs,
    maxMs: config.burstMaxMs,
    read: ({ messageId: from, ...place }, limit) => findCustomerWords(databases.engine.sql, place, { from, limit }),
  };
}

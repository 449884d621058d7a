import type { EntityManager } from '@mikro-orm/postgresql';
import { system, transact, transactWithin, type Transaction } from '../events/transaction.ts';
import type { Call } from './route.ts';

/** A call whose body and query nobody has typed yet. */
export type AnyCall = Call<unknown, unknown>;

// A savepoint for each: a verb that fails lets go of its locks, so that the handler can still act on the failure.
function within(tx: Transaction): AnyCall['transact'] {
  return async (work) => {
    const [events, snoozes] = [tx.recorded.length, tx.snoozes.length];
    try {
      return await tx.em.transactional((em) => work({ ...tx, em }));
    } catch (error) {
      tx.recorded.length = events;
      tx.snoozes.length = snoozes;
      throw error;
    }
  };
}

// Its own identity map: what it reads is what stands in the database, as it would be outside.
function reader(em: EntityManager): EntityManager {
  return em.fork({ keepTransactionContext: true });
}

/**
 * Runs `work` with a call that reads and writes in one transaction, which commits when it returns and is undone when it
 * throws. Work that met a deadlock is run again. `now` is the business time of the transaction.
 */
export async function inOneTransaction<Result>(
  call: AnyCall,
  work: (held: AnyCall, em: EntityManager, now: Date) => Promise<Result>,
): Promise<Result> {
  const { database } = call.services;
  if (!call.account) {
    return database.em().transactional((em) => {
      const now = database.clock.now();
      const transactIn: AnyCall['transactIn'] = (account, verbs) =>
        transactWithin(em, { account, actor: system, now }, verbs);
      return work({ ...call, em: reader(em), transactIn }, em, now);
    });
  }
  return transact(database, { account: call.account, actor: call.actor }, (tx) =>
    work({ ...call, em: reader(tx.em), transact: within(tx) }, tx.em, tx.now),
  );
}

import type { EntityManager } from '@mikro-orm/postgresql';
import { system, transact, transactWithin, type Transaction } from '../events/transaction.ts';
import { isRetryable } from '../lib/sql-errors.ts';
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

const tries = 3;

// Calls outside an account have no transaction of their own: the entity manager's stands in for it.
async function outsideAccounts<Result>(call: AnyCall, work: HeldWork<Result>): Promise<Result> {
  const { database } = call.services;
  for (let attempt = 1; ; attempt++) {
    try {
      return await database.em().transactional((em) => {
        const now = database.clock.now();
        const transactIn: AnyCall['transactIn'] = (account, verbs) =>
          transactWithin(em, { account, actor: system, now }, verbs);
        return work({ ...call, em: reader(em), transactIn }, em, now);
      });
    } catch (error) {
      if (attempt >= tries || !isRetryable(error)) throw error;
    }
  }
}

/** What is done with a call that is held together by one transaction: its entity manager, and its business time. */
export type HeldWork<Result> = (held: AnyCall, em: EntityManager, now: Date) => Promise<Result>;

/**
 * Runs `work` with a call that reads and writes in one transaction, which commits when it returns and is undone when it
 * throws. Work that met a deadlock, or a change of what it had read, is run again.
 */
export function inOneTransaction<Result>(call: AnyCall, work: HeldWork<Result>): Promise<Result> {
  if (!call.account) return outsideAccounts(call, work);
  return transact(call.services.database, { account: call.account, actor: call.actor }, (tx) =>
    work({ ...call, em: reader(tx.em), transact: within(tx) }, tx.em, tx.now),
  );
}

import type { EntityManager } from '@mikro-orm/postgresql';
import type { Database } from '../../postgres/database.ts';
import { commit, system, transact, transactWithin } from '../../events/transaction.ts';
import type { Call } from './route.ts';

/** A call whose body and query nobody has typed yet. */
export type AnyCall = Call<unknown, unknown>;

// Its own identity map: what it reads is what stands in the database, as it would be outside.
function reader(em: EntityManager): EntityManager {
  return em.fork({ keepTransactionContext: true });
}

/** What is done with a call that is held together by one transaction, through the transaction's entity manager. */
export type HeldWork<Result> = (held: AnyCall, em: EntityManager) => Promise<Result>;

// Calls outside an account have no transaction of their own: the entity manager's stands in for it.
function outsideAccounts<Result>(database: Database, call: AnyCall, work: HeldWork<Result>): Promise<Result> {
  return commit(database, (em, afterCommit) => {
    const now = database.clock.now();
    const transactIn: AnyCall['transactIn'] = (account, verbs) =>
      transactWithin({ em, database, afterCommit }, { account, actor: system, now }, verbs);
    return work({ ...call, em: reader(em), now, transactIn }, em);
  });
}

/**
 * Runs `work` with a call that reads and writes in one transaction, which commits when it returns and is undone when it
 * throws; each verb is a savepoint of it. Work that met a deadlock, or a change of what it had read, is run again.
 */
export function inOneTransaction<Result>(database: Database, call: AnyCall, work: HeldWork<Result>): Promise<Result> {
  if (!call.account) return outsideAccounts(database, call, work);
  return transact(database, { account: call.account, actor: call.actor }, (tx) =>
    work({ ...call, em: reader(tx.em), now: tx.now, transact: (verbs) => tx.savepoint(verbs) }, tx.em),
  );
}

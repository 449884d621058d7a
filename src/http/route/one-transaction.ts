import type { EntityManager } from '@mikro-orm/postgresql';
import type { Database } from '../../postgres/database.ts';
import { transact, transactOutside, type OuterTransaction, type Transact } from '../../events/transaction.ts';
import type { AnyCall, InAccount } from './call.ts';

// Its own identity map: what it reads is what stands in the database, as it would be outside.
function reader(em: EntityManager): EntityManager {
  return em.fork({ keepTransactionContext: true });
}

/** What is done with a call that is held together by one transaction, through the transaction's entity manager. */
type HeldWork<Call, Result> = (held: Call, em: EntityManager) => Promise<Result>;

/**
 * Runs `work` with a call that reads and writes in one transaction, which commits when it returns and is undone when it
 * throws; each verb is a savepoint of it. Work that met a deadlock, or a change of what it had read, is run again.
 */
export function inOneTransaction<Result>(
  database: Database,
  call: AnyCall,
  work: HeldWork<AnyCall, Result>,
): Promise<Result> {
  return 'account' in call ? inAccount(database, call, work) : outsideAccounts(database, call, work);
}

/** Like inOneTransaction, for a call in an account. */
export function inAccount<Result>(
  database: Database,
  call: InAccount,
  work: HeldWork<InAccount, Result>,
): Promise<Result> {
  return transact(database, { account: call.account, actor: call.actor }, (tx) =>
    work({ ...call, em: reader(tx.em), now: tx.now, transact: (verbs) => tx.savepoint(verbs) }, tx.em),
  );
}

function outsideAccounts<Result>(
  database: Database,
  call: Exclude<AnyCall, InAccount>,
  work: HeldWork<AnyCall, Result>,
): Promise<Result> {
  return transactOutside(database, (tx) => {
    const part: Transact<OuterTransaction> = (verbs) => tx.savepoint(verbs);
    return work({ ...call, em: reader(tx.em), now: tx.now, transact: part }, tx.em);
  });
}

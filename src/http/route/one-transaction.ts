import type { EntityManager } from '@mikro-orm/postgresql';
import type { Database } from '../../postgres/database.ts';
import {
  transact,
  transactOutside,
  type OuterTransaction,
  type Scope,
  type Transact,
} from '../../events/transaction.ts';
import type { AnyCall, InAccount } from './call.ts';

/** Work on a call whose reads and writes are all in one transaction; `em` is the transaction's. */
type HeldWork<Call, Result> = (held: Call, em: EntityManager) => Promise<Result>;

/**
 * Runs `work` with a call that reads and writes in one transaction. It commits when `work` returns and rolls back when
 * `work` throws; each verb runs in a savepoint. After a deadlock or a serialization error `work` is run again.
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
  return transact(database, scopeOf(call), (tx) =>
    work({ ...call, em: reader(tx.em), now: tx.now, transact: (verbs) => tx.savepoint(verbs) }, tx.em),
  );
}

function scopeOf(call: InAccount): Scope {
  const { account, actor } = call;
  return { account, actor, proof: 'proof' in call ? call.proof : null };
}

// A fork has an identity map of its own, so it reads the rows and not the transaction's unsaved objects.
function reader(em: EntityManager): EntityManager {
  return em.fork({ keepTransactionContext: true });
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

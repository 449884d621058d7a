import type { Database } from '../../postgres/database.ts';
import {
  transact,
  transactOutside,
  type OuterTransaction,
  type Scope,
  type Transact,
} from '../../events/transaction.ts';
import type { AnyCall, InAccount } from './call.ts';

/** Work on a call whose reads and writes are all in one transaction. */
type HeldWork<Call, Result> = (held: Call) => Promise<Result>;

/** The view of a transaction on concurrent commits: with `frozen` it sees none (REPEATABLE READ). */
export type View = 'moving' | 'frozen';

/**
 * Runs `work` with a call that reads and writes in one transaction. It commits when `work` returns and rolls back when
 * `work` throws; each verb runs in a savepoint. After a deadlock or a serialization error `work` is run again.
 */
export function inOneTransaction<Result>(
  database: Database,
  { call, view }: { call: AnyCall; view: View },
  work: HeldWork<AnyCall, Result>,
): Promise<Result> {
  return 'account' in call
    ? inAccount(database, { call, view }, work)
    : outsideAccounts(database, { call, view }, work);
}

/** Like inOneTransaction, for a call in an account. */
function inAccount<Result>(
  database: Database,
  { call, view }: { call: InAccount; view: View },
  work: HeldWork<InAccount, Result>,
): Promise<Result> {
  const { account, actor } = call;
  return transact(database, { account, actor, proof: openingOf(call, view) }, (tx) =>
    work({ ...call, sql: tx.sql, now: tx.now, transact: (verbs) => tx.savepoint(verbs) }),
  );
}

/**
 * Sent first in the transaction. A frozen view holds a condition that is checked in it until the commit: if another
 * transaction changes a row that this one then writes, this one fails with a serialization error and is run again.
 */
function openingOf(call: AnyCall, view: View): Exclude<Scope['proof'], undefined> {
  const proof = 'proof' in call ? call.proof : null;
  if (view === 'moving') return proof;
  return {
    verify: async (sql) => {
      await Promise.all([sql('SET TRANSACTION ISOLATION LEVEL REPEATABLE READ'), proof?.verify(sql)]);
    },
    committed: () => proof?.committed(),
  };
}

function outsideAccounts<Result>(
  database: Database,
  { call, view }: { call: Exclude<AnyCall, InAccount>; view: View },
  work: HeldWork<AnyCall, Result>,
): Promise<Result> {
  const held = (tx: OuterTransaction): Promise<Result> => {
    const part: Transact<OuterTransaction> = (verbs) => tx.savepoint(verbs);
    return work({ ...call, sql: tx.sql, now: tx.now, transact: part });
  };
  return transactOutside(database, held, openingOf(call, view));
}

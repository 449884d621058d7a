import type { Database } from '../../postgres/database.ts';
import type { Transact } from '../../events/transaction.ts';
import { requireMatch } from '../conditional/if-match.ts';
import { performAudited } from './audit.ts';
import type { Audited } from './audited.ts';
import type { AnyCall } from './call.ts';
import { inOneTransaction } from './one-transaction.ts';
import type { RecordRoute } from './record-route.ts';

/** Parts of the first batch: the condition on a record, and the entry of the audit log. */
interface Beginning {
  ifMatch: string | null;
  record: RecordRoute | null;
  audited: Audited | null;
}

/**
 * The call of an operation that works in batches. Its condition is checked, and its entry written, in the transaction of the
 * first one only: the batches after it change the record themselves.
 */
export function inFirstBatch({ ifMatch, record, audited }: Beginning, call: AnyCall, database: Database): AnyCall {
  let isBegun = false;
  const view = ifMatch === null ? 'moving' : 'frozen';
  // Safe: the work is of the call's own door, whose transaction each of the two gives it.
  const transact: Transact = async (work) => {
    if (isBegun) return (call.transact as Transact)(work);
    const result = await inOneTransaction(database, { call, view }, async (held) => {
      if (ifMatch !== null) await requireMatch(ifMatch, held, record);
      const perform = () => (held.transact as Transact)(work);
      if (!audited) return perform();
      return performAudited(audited, held, async () => ({ result: await perform(), reply: null, isDone: true }));
    });
    isBegun = true;
    return result;
  };
  return { ...call, transact };
}

import type { Database } from '../../postgres/database.ts';
import { requireMatch } from '../conditional/if-match.ts';
import { performAudited } from './audit.ts';
import type { Audited } from './audited.ts';
import type { InAccount } from './call.ts';
import { inAccount } from './one-transaction.ts';
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
export function inFirstBatch({ ifMatch, record, audited }: Beginning, call: InAccount, database: Database): InAccount {
  let isBegun = false;
  const view = ifMatch === null ? 'moving' : 'frozen';
  const transact: InAccount['transact'] = async (work) => {
    if (isBegun) return call.transact(work);
    const result = await inAccount(database, { call, view }, async (held) => {
      if (ifMatch !== null) await requireMatch(ifMatch, held, record);
      const perform = () => held.transact(work);
      if (!audited) return perform();
      return performAudited(audited, held, async () => ({ result: await perform(), reply: null, isDone: true }));
    });
    isBegun = true;
    return result;
  };
  return { ...call, transact };
}

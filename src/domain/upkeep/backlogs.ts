import type { Database } from '../../postgres/database.ts';
import { findUnfinished, workOnBacklog, type Unfinished } from '../../deliveries/copies/backlogs.ts';
import { system, transact } from '../../events/transaction.ts';
import { sweep } from './sweep.ts';

const pageSize = 100;
// Batches of one task per sweep, so that no endpoint's backlog delays the others for long.
const batchesPerSweep = 50;

/** Continues cancelling or waking the backlogs of endpoints; returns the number of tasks worked on. */
export function finishBacklogs(database: Database): Promise<number> {
  return sweep<Unfinished>(database, {
    name: 'cancelling and waking deliveries',
    nameOf: ({ id, account }) => `task ${id} of account ${account.id}`,
    page: (after) => findUnfinished(database.sql, { after: after?.id ?? 0, limit: pageSize }),
    pageSize,
    atOnce: 1,
    work: async ([task]) => (task ? goOn(database, task) : 0),
  });
}

async function goOn(database: Database, { id, account }: Unfinished): Promise<number> {
  for (let done = 0; done < batchesPerSweep; done++) {
    if (!(await transact(database, { account, actor: system }, (tx) => workOnBacklog(tx.sql, id)))) break;
  }
  return 1;
}

import type { Database } from '../../postgres/database.ts';
import { findUnfinished, workOnBacklog, type Unfinished } from '../../deliveries/queue/backlogs.ts';
import { system, transact } from '../../events/transaction.ts';
import { sweep } from './sweep.ts';

const pageSize = 100;
// One sweep does no more of a task, so that no endpoint's backlog keeps others waiting for long.
const batchesPerSweep = 50;

async function goOn(database: Database, { id, account }: Unfinished): Promise<number> {
  for (let done = 0; done < batchesPerSweep; done++) {
    if (!(await transact(database, { account, actor: system }, (tx) => workOnBacklog(tx.em, id)))) break;
  }
  return 1;
}

/** Goes on with what is to be cancelled or woken of endpoints' backlogs; answers how many tasks it worked on. */
export function finishBacklogs(database: Database): Promise<number> {
  return sweep<Unfinished>(database, {
    name: 'cancelling and waking deliveries',
    nameOf: ({ id, account }) => `task ${id} of account ${account.id}`,
    page: (after) => findUnfinished(database.em(), { after: after?.id ?? 0, limit: pageSize }),
    pageSize,
    atOnce: 1,
    work: async ([task]) => (task ? goOn(database, task) : 0),
  });
}

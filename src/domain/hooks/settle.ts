import { eventState } from '../../deliveries/log/event-state.ts';
import type { Database } from '../../postgres/database.ts';
import { sweep } from '../upkeep/sweep.ts';

interface Ended {
  id: number;
}

const pageSize = 1_000;
const state = eventState({ accountId: 'r.account_id', eventId: 'r.event_id' });

/** Settles requests of hooks that are no longer to be handled, which then count no more among those that wait; returns how many. */
export function settleHookRequests(database: Database): Promise<number> {
  return sweep<Ended>(database, {
    name: 'settling requests of hooks',
    nameOf: ({ id }) => `request ${id}`,
    page: (after) =>
      database.sql<Ended>(
        `SELECT r.id FROM hook_requests r WHERE NOT r.is_settled AND r.id > $1 AND ${state} <> 'waiting'
         ORDER BY r.id LIMIT ${pageSize}`,
        [after?.id ?? 0],
      ),
    pageSize,
    atOnce: pageSize,
    work: async (requests) => {
      const ids = requests.map(({ id }) => id);
      const settled = await database.sql(
        'UPDATE hook_requests SET is_settled = true WHERE id = ANY ($1) AND NOT is_settled RETURNING id',
        [ids],
      );
      return settled.length;
    },
  });
}

import { transactOutside } from '../../events/transaction.ts';
import type { Database } from '../../postgres/database.ts';
import {
  deleteEmptyLanes,
  deleteFinishedEvents,
  findEmptyLanes,
  findFinishedEvents,
  isPendingForBot,
} from '../../deliveries/log/prune.ts';
import { deleteBulkActions, findOldBulkActions } from '../../deliveries/copies/bulk-actions.ts';
import { deleteNotifications, findOldNotifications } from '../../records/notifications.ts';
import {
  deleteConversationBulkActions,
  findOldConversationBulkActions,
} from '../../records/conversations/bulk-actions.ts';
import { deleteRecoveries, findOldRecoveries } from '../../deliveries/copies/recover.ts';
import { sweep } from './sweep.ts';

const usualLimit = 1000;
/** Days without activity after which notifications are deleted, read or not. */
const notificationDays = 90;

interface Row {
  id: number;
}

/** How old rows of a table are found by pages, and deleted. */
interface Deletion {
  name: string;
  what: string;
  /** Rows that are found at once, … */
  limit?: number;
  /** … and those that are deleted at once. */
  atOnce?: number;
  find: (page: { after: number; limit: number }) => Promise<Row[]>;
  remove: (ids: readonly number[]) => Promise<number>;
}

/**
 * Deletes events older than `days` with their deliveries, attempts and bot runs, lanes and recoveries that are then empty, and
 * old bulk actions; events with a pending delivery stay, unless it waits behind a long pause, and those whose last delivery ended
 * later. Returns the number of events. A row that fails does not hold back the others.
 */
export async function deleteOldEvents(database: Database, days: number): Promise<number> {
  const deleted = await deleteAll(database, {
    name: 'deleting old events',
    what: 'event',
    find: (page) => findFinishedEvents(database.sql, days, page),
    remove: (ids) => transactOutside(database, (tx) => deleteFinishedEvents(tx.sql, days, ids)),
  });
  await deleteAll(database, {
    name: 'deleting empty lanes',
    what: 'lane',
    find: (page) => findEmptyLanes(database.sql, page),
    remove: (ids) => deleteEmptyLanes(database.sql, ids),
  });
  await deleteAll(database, {
    name: 'deleting old recoveries',
    what: 'recovery',
    find: (page) => findOldRecoveries(database.sql, days, page),
    remove: (ids) => deleteRecoveries(database.sql, ids),
  });
  await deleteAll(database, {
    name: 'deleting old bulk actions',
    what: 'bulk action',
    find: (page) => findOldBulkActions(database.sql, days, page),
    remove: (ids) => deleteBulkActions(database.sql, ids),
  });
  await deleteAll(database, {
    name: 'deleting old bulk actions on conversations',
    what: 'bulk action',
    find: (page) => findOldConversationBulkActions(database.sql, days, page),
    remove: (ids) => deleteConversationBulkActions(database.sql, ids),
  });
  await deleteAll(database, {
    name: 'deleting old notifications',
    what: 'notification',
    find: (page) => findOldNotifications(database.sql, notificationDays, page),
    remove: (ids) => deleteNotifications(database.sql, ids),
  });
  return deleted;
}

/**
 * Deletes records of runs older than `days`; those of an event that the bot is still to handle stay. Returns their number.
 * The code that no run refers to any more is deleted by deleteReleasedBundles.
 */
export function deleteOldRuns(database: Database, days: number): Promise<number> {
  return deleteAll(database, {
    name: 'deleting old runs',
    what: 'run',
    // Each page looks at all that is old; a record may hold megabytes.
    limit: 20_000,
    atOnce: 200,
    find: ({ after, limit }) => database.sql<Row>(findRuns, [days, after, limit]),
    remove: async (ids) => (await database.sql(deleteRuns, [days, ids])).length,
  });
}

const toHandle = isPendingForBot({ accountId: 'r.account_id', eventId: 'r.event_id', botId: 'r.agent_bot_id' });
const deletableRun = `r.created_at < now() - make_interval(days => $1) AND NOT ${toHandle}`;
// Not by the order of the ids: behind the last old run it would read all runs there are. The index by age has no order.
const findRuns = `SELECT r.id FROM bot_runs r WHERE ${deletableRun} AND r.id > $2 ORDER BY r.id + 0 LIMIT $3`;
const deleteRuns = `DELETE FROM bot_runs r WHERE ${deletableRun} AND r.id = ANY ($2) RETURNING r.id`;

function deleteAll(
  database: Database,
  { name, what, limit = usualLimit, atOnce = limit, find, remove }: Deletion,
): Promise<number> {
  return sweep<Row>(database, {
    name,
    nameOf: ({ id }) => `${what} ${id}`,
    page: (after) => find({ after: after?.id ?? 0, limit }),
    pageSize: limit,
    atOnce,
    work: (rows) => remove(rows.map(({ id }) => id)),
  });
}

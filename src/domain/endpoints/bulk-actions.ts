import { ApiError, badRequest, invalid, notFound } from '../../errors.ts';
import {
  findBulkAction,
  findRunning,
  insertBulkAction,
  noteBatch,
  stopBulkAction,
  takeBatch,
  type Action,
  type BatchResult,
  type BulkAction,
  type BulkBatch,
  type Running,
} from '../../deliveries/copies/bulk-actions.ts';
import { cancelDeliveries } from '../../deliveries/copies/cancel.ts';
import { lockFreeDeliveries } from '../../deliveries/copies/copies.ts';
import { personOf } from '../../deliveries/core/refusal.ts';
import { knowsConversation } from '../../deliveries/log/log.ts';
import type { LogFilter } from '../../deliveries/log/log-filter.ts';
import { selectDeliveries, selectKnown, type Selected } from '../../deliveries/log/selection.ts';
import { dueAt } from '../../events/announcements.ts';
import { system, transact, type Transaction } from '../../events/transaction.ts';
import type { Database } from '../../postgres/database.ts';
import type { Sql } from '../../postgres/sql.ts';
import { Webhook } from '../../records/webhook.ts';
import { lockIfThere, lockOne, readOne } from '../small-rows.ts';
import { sweep } from '../upkeep/sweep.ts';
import { checkOn, resendAll } from './requested-deliveries.ts';

/** The deliveries that an action is for: those of a filter, or of a list. */
export type Selection = { filter: Omit<LogFilter, 'endpoint' | 'after'> } | { ids: readonly number[] };

const tooMuch =
  'More than 100,000 deliveries would have to be looked through, or 10,000 for a text in their answers: narrow the filter by state, conversation_id, since or until';

/**
 * Begins to resend or cancel many deliveries of a webhook, each by the rules for one. The selection is that of this moment.
 * A first batch is done in the caller's transaction, the sweep does the rest.
 * Errors: 404, also for a conversation and for deliveries of others; 409 to resend for a webhook that is off, and while another
 * action of the kind is running; 422 for a filter that too much has to be looked through for.
 */
export async function beginBulkAction(
  tx: Transaction,
  webhookId: number,
  { action, selection }: { action: Action; selection: Selection },
): Promise<BulkAction> {
  // Before the webhook is locked: looking through many takes long.
  const selected = await select(tx.sql, tx.account.id, { webhookId, selection });
  const webhook = await lockOne(tx.sql, Webhook, { id: webhookId, accountId: tx.account.id });
  if (action === 'resend') checkOn(webhook);
  if (!selected) throw invalid('/filter', 'range', tooMuch);
  const ids = action === 'resend' ? newestOfEvents(selected) : selected.map(({ id }) => id);
  const state = 'filter' in selection ? selection.filter.state : null;
  const { id, isNew } = await insertBulkAction(tx.sql, tx.account.id, {
    webhookId,
    action,
    ids,
    asPending: state === 'pending' || state === 'failing',
    failed: selected.length - ids.length,
    by: personOf(tx.actor),
  });
  if (!isNew) {
    const message = `Bulk action ${id} of this webhook is running: wait for its end, or stop it (action ${action})`;
    throw new ApiError(409, 'bulk_running', message);
  }
  await goOn(tx, { id, webhookId });
  return readBulkAction(tx.sql, tx.account.id, { webhookId, id });
}

/** Returns how many deliveries of a webhook the filter selects. Errors: 404; 400 where too much has to be looked through. */
export async function countSelected(
  sql: Sql,
  accountId: number,
  { webhookId, filter }: { webhookId: number } & Extract<Selection, { filter: unknown }>,
): Promise<number> {
  await readOne(sql, Webhook, { id: webhookId, accountId });
  const selected = await select(sql, accountId, { webhookId, selection: { filter } });
  if (!selected) throw badRequest('bad_query', tooMuch);
  return selected.length;
}

async function select(
  sql: Sql,
  accountId: number,
  { webhookId, selection }: { webhookId: number; selection: Selection },
): Promise<Selected[] | null> {
  const endpoint = { kind: 'webhook', id: webhookId } as const;
  if ('ids' in selection) {
    const known = await selectKnown(sql, accountId, { endpoint, ids: selection.ids });
    if (known.length < new Set(selection.ids).size) throw notFound('Delivery');
    return known;
  }
  const { conversationId } = selection.filter;
  if (conversationId !== null && !(await knowsConversation(sql, accountId, conversationId)))
    throw notFound('Conversation');
  return selectDeliveries(sql, accountId, { ...selection.filter, endpoint, after: null });
}

// An event that was sent several times is sent once more, not as many times again.
function newestOfEvents(selected: readonly Selected[]): number[] {
  return [...new Map(selected.map(({ id, eventId }) => [eventId, id])).values()];
}

/** Does a batch of a bulk action; returns true if another can follow. Stops it when the webhook is off or gone. */
async function goOn(tx: Transaction, { id, webhookId }: { id: number; webhookId: number }): Promise<boolean> {
  const webhook = await lockIfThere(tx.sql, Webhook, { id: webhookId, accountId: tx.account.id });
  const batch = await takeBatch(tx.sql, tx.account.id, id);
  if (!batch) return false;
  if (!webhook || (batch.action === 'resend' && !webhook.active)) {
    await stopBulkAction(tx.sql, tx.account.id, id);
    return false;
  }
  const result = await (batch.action === 'resend' ? resendSome : cancelSome)(tx, webhookId, batch);
  return noteBatch(tx.sql, { accountId: tx.account.id, id }, result);
}

// Deliveries that were meant because they are pending may have arrived since.
async function resendSome(tx: Transaction, webhookId: number, { ids, asPending }: BulkBatch): Promise<BatchResult> {
  const { pending, ended, busy } = await lockFreeDeliveries(tx.sql, tx.account.id, ids);
  const meant = ids.filter((id) => pending.has(id) || (!asPending && ended.has(id)));
  const done = await resendAll(tx, { kind: 'webhook', id: webhookId }, meant);
  return { done, failed: ids.length - busy.length - done, busy };
}

async function cancelSome(tx: Transaction, webhookId: number, { ids, by }: BulkBatch): Promise<BatchResult> {
  const cancellation = { ids, reason: 'cancelled_on_request', by } as const;
  const { cancelled, busy } = await cancelDeliveries(tx.sql, tx.account.id, cancellation);
  if (cancelled > 0) tx.announce('committed', dueAt({ kind: 'webhook', id: webhookId }, tx.account.id));
  return { done: cancelled, failed: ids.length - busy.length - cancelled, busy };
}

const pageSize = 100;
// Batches of one action per sweep, so that none delays the others for long.
const batchesPerSweep = 200;

/** Continues bulk actions that their requests did not complete; returns the number of those worked on. */
export function finishBulkActions(database: Database): Promise<number> {
  return sweep<Running>(database, {
    name: 'acting on selected deliveries',
    nameOf: ({ id, account }) => `bulk action ${id} of account ${account.id}`,
    page: (after) => findRunning(database.sql, { after: after?.id ?? 0, limit: pageSize }),
    pageSize,
    atOnce: 1,
    work: async ([running]) => (running ? goOnFor(database, running) : 0),
  });
}

async function goOnFor(database: Database, { account, ...action }: Running): Promise<number> {
  for (let done = 0; done < batchesPerSweep; done++) {
    if (!(await transact(database, { account, actor: system }, (tx) => goOn(tx, action)))) break;
  }
  return 1;
}

/** Returns a bulk action of the webhook, and its progress. Errors: 404. */
export async function readBulkAction(
  sql: Sql,
  accountId: number,
  which: { webhookId: number; id: number },
): Promise<BulkAction> {
  const action = await findBulkAction(sql, accountId, which);
  if (!action) throw notFound('Bulk action');
  return action;
}

/** Stops a bulk action between two batches; one that has ended stays as it is. Errors: 404. */
export async function stop(tx: Transaction, which: { webhookId: number; id: number }): Promise<BulkAction> {
  const { id } = await readBulkAction(tx.sql, tx.account.id, which);
  await stopBulkAction(tx.sql, tx.account.id, id);
  return readBulkAction(tx.sql, tx.account.id, which);
}

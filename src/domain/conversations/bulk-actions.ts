import { ApiError, notFound } from '../../errors.ts';
import {
  system,
  transact as transactIn,
  type Actor,
  type Transact,
  type Transaction,
} from '../../events/transaction.ts';
import { fromUnixSeconds } from '../../lib/unix-time.ts';
import type { Database } from '../../postgres/database.ts';
import type { Sql } from '../../postgres/sql.ts';
import {
  countRunningBulkActions,
  failConversationBulkAction,
  findConversationBulkAction,
  findRunningBulkActions,
  insertConversationBulkAction,
  noteConversationBatch,
  takeConversationBatch,
  type BulkChanges,
  type BulkFailure,
  type ConversationBulkAction,
  type RunningBulkAction,
} from '../../records/conversations/bulk-actions.ts';
import { sweep } from '../upkeep/sweep.ts';
import { checkConversations, lockConversation, seesEverything } from './access.ts';
import { assign } from './assignment/assignments.ts';
import { setLabels } from './labels.ts';
import { toggleStatus } from './lifecycle.ts';
import { updateConversation } from './updates.ts';

// Five batches, so that up to 100 conversations are changed when the request is answered.
const batchesInRequest = 5;
const maxRunning = 10;

/**
 * Changes many conversations in the actor's name and with the actor's rights, as if each were changed alone: in each all changes
 * are made or none. The first hundred are changed at once, the rest by the sweep. Errors: 404 for a
 * conversation that the account does not have, 429 while ten of the account are running.
 */
export async function beginConversationBulkAction(
  transact: Transact,
  ids: readonly number[],
  changes: BulkChanges,
): Promise<number> {
  const id = await transact((tx) => begin(tx, ids, changes));
  for (let batch = 0; batch < batchesInRequest; batch++) {
    if (!(await transact((tx) => goOn(tx, id)))) break;
  }
  return id;
}

/** Returns a bulk action; agents see their own ones, administrators all. Errors: 404. */
export async function readConversationBulkAction(
  sql: Sql,
  accountId: number,
  actor: Actor,
  id: number,
): Promise<ConversationBulkAction> {
  const agentId = seesEverything(actor) ? null : actor.id;
  const action = await findConversationBulkAction(sql, accountId, { id, agentId });
  if (!action) throw notFound('Bulk action');
  return action;
}

const pageSize = 100;
// Batches of one action per sweep, so that none delays the others for long.
const batchesPerSweep = 50;

/** Continues bulk actions that their requests did not complete; returns the number of those worked on. */
export function finishConversationBulkActions(database: Database): Promise<number> {
  return sweep<RunningBulkAction>(database, {
    name: 'changing selected conversations',
    nameOf: ({ id, account }) => `bulk action ${id} of account ${account.id}`,
    page: (after) => findRunningBulkActions(database.sql, { after: after?.id ?? 0, limit: pageSize }),
    pageSize,
    atOnce: 1,
    work: async ([running]) => (running ? goOnFor(database, running) : 0),
  });
}

async function begin(tx: Transaction, ids: readonly number[], changes: BulkChanges): Promise<number> {
  if ((await countRunningBulkActions(tx.sql, tx.account.id)) >= maxRunning) {
    const message = `${maxRunning} bulk actions of this account are running: try again when one of them is complete`;
    throw new ApiError(429, 'rate_limited', message);
  }
  await checkConversations(tx, ids);
  // In the order of their ids: locks of conversations are taken in it.
  const selected = [...new Set(ids)].sort((one, other) => one - other);
  return insertConversationBulkAction(tx.sql, tx.account.id, {
    ids: selected,
    changes,
    agentId: agentOf(tx.actor),
    depth: tx.actor.depth,
  });
}

function agentOf({ kind, id }: Actor): number {
  if (kind !== 'user' || id === null) throw new Error('Bulk actions are of agents');
  return id;
}

// Each batch is committed with its result: after a crash, none is made twice.
async function goOn(tx: Transaction, id: number): Promise<boolean> {
  const batch = await takeConversationBatch(tx.sql, tx.account.id, id);
  if (!batch) return false;
  const failures: BulkFailure[] = [];
  for (const conversationId of batch.ids) {
    const refusal = await refusalOf(() => tx.savepoint((inner) => change(inner, conversationId, batch.changes)));
    if (refusal) failures.push({ conversation_id: conversationId, code: refusal.code, error: refusal.message });
  }
  const result = { done: batch.ids.length - failures.length, failures };
  return noteConversationBatch(tx.sql, { accountId: tx.account.id, id }, result);
}

async function refusalOf(work: () => Promise<unknown>): Promise<ApiError | null> {
  try {
    await work();
    return null;
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
}

async function change(tx: Transaction, id: number, changes: BulkChanges): Promise<void> {
  const { status, snoozedUntil, priority, assigneeId, teamId, labels } = changes;
  if (labels) await relabel(tx, id, labels);
  if (priority !== undefined) await updateConversation(tx, id, { priority });
  if (assigneeId !== undefined || teamId !== undefined) await assign(tx, id, { assigneeId, teamId });
  // Last: a resolution ends what the other changes are about.
  if (status) await toggleStatus(tx, id, { status, snoozedUntil: snoozedUntil ? fromUnixSeconds(snoozedUntil) : null });
}

async function relabel(
  tx: Transaction,
  id: number,
  { add, remove }: NonNullable<BulkChanges['labels']>,
): Promise<void> {
  const { labels } = await lockConversation(tx, id);
  const titles = [...labels, ...add].filter((title) => !remove.includes(title));
  await setLabels(tx, id, { titles });
}

async function goOnFor(database: Database, { id, account }: RunningBulkAction): Promise<number> {
  for (let batch = 0; batch < batchesPerSweep; batch++) {
    const remains = await transactIn(database, { account, actor: system }, (tx) => goOnAsAgent(tx, id));
    if (!remains) break;
  }
  return 1;
}

// The rights that the agent has now, not those at the beginning; the cause is that of the request.
async function goOnAsAgent(tx: Transaction, id: number): Promise<boolean> {
  const agent = await findAgentOf(tx, id);
  if (agent) return goOn(tx.as(agent), id);
  await failConversationBulkAction(tx.sql, tx.account.id, id);
  return false;
}

async function findAgentOf({ sql, account }: Transaction, id: number): Promise<Actor | null> {
  const [agent] = await sql<Omit<Actor, 'kind'>>(
    `SELECT s.id, s.name, s.email, s.avatar_url AS "avatarUrl", g.role, b.depth
     FROM conversation_bulk_actions b JOIN seats s ON s.account_id = b.account_id AND s.id = b.agent_id AND s.left_at IS NULL
     JOIN agents g ON g.account_id = s.account_id AND g.user_id = s.id
     WHERE b.account_id = $1 AND b.id = $2 FOR KEY SHARE OF g`,
    [account.id, id],
  );
  return agent ? { ...agent, kind: 'user' } : null;
}

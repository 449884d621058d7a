import { findRows, lockIfThere } from '../../small-rows.ts';
import type { Database } from '../../../postgres/database.ts';
import type { Conversation } from '../../../records/conversations/conversation.ts';
import { SlaPolicy } from '../../../records/sla-policy.ts';
import { notFound } from '../../../errors.ts';
import type { SlaBreach } from '../../../events/catalog.ts';
import { system, transact, type Transaction } from '../../../events/transaction.ts';
import type { Sql } from '../../../postgres/sql.ts';
import { holdFree } from '../hold.ts';
import { labelMany } from '../labels.ts';
import { inTurns, sweep } from '../../upkeep/sweep.ts';

/** The label of conversations with a broken promise. */
const breachLabel = 'sla-breached';

type DueMoments = Pick<Conversation, 'firstResponseDueAt' | 'resolutionDueAt'>;

/**
 * Sets a locked conversation's due moments by the policy in `slaPolicyId`; none without a policy, and none for a promise
 * that has been met already. Says nothing. Errors: 404 for a policy that the account does not have.
 */
export async function applySla(tx: Transaction, conversation: Conversation): Promise<void> {
  const due: DueMoments = { firstResponseDueAt: null, resolutionDueAt: null };
  if (conversation.slaPolicyId !== null) {
    // Locked, so that nobody deletes the policy before the conversation refers to it.
    const id = conversation.slaPolicyId;
    const policy = await lockIfThere(tx.sql, SlaPolicy, { id, accountId: tx.account.id }, { shared: true });
    if (!policy) throw notFound('SLA policy');
    if (conversation.status !== 'resolved') Object.assign(due, slaDueAt(policy, conversation.createdAt));
    if (due.firstResponseDueAt && (await wasAnswered(tx, conversation))) due.firstResponseDueAt = null;
  }
  Object.assign(conversation, due);
}

/** The moments by which a conversation created at `createdAt` needs its first reply and its resolution. */
function slaDueAt(policy: Pick<SlaPolicy, 'firstResponseSeconds' | 'resolutionSeconds'>, createdAt: Date): DueMoments {
  return {
    firstResponseDueAt: secondsAfter(createdAt, policy.firstResponseSeconds),
    resolutionDueAt: secondsAfter(createdAt, policy.resolutionSeconds),
  };
}

function secondsAfter(start: Date, seconds: number | null | undefined): Date | null {
  return seconds ? new Date(start.getTime() + seconds * 1000) : null;
}

async function wasAnswered(tx: Transaction, conversation: Conversation): Promise<boolean> {
  const rows = await tx.sql(
    `SELECT FROM messages WHERE account_id = $1 AND conversation_id = $2 AND message_type = 'outgoing' AND NOT private
       AND sender_kind IN ('user', 'agent_bot') LIMIT 1`,
    [tx.account.id, conversation.id],
  );
  return rows.length > 0;
}

function isDue(moment: Date | null, now: Date): moment is Date {
  return moment !== null && moment <= now;
}

function takeBreach(conversation: Conversation, policy: SlaPolicy, now: Date): SlaBreach | null {
  const { firstResponseDueAt, resolutionDueAt } = conversation;
  const named = { id: policy.id, name: policy.name };
  if (isDue(firstResponseDueAt, now)) {
    conversation.firstResponseDueAt = null;
    return { which: 'first_response', dueAt: firstResponseDueAt, policy: named };
  }
  if (!isDue(resolutionDueAt, now)) return null;
  conversation.resolutionDueAt = null;
  return { which: 'resolution', dueAt: resolutionDueAt, policy: named };
}

/**
 * Says sla_breached for each overdue promise of a locked conversation, and calls `label` for the first. Returns the number of
 * breaches.
 */
function breachSla(
  tx: Transaction,
  conversation: Conversation,
  policy: SlaPolicy,
  label: (conversation: Conversation) => void,
): number {
  for (let breaches = 0; ; breaches++) {
    const breach = takeBreach(conversation, policy, tx.now);
    if (!breach) return breaches;
    tx.record('sla_breached', { conversation, breach });
    label(conversation);
  }
}

async function findPolicies(tx: Transaction, conversations: readonly Conversation[]): Promise<Map<number, SlaPolicy>> {
  const ids = [...new Set(conversations.flatMap(({ slaPolicyId }) => slaPolicyId ?? []))];
  const policies = await findRows(tx.sql, SlaPolicy, { accountId: tx.account.id, id: { $in: ids } });
  return new Map(policies.map((policy) => [policy.id, policy]));
}

type DueColumn = 'first_response_due_at' | 'resolution_due_at';

interface Overdue {
  id: number;
  account_id: number;
  account_name: string;
  /** As text, in the database's precision. */
  due_at: string;
}

const pageSize = 1000;
const batch = 200;

/** The next conversations whose promise was due by `now`, in the order of that moment. */
export function findOverdue(
  sql: Sql,
  { column, now }: { column: DueColumn; now: Date },
  after: Overdue | null,
): Promise<Overdue[]> {
  return sql<Overdue>(
    `SELECT c.id, c.account_id, a.name AS account_name, c.${column} AS due_at
     FROM conversations c JOIN accounts a ON a.id = c.account_id
     WHERE c.${column} <= $1 AND (c.${column}, c.id) > ($2::timestamptz, $3::bigint)
     ORDER BY c.${column}, c.id LIMIT ${pageSize}`,
    [now, after?.due_at ?? '-infinity', after?.id ?? 0],
  );
}

async function breachSome(database: Database, overdue: readonly Overdue[]): Promise<number> {
  const [first] = overdue;
  if (!first) return 0;
  const account = { id: first.account_id, name: first.account_name };
  return transact(database, { account, actor: system }, async (tx) => {
    const conversations = await holdFree(tx, overdue);
    const policies = await findPolicies(tx, conversations);
    const policyOf = ({ slaPolicyId }: Conversation) => (slaPolicyId === null ? undefined : policies.get(slaPolicyId));
    const broken = conversations.filter((conversation) => isBroken(conversation, tx.now) && policyOf(conversation));
    // The breach is said even if the account has no room for one more label.
    const label = await labelMany(tx, broken, breachLabel);
    let breaches = 0;
    for await (const conversation of inTurns(broken)) {
      const policy = policyOf(conversation);
      if (policy) breaches += breachSla(tx, conversation, policy, label);
    }
    return breaches;
  });
}

function isBroken({ firstResponseDueAt, resolutionDueAt }: Conversation, now: Date): boolean {
  return isDue(firstResponseDueAt, now) || isDue(resolutionDueAt, now);
}

function checkColumn(database: Database, column: DueColumn): Promise<number> {
  return sweep<Overdue>(database, {
    name: `checking ${column}`,
    nameOf: ({ id, account_id: accountId }) => `conversation ${id} of account ${accountId}`,
    page: (after) => findOverdue(database.sql, { column, now: database.clock.now() }, after),
    pageSize,
    atOnce: batch,
    together: ({ account_id: accountId }) => accountId,
    work: (overdue) => breachSome(database, overdue),
  });
}

/** Says sla_breached for all overdue promises; returns how many. A conversation that fails does not hold back the others. */
export async function checkSla(database: Database): Promise<number> {
  const firstResponses = await checkColumn(database, 'first_response_due_at');
  return firstResponses + (await checkColumn(database, 'resolution_due_at'));
}

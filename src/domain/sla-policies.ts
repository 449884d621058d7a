import type { Sql } from '../postgres/sql.ts';
import { SlaPolicy } from '../records/sla-policy.ts';
import { invalid } from '../errors.ts';
import type { Transaction, Transact } from '../events/transaction.ts';
import { detachAndRemove } from './conversations/assignment/detach.ts';
import {
  createRow,
  deleteRows,
  listPage,
  lockOne,
  readOne,
  save,
  uniqueOr422,
  update,
  type Page,
} from './small-rows.ts';

export interface NewSlaPolicy {
  name: string;
  firstResponseSeconds: number | null;
  resolutionSeconds: number | null;
}

/** Returns one page of the account's SLA policies, by name. */
export function listSlaPolicies(sql: Sql, accountId: number, page: number): Promise<Page<SlaPolicy>> {
  return listPage(sql, SlaPolicy, { accountId }, { page, orderBy: { name: 'asc' } });
}

/** Returns an SLA policy of the account. Errors: 404. */
export function readSlaPolicy(sql: Sql, accountId: number, id: number): Promise<SlaPolicy> {
  return readOne(sql, SlaPolicy, { id, accountId });
}

type Promises = Partial<Pick<SlaPolicy, 'firstResponseSeconds' | 'resolutionSeconds'>>;

function checkPromises({ firstResponseSeconds, resolutionSeconds }: Promises): void {
  if (firstResponseSeconds || resolutionSeconds) return;
  throw invalid('', 'promise', 'An SLA policy must have first_response_seconds, resolution_seconds or both');
}

const refuseName = uniqueOr422('sla_policies_name_unique', '/name', 'Another SLA policy of this account has this name');

/** Creates an SLA policy. Errors: 422 for a name in use, and without a promise. */
export async function createSlaPolicy(tx: Transaction, input: NewSlaPolicy): Promise<SlaPolicy> {
  checkPromises(input);
  return createRow(tx.sql, SlaPolicy, {
    ...input,
    accountId: tx.account.id,
    createdAt: tx.now,
    updatedAt: tx.now,
  }).catch(refuseName);
}

function lockPolicy(tx: Transaction, id: number): Promise<SlaPolicy> {
  return lockOne(tx.sql, SlaPolicy, { id, accountId: tx.account.id });
}

/**
 * Changes an SLA policy; conversations that have it already keep their due moments. Errors: 404, 422 for a name in use, and
 * for removing the last promise.
 */
export async function updateSlaPolicy(tx: Transaction, id: number, changes: Partial<NewSlaPolicy>): Promise<SlaPolicy> {
  const policy = await lockPolicy(tx, id);
  if (!update(policy, changes, tx.now)) return policy;
  checkPromises(policy);
  await save(tx.sql, policy).catch(refuseName);
  return policy;
}

/** Deletes an SLA policy; its conversations lose their due moments. Says conversation_updated for each. Errors: 404. */
export function deleteSlaPolicy(transact: Transact, id: number): Promise<void> {
  return detachAndRemove(transact, id, {
    referring: 'SELECT id FROM conversations WHERE account_id = $1 AND sla_policy_id = $2',
    detach: (_, conversations) =>
      conversations
        .filter(({ slaPolicyId }) => slaPolicyId === id)
        .map((conversation) => {
          Object.assign(conversation, { slaPolicyId: null, firstResponseDueAt: null, resolutionDueAt: null });
          return { conversation, changed: { sla_policy_id: { previous: id, current: null } } };
        }),
    lock: (tx) => lockPolicy(tx, id),
    remove: (tx) => deleteRows(tx.sql, SlaPolicy, { id, accountId: tx.account.id }),
  });
}

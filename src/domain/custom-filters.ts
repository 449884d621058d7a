import type { Sql } from '../postgres/sql.ts';
import { CustomFilter } from '../records/custom-filter.ts';
import { invalid } from '../errors.ts';
import type { Actor, Transaction } from '../events/transaction.ts';
import {
  countRows,
  createRow,
  deleteRows,
  findRows,
  lockOne,
  readOne,
  save,
  update,
  type Where,
} from './small-rows.ts';

export type NewCustomFilter = Pick<CustomFilter, 'name' | 'filterType' | 'query'>;

/** Custom filters of an agent in an account at most. */
const maxFiltersPerAgent = 50;

/** Returns the agent's custom filters of a type, by name; their number is limited, so there are no pages. */
export function listCustomFilters(
  sql: Sql,
  { accountId, owner, type }: { accountId: number; owner: Actor; type: CustomFilter['filterType'] },
): Promise<CustomFilter[]> {
  const where: Where<CustomFilter> = { accountId, userId: idOf(owner), filterType: type };
  return findRows(sql, CustomFilter, where, { orderBy: { name: 'asc', id: 'asc' } });
}

/** Returns a custom filter of the agent. Errors: 404, also for one of another agent. */
export function readCustomFilter(
  sql: Sql,
  { accountId, owner, id }: { accountId: number; owner: Actor; id: number },
): Promise<CustomFilter> {
  return readOne(sql, CustomFilter, { id, accountId, userId: idOf(owner) });
}

/** Creates a custom filter of the acting agent. Errors: 422 where the agent has too many. */
export async function createCustomFilter(tx: Transaction, input: NewCustomFilter): Promise<CustomFilter> {
  const scope = { accountId: tx.account.id, userId: idOf(tx.actor) };
  if ((await countRows(tx.sql, CustomFilter, scope)) >= maxFiltersPerAgent)
    throw invalid('', 'limit', `An agent can have at most ${maxFiltersPerAgent} custom filters`);
  return createRow(tx.sql, CustomFilter, { ...input, ...scope, createdAt: tx.now, updatedAt: tx.now });
}

/** Changes a custom filter of the acting agent. Errors: 404. */
export async function updateCustomFilter(
  tx: Transaction,
  id: number,
  changes: Partial<NewCustomFilter>,
): Promise<CustomFilter> {
  const filter = await lockOwn(tx, id);
  if (update(filter, changes, tx.now)) await save(tx.sql, filter);
  return filter;
}

/** Deletes a custom filter of the acting agent. Errors: 404. */
export async function deleteCustomFilter(tx: Transaction, id: number): Promise<void> {
  const { accountId, userId } = await lockOwn(tx, id);
  await deleteRows(tx.sql, CustomFilter, { id, accountId, userId });
}

function lockOwn(tx: Transaction, id: number): Promise<CustomFilter> {
  return lockOne(tx.sql, CustomFilter, { id, accountId: tx.account.id, userId: idOf(tx.actor) });
}

function idOf({ kind, id }: Actor): number {
  if (kind !== 'user' || id === null) throw new Error('Custom filters belong to agents');
  return id;
}

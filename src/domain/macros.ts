import type { Sql } from '../postgres/sql.ts';
import { Macro } from '../records/macro.ts';
import { forbidden, invalid } from '../errors.ts';
import type { Actor, Transaction } from '../events/transaction.ts';
import { checkActions } from './macro-actions.ts';
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

export type NewMacro = Pick<Macro, 'name' | 'visibility' | 'actions'>;

/** Macros that an agent can create in an account at most, global ones included. */
const maxMacrosPerAgent = 100;

/** Returns the macros that the agent may run, by name: global ones and the agent's own; their number is limited. */
export function listMacros(sql: Sql, accountId: number, actor: Actor): Promise<Macro[]> {
  return findRows(sql, Macro, visible(accountId, actor), { orderBy: { name: 'asc', id: 'asc' } });
}

/** Returns a macro that the agent may run. Errors: 404, also for a personal one of another agent. */
export function readMacro(sql: Sql, accountId: number, actor: Actor, id: number): Promise<Macro> {
  return readOne(sql, Macro, { ...visible(accountId, actor), id });
}

/** Creates a macro; one of an agent who is no administrator is personal. Errors: 422 for actions that cannot be run, and for too many macros. */
export async function createMacro(tx: Transaction, { visibility, ...input }: NewMacro): Promise<Macro> {
  checkActions(input.actions);
  const [accountId, createdById] = [tx.account.id, idOf(tx.actor)];
  if ((await countRows(tx.sql, Macro, { accountId, createdById })) >= maxMacrosPerAgent)
    throw invalid('', 'limit', `An agent can create at most ${maxMacrosPerAgent} macros`);
  return createRow(tx.sql, Macro, {
    ...input,
    visibility: visibilityFor(tx.actor, visibility),
    accountId,
    createdById,
    updatedById: createdById,
    createdAt: tx.now,
    updatedAt: tx.now,
  });
}

/** Changes a macro. Errors: 404, 403 for a global one unless the actor is an administrator, 422 for actions that cannot be run. */
export async function updateMacro(tx: Transaction, id: number, changes: Partial<NewMacro>): Promise<Macro> {
  const macro = await lockForChange(tx, id);
  if (changes.actions) checkActions(changes.actions);
  const visibility = changes.visibility && visibilityFor(tx.actor, changes.visibility);
  if (!update(macro, { ...changes, ...(visibility && { visibility }) }, tx.now)) return macro;
  macro.updatedById = idOf(tx.actor);
  await save(tx.sql, macro);
  return macro;
}

/** Deletes a macro. Errors: 404, 403 for a global one unless the actor is an administrator. */
export async function deleteMacro(tx: Transaction, id: number): Promise<void> {
  const { accountId } = await lockForChange(tx, id);
  await deleteRows(tx.sql, Macro, { id, accountId });
}

async function lockForChange(tx: Transaction, id: number): Promise<Macro> {
  const macro = await lockOne(tx.sql, Macro, { ...visible(tx.account.id, tx.actor), id });
  if (macro.visibility === 'global' && tx.actor.role !== 'administrator')
    throw forbidden('Only administrators may change global macros');
  return macro;
}

function visible(accountId: number, actor: Actor): Where<Macro> & object {
  return { accountId, $or: [{ visibility: 'global' }, { createdById: idOf(actor) }] };
}

function visibilityFor({ role }: Actor, wanted: Macro['visibility']): Macro['visibility'] {
  return role === 'administrator' ? wanted : 'personal';
}

function idOf({ kind, id }: Actor): number {
  if (kind !== 'user' || id === null) throw new Error('Macros are of agents');
  return id;
}

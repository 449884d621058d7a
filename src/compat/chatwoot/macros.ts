import { listOf } from './json.ts';
import type { Json, Operation } from './operation.ts';

const base = '/api/v1/accounts/:account_id/macros';

function theirMacro({
  id,
  account_id,
  name,
  visibility,
  actions,
  created_by_id: created,
  updated_by_id: updated,
}: Json): Json {
  return { id, account_id, name, visibility, actions, created_by: { id: created }, updated_by: { id: updated } };
}

const wrapped = (macro: Json): Json => ({ payload: theirMacro(macro) });

/** Macros: those that are created, changed or read alone are wrapped as lists are; of their agents only the ids are told. */
export const macroOperations: readonly Operation[] = [
  { method: 'GET', path: base, answer: ({ payload }: Json) => ({ payload: listOf(payload).map(theirMacro) }) },
  { method: 'GET', path: `${base}/:id`, answer: wrapped },
  { method: 'POST', path: base, answer: wrapped },
  { method: 'PATCH', path: `${base}/:id`, answer: wrapped },
];

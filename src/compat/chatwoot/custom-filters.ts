import { momentText } from './conversation-records.ts';
import { dropBlanks, listOf } from './json.ts';
import type { Json, Operation } from './operation.ts';

const base = '/api/v1/accounts/:account_id/custom_filters';
const wrapper = 'custom_filter';

function theirFilter({ id, name, filter_type: type, query, created_at: created, updated_at: updated }: Json): Json {
  return { id, name, filter_type: type, query, created_at: momentText(created), updated_at: momentText(updated) };
}

/** Custom filters: all of a type in one list, with times in ISO 8601. */
export const customFilterOperations: readonly Operation[] = [
  { method: 'GET', path: base, query: dropBlanks, answer: ({ payload }: Json) => listOf(payload).map(theirFilter) },
  { method: 'GET', path: `${base}/:id`, answer: theirFilter },
  { method: 'POST', path: base, wrapper, answer: theirFilter },
  { method: 'PATCH', path: `${base}/:id`, wrapper, answer: theirFilter },
];

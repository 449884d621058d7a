import { restOf } from './asking.ts';
import { momentText } from './conversation-records.ts';
import { dropBlanks } from './json.ts';
import type { Asked, Json, Operation } from './operation.ts';

const base = '/api/v1/accounts/:account_id/canned_responses';
const wrapper = 'canned_response';

function theirResponse(response: Json): Json {
  const { created_at: created, updated_at: updated } = response;
  return { ...response, created_at: momentText(created), updated_at: momentText(updated) };
}

async function theirResponses(page: Json, asked: Asked): Promise<Json[]> {
  return (await restOf(page, asked)).map(theirResponse);
}

/** Canned responses: all of them in one list, with times in ISO 8601. */
export const cannedResponseOperations: readonly Operation[] = [
  { method: 'GET', path: base, query: dropBlanks, answer: theirResponses, untagged: true },
  { method: 'GET', path: `${base}/:id`, answer: theirResponse },
  { method: 'POST', path: base, wrapper, answer: theirResponse },
  { method: 'PATCH', path: `${base}/:id`, wrapper, answer: theirResponse },
];

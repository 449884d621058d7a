import { notFound } from '../../errors.ts';
import { leaveOut, listOf } from './json.ts';
import { readLabels } from './label-use.ts';
import type { Asked, Json, Operation } from './operation.ts';

const base = '/api/v1/accounts/:account_id/labels';

function readLabel(body: Json): Json {
  const given = leaveOut(body, ['', null], ['color', 'title']);
  const { title } = given;
  return typeof title === 'string' ? { ...given, title: title.toLowerCase() } : given;
}

function findLabel({ payload }: Json, { params }: Asked): Json {
  const found = listOf(payload).find(({ id }) => String(id) === params['id']);
  if (!found) throw notFound('Label');
  return found;
}

/** The labels of the account, and those of contacts. */
export const labelOperations: readonly Operation[] = [
  { method: 'GET', path: `${base}/:id`, instead: base, answer: findLabel },
  { method: 'POST', path: base, wrapper: 'label', body: readLabel },
  { method: 'PATCH', path: `${base}/:id`, wrapper: 'label', body: readLabel },
  { method: 'POST', path: '/api/v1/accounts/:account_id/contacts/:id/labels', body: readLabels },
];

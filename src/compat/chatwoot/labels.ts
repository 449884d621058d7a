import { leaveOut } from './json.ts';
import { readLabels } from './label-use.ts';
import type { Json, Operation } from './operation.ts';

const base = '/api/v1/accounts/:account_id/labels';

function readLabel(body: Json): Json {
  const given = leaveOut(body, ['', null], ['color', 'title']);
  const { title } = given;
  return typeof title === 'string' ? { ...given, title: title.toLowerCase() } : given;
}

/** The labels of the account, and those of contacts. */
export const labelOperations: readonly Operation[] = [
  { method: 'POST', path: base, wrapper: 'label', body: readLabel },
  { method: 'PATCH', path: `${base}/:id`, wrapper: 'label', body: readLabel },
  { method: 'POST', path: '/api/v1/accounts/:account_id/contacts/:id/labels', body: readLabels },
];

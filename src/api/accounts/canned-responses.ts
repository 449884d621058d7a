import {
  createCannedResponse,
  deleteCannedResponse,
  listCannedResponses,
  readCannedResponse,
  updateCannedResponse,
} from '../../domain/canned-responses.ts';
import type { CannedResponse } from '../../records/canned-response.ts';
import { doors } from '../../http/route/admission/doors.ts';
import { withoutUndefined } from '../../lib/without-undefined.ts';
import { presentPage } from '../page.ts';
import { unixSeconds } from '../../lib/unix-time.ts';
import type { Shape } from '../../schemas.ts';

const base = '/api/v1/accounts/:account_id/canned_responses';

function presentResponse(response: CannedResponse): Shape<'resources/canned-response'> {
  return {
    id: response.id,
    account_id: response.accountId,
    short_code: response.shortCode,
    content: response.content,
    created_at: unixSeconds(response.createdAt),
    updated_at: unixSeconds(response.updatedAt),
  };
}

export const cannedResponseRoutes = [
  doors.account(
    ['GET', base, 'List canned responses'],
    {
      query: 'requests/canned-response.list.query',
      reply: 'resources/canned-response-list',
      paged: true,
      role: 'agent',
    },
    async ({ sql, account, query: { page = 1, search } }) =>
      presentPage(await listCannedResponses(sql, account.id, { page, search }), presentResponse),
  ),
  doors.account(
    ['GET', `${base}/:id`, 'Get a canned response'],
    { reply: 'resources/canned-response', record: true, role: 'agent' },
    async ({ sql, account, params }) => presentResponse(await readCannedResponse(sql, account.id, params.id)),
  ),
  doors.account(
    ['POST', base, 'Create a canned response'],
    { body: 'requests/canned-response.create', reply: 'resources/canned-response', role: 'agent', status: 201 },
    async ({ body: { short_code: shortCode, content }, transact }) =>
      presentResponse(await transact((tx) => createCannedResponse(tx, { shortCode, content }))),
  ),
  doors.account(
    ['PATCH', `${base}/:id`, 'Update a canned response'],
    { body: 'requests/canned-response.update', reply: 'resources/canned-response', role: 'agent' },
    async ({ params, body: { short_code: shortCode, content }, transact }) => {
      const changes = withoutUndefined({ shortCode, content });
      return presentResponse(await transact((tx) => updateCannedResponse(tx, params.id, changes)));
    },
  ),
  doors.account(
    ['DELETE', `${base}/:id`, 'Delete a canned response'],
    { reply: 'resources/empty', role: 'agent' },
    ({ params, transact }) => transact((tx) => deleteCannedResponse(tx, params.id)),
  ),
];

import {
  createCustomFilter,
  deleteCustomFilter,
  listCustomFilters,
  readCustomFilter,
  updateCustomFilter,
} from '../../domain/custom-filters.ts';
import type { CustomFilter } from '../../records/custom-filter.ts';
import { doors } from '../../http/route/admission/doors.ts';
import { withoutUndefined } from '../../lib/without-undefined.ts';
import { presentWhole } from '../page.ts';
import { unixSeconds } from '../../lib/unix-time.ts';
import type { Shape } from '../../schemas.ts';

const base = '/api/v1/accounts/:account_id/custom_filters';
const usualType = 'conversation';

function presentFilter(filter: CustomFilter): Shape<'resources/custom-filter'> {
  return {
    id: filter.id,
    account_id: filter.accountId,
    name: filter.name,
    filter_type: filter.filterType,
    query: filter.query,
    created_at: unixSeconds(filter.createdAt),
    updated_at: unixSeconds(filter.updatedAt),
  };
}

export const customFilterRoutes = [
  doors.account(
    ['GET', base, 'List your custom filters'],
    { query: 'requests/custom-filter.list.query', reply: 'resources/custom-filter-list', role: 'agent' },
    async ({ sql, account, actor, query: { filter_type: type = usualType } }) =>
      presentWhole(await listCustomFilters(sql, { accountId: account.id, owner: actor, type }), presentFilter),
  ),
  doors.account(
    ['GET', `${base}/:id`, 'Get a custom filter'],
    { reply: 'resources/custom-filter', record: true, role: 'agent' },
    async ({ sql, account, actor, params }) =>
      presentFilter(await readCustomFilter(sql, { accountId: account.id, owner: actor, id: params.id })),
  ),
  doors.account(
    ['POST', base, 'Create a custom filter'],
    { body: 'requests/custom-filter.create', reply: 'resources/custom-filter', role: 'agent', status: 201 },
    async ({ body: { name, query, type, filter_type: filterType = type ?? usualType }, transact }) =>
      presentFilter(await transact((tx) => createCustomFilter(tx, { name, query, filterType }))),
  ),
  doors.account(
    ['PATCH', `${base}/:id`, 'Update a custom filter'],
    { body: 'requests/custom-filter.update', reply: 'resources/custom-filter', role: 'agent' },
    async ({ params, body: { name, query, type, filter_type: filterType = type }, transact }) => {
      const changes = withoutUndefined({ name, query, filterType });
      return presentFilter(await transact((tx) => updateCustomFilter(tx, params.id, changes)));
    },
  ),
  doors.account(
    ['DELETE', `${base}/:id`, 'Delete a custom filter'],
    { reply: 'resources/empty', role: 'agent' },
    ({ params, transact }) => transact((tx) => deleteCustomFilter(tx, params.id)),
  ),
];

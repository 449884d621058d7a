import {
  beginBulkAction,
  countSelected,
  readBulkAction,
  stop,
  type Selection,
} from '../../../domain/endpoints/bulk-actions.ts';
import type { BulkAction } from '../../../deliveries/copies/bulk-actions.ts';
import { invalid } from '../../../errors.ts';
import { catalog } from '../../../events/catalog.ts';
import { doors } from '../../../http/route/admission/doors.ts';
import { unixSeconds } from '../../../lib/unix-time.ts';
import type { Shape } from '../../../schemas.ts';
import { requireEventNames } from '../../event-names.ts';
import { toFilter } from './delivery-filter.ts';

const base = '/api/v1/accounts/:account_id/webhooks/:id/deliveries';

/** Actions on many deliveries of a webhook, and how many they would be. */
export const bulkActionRoutes = [
  doors.account(
    ['GET', `${base}/count`, 'Count the deliveries of a webhook'],
    {
      query: 'requests/delivery.count.query',
      reply: 'resources/delivery-count',
      record: true,
      role: 'administrator',
      description:
        'How many deliveries a bulk action with this filter would be for. Refused (400) where more than 100,000 would have to be looked through, or 10,000 for `q`.',
    },
    async ({ sql, account, params: { id: webhookId }, query }) => {
      if (query.event !== undefined) requireEventNames([query.event], 'event');
      return { count: await countSelected(sql, account.id, { webhookId, filter: toFilter(query) }) };
    },
  ),
  doors.account(
    ['POST', `${base}/bulk`, 'Resend or cancel many deliveries of a webhook'],
    {
      body: 'requests/delivery.bulk',
      reply: 'resources/bulk-action-begun',
      role: 'administrator',
      audit: { action: 'delivery.bulk_started' },
      status: 202,
      errors: [409],
      description:
        'Resends or cancels the deliveries that the filter finds at this moment, or those of a list, each by the rules for one; later deliveries are not among them. A filter may have 100,000 deliveries to look through, 10,000 with `q` (422). Deliveries of other webhooks are not found (404). Refused (409) while another bulk action of the same kind is running for the webhook, and to resend while it is switched off.',
    },
    async ({ params: { id }, body, transact }) => {
      const selection = readSelection(body);
      const begun = await transact((tx) => beginBulkAction(tx, id, { action: body.action, selection }));
      return { id: begun.id, count: begun.count, state: begun.state };
    },
  ),
  doors.account(
    ['GET', `${base}/bulk/:bulk_id`, 'Get a bulk action of a webhook'],
    { reply: 'resources/bulk-action', record: true, role: 'administrator' },
    async ({ sql, account, params: { id: webhookId, bulk_id: id } }) =>
      present(await readBulkAction(sql, account.id, { webhookId, id })),
  ),
  doors.account(
    ['DELETE', `${base}/bulk/:bulk_id`, 'Stop a bulk action of a webhook'],
    {
      reply: 'resources/bulk-action',
      role: 'administrator',
      audit: { action: 'delivery.bulk_stopped' },
      description: 'It goes no further; what it has done remains. One that has ended stays as it is.',
    },
    async ({ params: { id: webhookId, bulk_id: id }, transact }) =>
      present(await transact((tx) => stop(tx, { webhookId, id }))),
  ),
];

function readSelection({ filter, ids }: Shape<'requests/delivery.bulk'>): Selection {
  if (ids !== undefined && filter === undefined) return { ids };
  if (filter === undefined || ids !== undefined)
    throw invalid('', 'one_of', 'Exactly one of `filter` and `ids` must be there');
  if (filter.event !== undefined && !Object.hasOwn(catalog, filter.event))
    throw invalid('/filter/event', 'enum', `There is no event \`${filter.event}\``);
  return { filter: toFilter(filter) };
}

function present({ createdAt, ...action }: BulkAction): Shape<'resources/bulk-action'> {
  return { ...action, created_at: unixSeconds(createdAt) };
}

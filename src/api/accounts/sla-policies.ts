import {
  createSlaPolicy,
  deleteSlaPolicy,
  listSlaPolicies,
  readSlaPolicy,
  updateSlaPolicy,
} from '../../domain/sla-policies.ts';
import type { SlaPolicy } from '../../records/sla-policy.ts';
import { doors } from '../../http/route/admission/doors.ts';
import { withoutUndefined } from '../../lib/without-undefined.ts';
import { presentPage } from '../page.ts';
import { unixSeconds } from '../../lib/unix-time.ts';
import type { Shape } from '../../schemas.ts';

const base = '/api/v1/accounts/:account_id/sla_policies';

function presentPolicy(policy: SlaPolicy): Shape<'resources/sla-policy'> {
  return {
    id: policy.id,
    account_id: policy.accountId,
    name: policy.name,
    first_response_seconds: policy.firstResponseSeconds ?? null,
    resolution_seconds: policy.resolutionSeconds ?? null,
    created_at: unixSeconds(policy.createdAt),
    updated_at: unixSeconds(policy.updatedAt),
  };
}

export const slaPolicyRoutes = [
  doors.account(
    ['GET', base, 'List SLA policies'],
    { query: 'requests/page.query', reply: 'resources/sla-policy-list', paged: true, role: 'agent' },
    async ({ sql, account, query: { page = 1 } }) =>
      presentPage(await listSlaPolicies(sql, account.id, page), presentPolicy),
  ),
  doors.account(
    ['GET', `${base}/:id`, 'Get an SLA policy'],
    { reply: 'resources/sla-policy', record: true, role: 'agent' },
    async ({ sql, account, params }) => presentPolicy(await readSlaPolicy(sql, account.id, params.id)),
  ),
  doors.account(
    ['POST', base, 'Create an SLA policy'],
    { body: 'requests/sla-policy.create', reply: 'resources/sla-policy', role: 'administrator', status: 201 },
    async ({ body, transact }) => {
      const policy = await transact((tx) =>
        createSlaPolicy(tx, {
          name: body.name,
          firstResponseSeconds: body.first_response_seconds ?? null,
          resolutionSeconds: body.resolution_seconds ?? null,
        }),
      );
      return presentPolicy(policy);
    },
  ),
  doors.account(
    ['PATCH', `${base}/:id`, 'Update an SLA policy'],
    { body: 'requests/sla-policy.update', reply: 'resources/sla-policy', role: 'administrator' },
    async ({ params, body, transact }) => {
      const { name, first_response_seconds: firstResponseSeconds, resolution_seconds: resolutionSeconds } = body;
      const changes = withoutUndefined({ name, firstResponseSeconds, resolutionSeconds });
      return presentPolicy(await transact((tx) => updateSlaPolicy(tx, params.id, changes)));
    },
  ),
  doors.account(
    ['DELETE', `${base}/:id`, 'Delete an SLA policy'],
    { reply: 'resources/empty', role: 'administrator', inBatches: true },
    ({ params, transact }) => deleteSlaPolicy(transact, params.id),
  ),
];

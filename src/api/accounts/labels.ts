import { createLabel, deleteLabel, listLabels, updateLabel } from '../../domain/labels/catalogue.ts';
import type { Label } from '../../records/label.ts';
import { doors } from '../../http/route/admission/doors.ts';
import { withoutUndefined } from '../../lib/without-undefined.ts';
import { presentWhole } from '../page.ts';
import { unixSeconds } from '../../lib/unix-time.ts';
import type { Shape } from '../../schemas.ts';

const base = '/api/v1/accounts/:account_id/labels';
const usualColor = '#1f93ff';

function presentLabel(label: Label): Shape<'resources/label'> {
  return {
    id: label.id,
    account_id: label.accountId,
    title: label.title,
    description: label.description ?? null,
    color: label.color,
    show_on_sidebar: label.showOnSidebar,
    created_at: unixSeconds(label.createdAt),
    updated_at: unixSeconds(label.updatedAt),
  };
}

export const labelRoutes = [
  // Not paged: clients need all labels to show a conversation.
  doors.account(
    ['GET', base, 'List labels'],
    { reply: 'resources/label-list', role: 'agent' },
    async ({ sql, account }) => presentWhole(await listLabels(sql, account.id), presentLabel),
  ),
  doors.account(
    ['POST', base, 'Create a label'],
    { body: 'requests/label.create', reply: 'resources/label', role: 'administrator', status: 201 },
    async ({ body, transact }) => {
      const label = await transact((tx) =>
        createLabel(tx, {
          title: body.title,
          description: body.description ?? null,
          color: body.color ?? usualColor,
          showOnSidebar: body.show_on_sidebar ?? false,
        }),
      );
      return presentLabel(label);
    },
  ),
  doors.account(
    ['PATCH', `${base}/:id`, 'Update a label'],
    { body: 'requests/label.update', reply: 'resources/label', role: 'administrator', inBatches: true },
    async ({ params, body, transact }) => {
      const { title, description, color, show_on_sidebar: showOnSidebar } = body;
      const changes = withoutUndefined({ title, description, color, showOnSidebar });
      return presentLabel(await updateLabel(transact, params.id, changes));
    },
  ),
  doors.account(
    ['DELETE', `${base}/:id`, 'Delete a label'],
    { reply: 'resources/empty', role: 'administrator', inBatches: true },
    ({ params, transact }) => deleteLabel(transact, params.id),
  ),
];

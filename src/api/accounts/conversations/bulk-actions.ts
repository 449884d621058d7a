import { beginConversationBulkAction, readConversationBulkAction } from '../../../domain/conversations/bulk-actions.ts';
import { invalid } from '../../../errors.ts';
import { doors } from '../../../http/route/admission/doors.ts';
import { Unchanged } from '../../../http/route/route.ts';
import type { BulkChanges, ConversationBulkAction } from '../../../records/conversations/bulk-actions.ts';
import type { Shape } from '../../../schemas.ts';

const base = '/api/v1/accounts/:account_id/bulk_actions';

/** Changes of many conversations. */
export const conversationBulkActionRoutes = [
  doors.account(
    ['POST', base, 'Change many conversations'],
    {
      body: 'requests/conversation.bulk-action',
      reply: 'resources/conversation-bulk-action',
      role: 'agent',
      status: 202,
      unchanged: true,
      inBatches: true,
      largeBody: true,
      errors: [429],
      description:
        'In the caller’s name and with the caller’s rights: in each conversation all changes are made or none, and a refusal is in `failures`. Up to 100 conversations are changed at once (200). Of more, the rest is changed in the background (202): ask `GET bulk_actions/:id` for the progress. An account can have ten bulk actions running (429).',
    },
    async ({ sql, account, actor, body, transact }) => {
      const id = await beginConversationBulkAction(transact, body.ids, readChanges(body));
      const action = await readConversationBulkAction(sql, account.id, actor, id);
      return action.state === 'done' ? new Unchanged(present(action)) : present(action);
    },
  ),
  doors.account(
    ['GET', `${base}/:id`, 'Get a bulk action on conversations'],
    {
      reply: 'resources/conversation-bulk-action',
      record: true,
      role: 'agent',
      description: 'Agents get their own ones, administrators all of the account.',
    },
    async ({ sql, account, actor, params }) =>
      present(await readConversationBulkAction(sql, account.id, actor, params.id)),
  ),
];

function readChanges({ fields = {}, labels, snoozed_until: snoozedUntil }: Body): BulkChanges {
  const { status, priority, assignee_id: assigneeId, team_id: teamId } = fields;
  const { add = [], remove = [] } = labels ?? {};
  const changes: BulkChanges = { status, priority, assigneeId, teamId };
  if (add.length + remove.length > 0) changes.labels = { add, remove };
  if (Object.values(changes).every((value) => value === undefined))
    throw invalid('', 'required', '`fields` or `labels` must name a change');
  if (status === 'snoozed' && !snoozedUntil)
    throw invalid('/snoozed_until', 'required', 'The status snoozed needs `snoozed_until`');
  if (status !== 'snoozed' && snoozedUntil)
    throw invalid('/snoozed_until', 'status', '`snoozed_until` goes with the status snoozed');
  return { ...changes, snoozedUntil };
}

type Body = Shape<'requests/conversation.bulk-action'>;

function present({ failures, ...action }: ConversationBulkAction): Shape<'resources/conversation-bulk-action'> {
  return { ...action, failures: [...failures] };
}

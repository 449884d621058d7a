import { readConversation } from '../../../domain/conversations/access.ts';
import { assign } from '../../../domain/conversations/assignment/assignments.ts';
import { markSeen, replaceCustomAttributes, updateConversation } from '../../../domain/conversations/updates.ts';
import { toggleStatus } from '../../../domain/conversations/lifecycle.ts';
import { setLabels } from '../../../domain/conversations/labels.ts';
import type { ConversationStatus } from '../../../records/conversations/conversation.ts';
import { doors } from '../../../http/route/admission/doors.ts';
import { fromUnixSeconds } from '../../../lib/unix-time.ts';
import type { Shape } from '../../../schemas.ts';
import { presentConversation } from './records.ts';

const base = '/api/v1/accounts/:account_id/conversations';

function readMove(body: { status: ConversationStatus; snoozed_until?: number | null }) {
  return { status: body.status, snoozedUntil: body.snoozed_until ? fromUnixSeconds(body.snoozed_until) : null };
}

function presentToggled(record: Shape<'resources/conversation'>): Shape<'resources/toggled-conversation'> {
  const { id, status, snoozed_until: until } = record;
  const moved = { success: true, current_status: status } as const;
  return { ...record, ...moved, payload: { ...moved, conversation_id: id, snoozed_until: until } };
}

/** Actions on a conversation. */
export const conversationActionRoutes = [
  doors.account(
    ['PATCH', base, 'Set the status of the conversation that the body names'],
    { body: 'requests/conversation.set-status', reply: 'resources/conversation', role: 'bot' },
    async ({ services, sql, body, transact }) =>
      presentConversation(sql, await transact((tx) => toggleStatus(tx, body.id, readMove(body))), services.fileLinks),
  ),
  doors.account(
    ['POST', `${base}/:id/toggle_status`, 'Toggle the status of a conversation'],
    { body: 'requests/conversation.toggle-status', reply: 'resources/toggled-conversation', role: 'bot' },
    async ({ services, sql, params, body, transact }) => {
      const toggled = await transact((tx) => toggleStatus(tx, params.id, readMove(body)));
      return presentToggled(await presentConversation(sql, toggled, services.fileLinks));
    },
  ),
  doors.account(
    ['POST', `${base}/:id/toggle_priority`, 'Set the priority of a conversation'],
    { body: 'requests/conversation.toggle-priority', reply: 'resources/conversation', role: 'bot' },
    async ({ services, sql, params, body: { priority }, transact }) =>
      presentConversation(
        sql,
        await transact((tx) => updateConversation(tx, params.id, { priority })),
        services.fileLinks,
      ),
  ),
  doors.account(
    ['POST', `${base}/:id/assignments`, 'Assign a conversation to an agent, a team or both, or to a bot'],
    { body: 'requests/conversation.assign', reply: 'resources/conversation', role: 'bot' },
    async ({ services, sql, params, body, transact }) => {
      const assignment = { assigneeId: body.assignee_id, teamId: body.team_id, botId: body.agent_bot_id };
      return presentConversation(sql, await transact((tx) => assign(tx, params.id, assignment)), services.fileLinks);
    },
  ),
  doors.account(
    ['POST', `${base}/:id/update_last_seen`, 'Mark a conversation as read'],
    { reply: 'resources/conversation', role: 'agent' },
    async ({ services, sql, params, transact }) =>
      presentConversation(sql, await transact((tx) => markSeen(tx, params.id)), services.fileLinks),
  ),
  doors.account(
    ['GET', `${base}/:id/labels`, 'List the labels of a conversation'],
    { reply: 'resources/conversation-labels', role: 'bot' },
    async ({ sql, account, actor, params }) => ({
      payload: (await readConversation(sql, account.id, actor, params.id)).labels,
    }),
  ),
  doors.account(
    ['POST', `${base}/:id/labels`, 'Set the labels of a conversation'],
    { body: 'requests/conversation.set-labels', reply: 'resources/conversation-labels', role: 'bot' },
    async ({ params, body, transact }) => ({
      payload: (await transact((tx) => setLabels(tx, params.id, { titles: body.labels, make: body.create_missing })))
        .labels,
    }),
  ),
  doors.account(
    ['POST', `${base}/:id/custom_attributes`, 'Replace the custom attributes of a conversation'],
    {
      body: 'requests/conversation.set-custom-attributes',
      reply: 'resources/conversation',
      role: 'bot',
      description: 'Those that are not named are gone; PATCH of the conversation keeps them.',
    },
    async ({ services, sql, params, body, transact }) => {
      const replaced = await transact((tx) => replaceCustomAttributes(tx, params.id, body.custom_attributes));
      return presentConversation(sql, replaced, services.fileLinks);
    },
  ),
];

import { readConversation } from '../../domain/conversations/access.ts';
import { assign } from '../../domain/conversations/assignments.ts';
import { markSeen } from '../../domain/conversations/updates.ts';
import { toggleStatus } from '../../domain/conversations/lifecycle.ts';
import { setLabels } from '../../domain/conversations/labels.ts';
import type { ConversationStatus } from '../../records/conversation.ts';
import { route } from '../../http/route/route.ts';
import { fromUnixSeconds } from '../../lib/unix-time.ts';
import { presentConversation } from './conversation-records.ts';

const base = '/api/v1/accounts/:account_id/conversations';

function readMove(body: { status: ConversationStatus; snoozed_until?: number | null }) {
  return { status: body.status, snoozedUntil: body.snoozed_until ? fromUnixSeconds(body.snoozed_until) : null };
}

/** What can be done with a conversation, one route for each. */
export const conversationActionRoutes = [
  route(
    ['PATCH', base],
    {
      summary: 'Set the status of the conversation that the body names',
      body: 'requests/conversation.set-status',
      reply: 'resources/conversation',
      role: 'bot',
    },
    async ({ em, body, transact }) =>
      presentConversation(em, await transact((tx) => toggleStatus(tx, body.id, readMove(body)))),
  ),
  route(
    ['POST', `${base}/:id/toggle_status`],
    { body: 'requests/conversation.toggle-status', reply: 'resources/conversation', role: 'bot' },
    async ({ em, ids, body, transact }) =>
      presentConversation(em, await transact((tx) => toggleStatus(tx, ids.id ?? 0, readMove(body)))),
  ),
  route(
    ['POST', `${base}/:id/assignments`],
    {
      summary: 'Assign a conversation to an agent, a team or both',
      body: 'requests/conversation.assign',
      reply: 'resources/conversation',
      role: 'bot',
    },
    async ({ em, ids, body, transact }) => {
      const assignment = { assigneeId: body.assignee_id, teamId: body.team_id };
      return presentConversation(em, await transact((tx) => assign(tx, ids.id ?? 0, assignment)));
    },
  ),
  route(
    ['POST', `${base}/:id/update_last_seen`],
    { summary: 'Mark a conversation as read', reply: 'resources/conversation', role: 'agent' },
    async ({ em, ids, transact }) => presentConversation(em, await transact((tx) => markSeen(tx, ids.id ?? 0))),
  ),
  route(
    ['GET', `${base}/:id/labels`],
    { reply: 'resources/conversation-labels', role: 'bot' },
    async ({ em, account, actor, ids }) => ({
      payload: (await readConversation(em, account.id, actor, ids.id ?? 0)).labels,
    }),
  ),
  route(
    ['POST', `${base}/:id/labels`],
    { body: 'requests/conversation.set-labels', reply: 'resources/conversation-labels', role: 'bot' },
    async ({ ids, body, transact }) => ({
      payload: (await transact((tx) => setLabels(tx, ids.id ?? 0, body.labels))).labels,
    }),
  ),
];

import type { EntityManager } from '@mikro-orm/postgresql';
import { readConversation } from '../domain/access.ts';
import { conversationsPerPage, listConversations, type ConversationFilter } from '../domain/conversation-list.ts';
import { createConversation, toggleStatus } from '../domain/conversations.ts';
import type { Conversation } from '../entities/conversation.ts';
import { findLastMessages } from '../entities/message.ts';
import { conversationRecord, messageRecord } from '../events/payloads.ts';
import { route } from '../http/route.ts';
import { pageMeta } from '../lib/page.ts';
import { fromUnixSeconds } from '../lib/unix-time.ts';
import type { Shape } from '../schemas.ts';

const base = '/api/v1/accounts/:account_id/conversations';

/** Conversations as the REST API answers them: with the last message of each. */
export async function presentConversations(
  em: EntityManager,
  accountId: number,
  conversations: readonly Conversation[],
): Promise<Shape<'resources/conversation'>[]> {
  const last = await findLastMessages(em, accountId, conversations.map(({ id }) => id));
  return conversations.map((conversation) => {
    const message = last.get(conversation.id);
    return {
      ...conversationRecord(conversation),
      last_message: message ? messageRecord(message, conversation) : null,
    };
  });
}

async function presentOne(em: EntityManager, conversation: Conversation): Promise<Shape<'resources/conversation'>> {
  const [record] = await presentConversations(em, conversation.account.id, [conversation]);
  return record as Shape<'resources/conversation'>;
}

function readFilter(query: Shape<'requests/conversation.list.query'>): ConversationFilter {
  const { status, assignee_type: assigneeType = 'all', labels, sort = 'last_activity_at', page = 1 } = query;
  return {
    status: status === undefined || status === 'all' ? null : status,
    assigneeType,
    labels: labels ?? null,
    sort: sort.replace(/^-/, '') as ConversationFilter['sort'],
    ascending: sort.startsWith('-'),
    page,
  };
}

export const conversationRoutes = [
  route(
    ['GET', base],
    { query: 'requests/conversation.list.query', reply: 'resources/conversation-list', role: 'bot' },
    async ({ em, account, actor, query }) => {
      const filter = readFilter(query);
      const { counts, conversations } = await listConversations(em, account.id, actor, filter);
      const { all, mine, unassigned, assigned } = counts;
      const matching = { all, me: mine, unassigned, assigned }[filter.assigneeType];
      return {
        data: {
          meta: {
            all_count: all,
            mine_count: mine,
            unassigned_count: unassigned,
            assigned_count: assigned,
            ...pageMeta(matching, filter.page, conversationsPerPage),
          },
          payload: await presentConversations(em, account.id, conversations),
        },
      };
    },
  ),
  route(['GET', `${base}/:id`], { reply: 'resources/conversation', role: 'bot' }, async ({ em, account, actor, ids }) =>
    presentOne(em, await readConversation(em, account.id, actor, ids.id ?? 0)),
  ),
  route(
    ['POST', base],
    { body: 'requests/conversation.create', reply: 'resources/conversation', role: 'agent', status: 201 },
    async ({ em, body, transact }) => {
      const conversation = await transact((tx) =>
        createConversation(tx, {
          inboxId: body.inbox_id,
          contactId: body.contact_id,
          sourceId: body.source_id ?? null,
          status: body.status ?? null,
          snoozedUntil: body.snoozed_until ? fromUnixSeconds(body.snoozed_until) : null,
          assigneeId: body.assignee_id ?? null,
          teamId: body.team_id ?? null,
          message: body.message ?? null,
          additionalAttributes: body.additional_attributes ?? {},
          customAttributes: body.custom_attributes ?? {},
        }),
      );
      return presentOne(em, conversation);
    },
  ),
  route(
    ['POST', `${base}/:id/toggle_status`],
    { body: 'requests/conversation.toggle-status', reply: 'resources/conversation', role: 'bot' },
    async ({ em, ids, body, transact }) => {
      const snoozedUntil = body.snoozed_until ? fromUnixSeconds(body.snoozed_until) : null;
      const conversation = await transact((tx) => toggleStatus(tx, ids.id ?? 0, { status: body.status, snoozedUntil }));
      return presentOne(em, conversation);
    },
  ),
];

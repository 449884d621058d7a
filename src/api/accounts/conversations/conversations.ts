import { needContactBySource } from '../../../domain/contacts/contact-inboxes.ts';
import { readConversation } from '../../../domain/conversations/access.ts';
import {
  conversationsPerPage,
  countConversations,
  listConversations,
} from '../../../domain/conversations/finding/list.ts';
import { filterConversations } from '../../../domain/conversations/finding/filtering.ts';
import type { ConversationFilter } from '../../../domain/conversations/finding/filter.ts';
import type { ConversationCounts } from '../../../domain/conversations/finding/matches.ts';
import { foundConversationsPerPage, searchConversations } from '../../../domain/conversations/finding/search.ts';
import { updateConversation } from '../../../domain/conversations/updates.ts';
import { createConversation, needPlace } from '../../../domain/conversations/lifecycle.ts';
import { checkFiles } from '../../../domain/attachments/checked-files.ts';
import { discardFiles } from '../../../domain/attachments/rows.ts';
import { deleteConversation } from '../../../domain/conversations/deletion.ts';
import { messageRecord } from '../../../events/payloads.ts';
import { doors } from '../../../http/route/admission/doors.ts';
import { readConditions } from '../../conditions.ts';
import { pageMeta } from '../../page.ts';
import { fromUnixSeconds } from '../../../lib/unix-time.ts';
import type { Sql } from '../../../postgres/sql.ts';
import type { Attachment } from '../../../records/messages/attachment.ts';
import type { Shape } from '../../../schemas.ts';
import { conversationActionRoutes } from './actions.ts';
import { presentConversation, presentListed } from './records.ts';
import { textOf } from './messages.ts';

const base = '/api/v1/accounts/:account_id/conversations';

function readFilter(query: Shape<'requests/conversation.list.query'>): ConversationFilter {
  const { status, assignee_type: assigneeType = 'all', labels, sort = 'last_activity_at', page = 1 } = query;
  return {
    status: status === undefined || status === 'all' ? null : status,
    assigneeType,
    labels: labels ?? null,
    contactId: null,
    inboxId: query.inbox_id ?? null,
    teamId: query.team_id ?? null,
    text: query.q ?? null,
    sort: sort.replace(/^-/, '') as ConversationFilter['sort'],
    ascending: sort.startsWith('-'),
    page,
  };
}

function presentCounts({ all, mine, unassigned, assigned }: ConversationCounts) {
  return { all_count: all, mine_count: mine, unassigned_count: unassigned, assigned_count: assigned };
}

const countRoute = doors.account(
  ['GET', `${base}/meta`, 'Count conversations'],
  { query: 'requests/conversation.count.query', reply: 'resources/conversation-counts', record: true, role: 'bot' },
  async ({ sql, account, actor, query }) => ({
    meta: presentCounts(await countConversations(sql, account.id, actor, readFilter(query))),
  }),
);

const listRoute = doors.account(
  ['GET', base, 'List conversations'],
  { query: 'requests/conversation.list.query', reply: 'resources/conversation-list', paged: true, role: 'bot' },
  async ({ services, sql, account, actor, query }) => {
    const filter = readFilter(query);
    const { conversations, count, counts } = await listConversations(sql, account.id, actor, filter);
    return {
      data: {
        meta: {
          ...presentCounts(counts),
          ...pageMeta({ count, page: filter.page, perPage: conversationsPerPage }),
        },
        payload: conversations.map((listed) => presentListed(listed, services.fileLinks)),
      },
    };
  },
);

const searchRoute = doors.account(
  ['GET', `${base}/search`, 'Search conversations'],
  { query: 'requests/conversation.search.query', reply: 'resources/conversation-search', paged: true, role: 'bot' },
  async ({ services, sql, account, actor, query: { q, page = 1 } }) => {
    const { found, count, isExact } = await searchConversations(
      sql,
      { accountId: account.id, actor },
      { text: q, page },
    );
    const payload = found.map(({ listed, messages }) => ({
      ...presentListed(listed, services.fileLinks),
      messages: messages.map((message) => messageRecord(message, listed.conversation, services.fileLinks)),
    }));
    const meta = pageMeta({ count, page, perPage: foundConversationsPerPage });
    return { payload, meta: isExact ? meta : { ...meta, exact: false } };
  },
);

const filterRoute = doors.account(
  ['POST', `${base}/filter`, 'Filter conversations'],
  {
    body: 'requests/conversation.filter',
    query: 'requests/page.query',
    reply: 'resources/conversation-page',
    role: 'bot',
    keyed: false,
  },
  async ({ services, sql, account, actor, body: { payload }, query: { page = 1 } }) => {
    const conditions = readConditions(payload);
    const scope = { accountId: account.id, actor };
    const { conversations, count } = await filterConversations(sql, scope, { conditions, page });
    const meta = pageMeta({ count, page, perPage: conversationsPerPage });
    return { payload: conversations.map((listed) => presentListed(listed, services.fileLinks)), meta };
  },
);

const createRoute = doors.account(
  ['POST', base, 'Create a conversation'],
  {
    body: 'requests/conversation.create',
    largeBody: true,
    withFiles: 'requests/conversation.with-files',
    reply: 'resources/conversation',
    role: 'agent',
    status: 201,
    description:
      'With `source_id` alone it is of the contact who is known by that in the inbox. A form may have files of the first message, `message[attachments][]`: see POST …/messages.',
  },
  {
    prepare: async ({ services, account, actor, body, files, read }): Promise<Files> => {
      const checked = checkFiles(files, services.attachments.bounds, '/message[attachments][]');
      if (checked.length > 0)
        await read(async (sql) => {
          const contactId = await contactOf(sql, account.id, body);
          await needPlace(sql, { accountId: account.id, actor }, { inboxId: body.inbox_id, contactId });
        });
      return services.attachments.keep(account.id, checked, read);
    },
    handle: async ({ services, account, body, transact }, attachments = []) => {
      const { conversation, message } = await transact(async (tx) =>
        createConversation(tx, {
          inboxId: body.inbox_id,
          contactId: await contactOf(tx.sql, account.id, body),
          sourceId: body.source_id ?? null,
          status: body.status ?? null,
          snoozedUntil: body.snoozed_until ? fromUnixSeconds(body.snoozed_until) : null,
          assigneeId: body.assignee_id ?? null,
          teamId: body.team_id ?? null,
          message: firstMessage(body, attachments),
          additionalAttributes: body.additional_attributes ?? {},
          customAttributes: body.custom_attributes ?? {},
        }),
      );
      return presentListed({ conversation, lastMessage: message }, services.fileLinks);
    },
    refused: async (_error, { transact }, attachments = []) => {
      if (attachments.length > 0) await transact((tx) => discardFiles(tx, attachments));
    },
  },
);

/** Undefined where nothing was sent as a form. */
type Files = readonly Attachment[] | undefined;

type NewConversation = Shape<'requests/conversation.create'> | Shape<'requests/conversation.with-files'>;

// The schema ensures that one of the two is present.
async function contactOf(
  sql: Sql,
  accountId: number,
  { contact_id: id, inbox_id: inboxId, source_id: sourceId }: NewConversation,
): Promise<number> {
  return id ?? needContactBySource(sql, accountId, { inboxId, sourceId: sourceId ?? '' });
}

// Files are a message without words, too.
function firstMessage({ message }: NewConversation, attachments: readonly Attachment[]) {
  return message || attachments.length > 0 ? { content: textOf(message ?? {}), attachments } : null;
}

const updateRoute = doors.account(
  ['PATCH', `${base}/:id`, 'Update a conversation'],
  { body: 'requests/conversation.update', largeBody: true, reply: 'resources/conversation', role: 'bot' },
  async ({ services, sql, params, body, transact }) => {
    const changes = {
      priority: body.priority,
      slaPolicyId: body.sla_policy_id,
      additionalAttributes: body.additional_attributes,
      customAttributes: body.custom_attributes,
    };
    return presentConversation(
      sql,
      await transact((tx) => updateConversation(tx, params.id, changes)),
      services.fileLinks,
    );
  },
);

export const conversationRoutes = [
  listRoute,
  countRoute,
  searchRoute,
  filterRoute,
  doors.account(
    ['GET', `${base}/:id`, 'Get a conversation'],
    { reply: 'resources/conversation', record: true, role: 'bot' },
    async ({ services, sql, account, actor, params }) =>
      presentConversation(sql, await readConversation(sql, account.id, actor, params.id), services.fileLinks),
  ),
  createRoute,
  updateRoute,
  doors.account(
    ['DELETE', `${base}/:id`, 'Delete a conversation'],
    { reply: 'resources/empty', role: 'administrator' },
    ({ params, transact }) => transact((tx) => deleteConversation(tx, params.id)),
  ),
  ...conversationActionRoutes,
];

import type { Sql } from '../../../postgres/sql.ts';
import { changeInboxMembers, findInboxMembers } from '../../../domain/inboxes/members.ts';
import { readInbox } from '../../../domain/inboxes/inboxes.ts';
import { findAgents } from '../../../domain/people/agents.ts';
import type { Calls } from '../../../http/route/call.ts';
import { doors } from '../../../http/route/admission/doors.ts';
import type { Shape } from '../../../schemas.ts';
import { presentWhole } from '../../page.ts';
import { presentAgent } from './agents.ts';

const ofInbox = '/api/v1/accounts/:account_id/inboxes/:id/members';
const flat = '/api/v1/accounts/:account_id/inbox_members';

type Agents = Shape<'resources/inbox-agents'>;
type Call = Calls['account'];

/** Agents of an inbox in REST answers. */
export async function presentAgents(sql: Sql, accountId: number, userIds: readonly number[]): Promise<Agents> {
  return presentWhole(await findAgents(sql, accountId, userIds), presentAgent);
}

async function showMembers({ sql, account, actor }: Call, inboxId: number): Promise<Agents> {
  const { id } = await readInbox(sql, account.id, actor, inboxId);
  return presentAgents(sql, account.id, await findInboxMembers(sql, account.id, id));
}

async function changeMembers(
  { sql, account, transact }: Call,
  inboxId: number,
  wanted: { userIds: readonly number[]; change: 'add' | 'replace' },
): Promise<Agents> {
  await changeInboxMembers(transact, inboxId, wanted);
  return presentAgents(sql, account.id, await findInboxMembers(sql, account.id, inboxId));
}

/** The members of inboxes: below each inbox, and where many clients look for them, at a path of their own. */
export const inboxMemberRoutes = [
  doors.account(
    ['GET', ofInbox, 'List the members of an inbox'],
    { reply: 'resources/inbox-agents', role: 'agent' },
    async (call) => showMembers(call, call.params.id),
  ),
  doors.account(
    ['POST', ofInbox, 'Add members to an inbox'],
    {
      body: 'requests/inbox.members',
      reply: 'resources/inbox-agents',
      role: 'administrator',
      audit: { action: 'inbox_member.created', members: 'added' },
    },
    async (call) => changeMembers(call, call.params.id, { userIds: call.body.user_ids, change: 'add' }),
  ),
  doors.account(
    ['PATCH', ofInbox, 'Replace the members of an inbox'],
    {
      body: 'requests/inbox.members',
      reply: 'resources/inbox-agents',
      role: 'administrator',
      audit: { action: 'inbox_member.updated', members: 'replaced' },
      inBatches: true,
    },
    async (call) => changeMembers(call, call.params.id, { userIds: call.body.user_ids, change: 'replace' }),
  ),
  doors.account(
    ['DELETE', ofInbox, 'Remove members from an inbox'],
    {
      body: 'requests/inbox.members',
      reply: 'resources/empty',
      role: 'administrator',
      audit: { action: 'inbox_member.deleted', members: 'removed' },
      inBatches: true,
    },
    ({ params, body, transact }) =>
      changeInboxMembers(transact, params.id, { userIds: body.user_ids, change: 'remove' }),
  ),
  doors.account(
    ['GET', `${flat}/:inbox_id`, 'List the members of the inbox in the path'],
    { reply: 'resources/inbox-agents', role: 'agent' },
    async (call) => showMembers(call, call.params.inbox_id),
  ),
  doors.account(
    ['POST', flat, 'Add members to the inbox that the body names'],
    {
      body: 'requests/inbox-members.change',
      reply: 'resources/inbox-agents',
      role: 'administrator',
      audit: { action: 'inbox_member.created', members: 'added', target: { type: 'inbox', from: 'inbox_id' } },
    },
    async (call) => changeMembers(call, call.body.inbox_id, { userIds: call.body.user_ids, change: 'add' }),
  ),
  doors.account(
    ['PATCH', flat, 'Replace the members of the inbox that the body names'],
    {
      body: 'requests/inbox-members.change',
      reply: 'resources/inbox-agents',
      role: 'administrator',
      audit: { action: 'inbox_member.updated', members: 'replaced', target: { type: 'inbox', from: 'inbox_id' } },
      inBatches: true,
    },
    async (call) => changeMembers(call, call.body.inbox_id, { userIds: call.body.user_ids, change: 'replace' }),
  ),
  doors.account(
    ['DELETE', flat, 'Remove members from the inbox that the body names'],
    {
      body: 'requests/inbox-members.change',
      reply: 'resources/empty',
      role: 'administrator',
      audit: { action: 'inbox_member.deleted', members: 'removed', target: { type: 'inbox', from: 'inbox_id' } },
      inBatches: true,
    },
    ({ body, transact }) => changeInboxMembers(transact, body.inbox_id, { userIds: body.user_ids, change: 'remove' }),
  ),
];

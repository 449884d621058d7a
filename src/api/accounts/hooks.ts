import {
  createHook,
  deleteHook,
  listHooks,
  ownerInInbox,
  readHook,
  rotateHook,
  type HookOwner,
} from '../../domain/hooks/hooks.ts';
import {
  listHookRequests,
  readHandling,
  readHookRequest,
  type HookRequestRow,
  type WholeHookRequest,
} from '../../domain/hooks/requests.ts';
import { handleAgain } from '../../domain/endpoints/requested-deliveries.ts';
import { invalid } from '../../errors.ts';
import type { Transaction } from '../../events/transaction.ts';
import { doors } from '../../http/route/admission/doors.ts';
import type { Services } from '../../http/route/call.ts';
import { newToken } from '../../lib/secrets/tokens.ts';
import { unixSeconds, unixSecondsOrNull } from '../../lib/unix-time.ts';
import type { Hook } from '../../records/hook.ts';
import type { Shape } from '../../schemas.ts';
import { presentPage } from '../page.ts';
import { checkOneOwner } from './one-owner.ts';

const base = '/api/v1/accounts/:account_id/hooks';
const dayInSeconds = 24 * 3_600;
const strictUtf8 = new TextDecoder('utf-8', { fatal: true });

// The whole URL in the two answers that have the token; else as much as tells it from another.
function presentHook({ publicUrl }: Pick<Services, 'publicUrl'>, hook: Hook, token?: string): Shape<'resources/hook'> {
  return {
    id: hook.id,
    account_id: hook.accountId,
    name: hook.name,
    agent_bot_id: hook.ownerKind === 'agent_bot' ? hook.agentBotId : null,
    automation_id: hook.ownerKind === 'automation' ? hook.agentBotId : null,
    inbox_id: hook.inboxId ?? null,
    handler: hook.handler,
    url: `${publicUrl()}/hooks/${token ?? `…${hook.lastFour}`}`,
    last_received_at: unixSecondsOrNull(hook.lastReceivedAt ?? null),
    created_at: unixSeconds(hook.createdAt),
    updated_at: unixSeconds(hook.updatedAt),
  };
}

async function findOwner(tx: Transaction, body: Shape<'requests/hook.create'>): Promise<HookOwner> {
  const { inbox_id: inbox = null, automation_id: automation = null, agent_bot_id: bot = null } = body;
  if (inbox !== null) return ownerInInbox(tx, inbox);
  if (automation !== null) return { kind: 'automation', id: automation };
  if (bot !== null) return { kind: 'agent_bot', id: bot };
  throw invalid('/agent_bot_id', 'required', 'One of agent_bot_id, automation_id and inbox_id must be given');
}

function presentRequest(request: HookRequestRow): Shape<'resources/hook-request'> {
  const { receivedAt, runId, id, outcome, reason, bytes, key, state } = request;
  return { id, received_at: unixSeconds(receivedAt), outcome, reason, bytes, key, state, run_id: runId };
}

function presentWhole(request: WholeHookRequest): Shape<'resources/whole-hook-request'> {
  return {
    ...presentRequest(request),
    headers: request.headers.map(([name, value]) => ({ name, value })),
    ...presentBody(request.body),
  };
}

function presentBody(body: Buffer | null): Pick<Shape<'resources/whole-hook-request'>, 'body' | 'body_encoding'> {
  try {
    return { body: body && strictUtf8.decode(body), body_encoding: 'utf-8' };
  } catch {
    return { body: body && body.toString('base64'), body_encoding: 'base64' };
  }
}

export const hookRoutes = [
  doors.account(
    ['GET', base, 'List hooks'],
    { query: 'requests/page.query', reply: 'resources/hook-list', paged: true, role: 'agent' },
    async ({ sql, account, services, query: { page = 1 } }) =>
      presentPage(await listHooks(sql, account.id, page), (hook) => presentHook(services, hook)),
  ),
  doors.account(
    ['POST', base, 'Create a hook'],
    {
      body: 'requests/hook.create',
      reply: 'resources/hook',
      role: 'administrator',
      status: 201,
      description:
        'Other systems send their requests to the `url` of the answer, which no other answer shows whole. They are checked as the manifest of the plugin says.',
    },
    async ({ services, body, transact }) => {
      const token = newToken('hook', services.random);
      const { name, handler } = body;
      const hook = await transact(async (tx) => {
        const created = await createHook(tx, { name, handler, token, owner: await findOwner(tx, body) });
        checkOneOwner(body);
        return created;
      });
      return presentHook(services, hook, token);
    },
  ),
  doors.account(
    ['GET', `${base}/:id`, 'Get a hook'],
    { reply: 'resources/hook', record: true, role: 'agent' },
    async ({ sql, account, services, params }) => presentHook(services, await readHook(sql, account.id, params.id)),
  ),
  doors.account(
    ['DELETE', `${base}/:id`, 'Delete a hook'],
    {
      reply: 'resources/empty',
      role: 'administrator',
      description: 'Its requests are deleted with it: those that wait are not handled any more.',
    },
    ({ params, transact }) => transact((tx) => deleteHook(tx, params.id)),
  ),
  doors.account(
    ['POST', `${base}/:id/rotate`, 'Give a hook another URL'],
    {
      body: 'requests/hook.rotate',
      reply: 'resources/hook',
      role: 'administrator',
      audit: { action: 'secret.rotated' },
      errors: [409],
      description:
        'The URL before serves too for a day, or `overlap_seconds`. Refused (409) when ten URLs serve already.',
    },
    async ({ services, params, body: { overlap_seconds: overlapSeconds = dayInSeconds }, transact }) => {
      const token = newToken('hook', services.random);
      const hook = await transact((tx) => rotateHook(tx, params.id, { token, overlapSeconds }));
      return presentHook(services, hook, token);
    },
  ),
  doors.account(
    ['GET', `${base}/:id/requests`, 'List the requests of a hook'],
    { query: 'requests/page.query', reply: 'resources/hook-request-list', paged: true, role: 'agent' },
    async ({ sql, account, params, query: { page = 1 } }) => {
      const { id } = await readHook(sql, account.id, params.id);
      return presentPage(await listHookRequests(sql, { accountId: account.id, hookId: id }, page), presentRequest);
    },
  ),
  doors.account(
    ['GET', `${base}/:id/requests/:request_id`, 'Get a request of a hook'],
    { reply: 'resources/whole-hook-request', record: true, role: 'agent' },
    async ({ sql, account, params }) =>
      presentWhole(await readHookRequest(sql, { accountId: account.id, hookId: params.id, id: params.request_id })),
  ),
  doors.account(
    ['POST', `${base}/:id/requests/:request_id/resend`, 'Handle a request of a hook again'],
    {
      reply: 'resources/hook-request',
      role: 'administrator',
      audit: { action: 'hook_request.resent' },
      errors: [409],
      description: 'The plugin gets the same request once more. Refused (409) for a request that was not accepted.',
    },
    async ({ account, params, transact }) => {
      const place = { accountId: account.id, hookId: params.id, id: params.request_id };
      return transact(async (tx) => {
        await handleAgain(tx, await readHandling(tx.sql, place));
        return presentRequest(await readHookRequest(tx.sql, place));
      });
    },
  ),
];

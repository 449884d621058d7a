import { checkConversations } from '../../domain/conversations/access.ts';
import {
  createMacro,
  deleteMacro,
  listMacros,
  readMacro,
  runActions,
  updateMacro,
  type MacroResult,
} from '../../domain/macros.ts';
import type { Macro, MacroAction } from '../../records/macro.ts';
import { doors } from '../../http/route/admission/doors.ts';
import { withoutUndefined } from '../../lib/without-undefined.ts';
import { presentWhole } from '../page.ts';
import { unixSeconds } from '../../lib/unix-time.ts';
import type { Shape } from '../../schemas.ts';

const base = '/api/v1/accounts/:account_id/macros';

function presentMacro(macro: Macro): Shape<'resources/macro'> {
  return {
    id: macro.id,
    account_id: macro.accountId,
    name: macro.name,
    visibility: macro.visibility,
    actions: macro.actions,
    created_by_id: macro.createdById,
    updated_by_id: macro.updatedById,
    created_at: unixSeconds(macro.createdAt),
    updated_at: unixSeconds(macro.updatedAt),
  };
}

function presentResult({ conversationId, refusal }: MacroResult): Shape<'resources/macro-results'>['payload'][number] {
  return {
    conversation_id: conversationId,
    success: refusal === null,
    action_name: refusal?.action ?? null,
    code: refusal?.error.code ?? null,
    error: refusal?.error.message ?? null,
  };
}

function readActions(
  actions: readonly { action_name: string; action_params?: (string | number)[] | null }[],
): MacroAction[] {
  return actions.map(({ action_name, action_params }) => ({ action_name, action_params: action_params ?? [] }));
}

export const macroRoutes = [
  doors.account(
    ['GET', base, 'List macros'],
    { reply: 'resources/macro-list', role: 'agent' },
    async ({ sql, account, actor }) => presentWhole(await listMacros(sql, account.id, actor), presentMacro),
  ),
  doors.account(
    ['GET', `${base}/:id`, 'Get a macro'],
    { reply: 'resources/macro', record: true, role: 'agent' },
    async ({ sql, account, actor, params }) => presentMacro(await readMacro(sql, account.id, actor, params.id)),
  ),
  doors.account(
    ['POST', base, 'Create a macro'],
    {
      body: 'requests/macro.create',
      reply: 'resources/macro',
      role: 'agent',
      status: 201,
      description: 'Administrators alone create global macros: those of agents are personal.',
    },
    async ({ body: { name, visibility = 'personal', actions }, transact }) =>
      presentMacro(await transact((tx) => createMacro(tx, { name, visibility, actions: readActions(actions) }))),
  ),
  doors.account(
    ['PATCH', `${base}/:id`, 'Update a macro'],
    { body: 'requests/macro.update', reply: 'resources/macro', role: 'agent' },
    async ({ params, body: { name, visibility, actions }, transact }) => {
      const changes = withoutUndefined({ name, visibility, actions: actions && readActions(actions) });
      return presentMacro(await transact((tx) => updateMacro(tx, params.id, changes)));
    },
  ),
  doors.account(
    ['DELETE', `${base}/:id`, 'Delete a macro'],
    { reply: 'resources/empty', role: 'agent' },
    ({ params, transact }) => transact((tx) => deleteMacro(tx, params.id)),
  ),
  doors.account(
    ['POST', `${base}/:id/execute`, 'Run a macro on conversations'],
    {
      body: 'requests/macro.execute',
      reply: 'resources/macro-results',
      role: 'agent',
      inBatches: true,
      description:
        'In the caller’s name and with the caller’s rights. In each conversation all actions are done or none: a refusal is in its result.',
    },
    async ({ params, body: { conversation_ids: ids }, transact }) => {
      const actions = await transact(async (tx) => {
        await checkConversations(tx, ids);
        return (await readMacro(tx.sql, tx.account.id, tx.actor, params.id)).actions;
      });
      return { payload: (await runActions(transact, actions, ids)).map(presentResult) };
    },
  ),
];

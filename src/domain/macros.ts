import type { Sql } from '../postgres/sql.ts';
import { Macro, type MacroAction } from '../records/macro.ts';
import { ApiError, forbidden, invalid } from '../errors.ts';
import type { Actor, Transact, Transaction } from '../events/transaction.ts';
import { lockConversation } from './conversations/access.ts';
import { assign } from './conversations/assignment/assignments.ts';
import { setLabels } from './conversations/labels.ts';
import { toggleStatus } from './conversations/lifecycle.ts';
import { send } from './conversations/send.ts';
import { updateConversation } from './conversations/updates.ts';
import {
  countRows,
  createRow,
  deleteRows,
  findRows,
  lockOne,
  readOne,
  save,
  update,
  type Where,
} from './small-rows.ts';

export type NewMacro = Pick<Macro, 'name' | 'visibility' | 'actions'>;

/** How a macro went in a conversation: all of its actions were done, or none, with the first refusal. */
export interface MacroResult {
  conversationId: number;
  refusal: { action: string; error: ApiError } | null;
}

/** Macros that an agent can create in an account at most, global ones included. */
const maxMacrosPerAgent = 100;

/** Returns the macros that the agent may run, by name: global ones and the agent's own; their number is limited. */
export function listMacros(sql: Sql, accountId: number, actor: Actor): Promise<Macro[]> {
  return findRows(sql, Macro, visible(accountId, actor), { orderBy: { name: 'asc', id: 'asc' } });
}

/** Returns a macro that the agent may run. Errors: 404, also for a personal one of another agent. */
export function readMacro(sql: Sql, accountId: number, actor: Actor, id: number): Promise<Macro> {
  return readOne(sql, Macro, visible(accountId, actor, { id }));
}

/** Creates a macro; one of an agent who is no administrator is personal. Errors: 422 for actions that cannot be run, and for too many macros. */
export function createMacro(tx: Transaction, { visibility, ...input }: NewMacro): Promise<Macro> {
  return addMacro(tx, idOf(tx.actor), { ...input, visibility: visibilityFor(tx.actor, visibility) });
}

/** Creates a macro of an agent who is not the actor. Errors: 422 for actions that cannot be run, and for too many macros. */
export async function addMacro(tx: Transaction, createdById: number, input: NewMacro): Promise<Macro> {
  checkActions(input.actions);
  const accountId = tx.account.id;
  if ((await countRows(tx.sql, Macro, { accountId, createdById })) >= maxMacrosPerAgent)
    throw invalid('', 'limit', `An agent can create at most ${maxMacrosPerAgent} macros`);
  return createRow(tx.sql, Macro, {
    ...input,
    accountId,
    createdById,
    updatedById: createdById,
    createdAt: tx.now,
    updatedAt: tx.now,
  });
}

/** Changes a macro. Errors: 404, 403 for a global one unless the actor is an administrator, 422 for actions that cannot be run. */
export async function updateMacro(tx: Transaction, id: number, changes: Partial<NewMacro>): Promise<Macro> {
  const macro = await lockForChange(tx, id);
  if (changes.actions) checkActions(changes.actions);
  const visibility = changes.visibility && visibilityFor(tx.actor, changes.visibility);
  if (!update(macro, { ...changes, ...(visibility && { visibility }) }, tx.now)) return macro;
  macro.updatedById = idOf(tx.actor);
  await save(tx.sql, macro);
  return macro;
}

/** Deletes a macro. Errors: 404, 403 for a global one unless the actor is an administrator. */
export async function deleteMacro(tx: Transaction, id: number): Promise<void> {
  const { accountId } = await lockForChange(tx, id);
  await deleteRows(tx.sql, Macro, { id, accountId });
}

/**
 * Runs actions on conversations, one transaction each, in the actor's name and with the actor's rights. Says what the actions
 * say. A refusal undoes the actions of its conversation and leaves the others.
 */
export async function runActions(
  transact: Transact,
  actions: readonly MacroAction[],
  conversationIds: readonly number[],
): Promise<MacroResult[]> {
  const results: MacroResult[] = [];
  for (const conversationId of new Set(conversationIds)) {
    results.push({ conversationId, refusal: await runIn(transact, actions, conversationId) });
  }
  return results;
}

async function lockForChange(tx: Transaction, id: number): Promise<Macro> {
  const macro = await lockOne(tx.sql, Macro, visible(tx.account.id, tx.actor, { id }));
  if (macro.visibility === 'global' && tx.actor.role !== 'administrator')
    throw forbidden('Only administrators may change global macros');
  return macro;
}

function visible(accountId: number, actor: Actor, only: { id?: number } = {}): Where<Macro> {
  return { ...only, accountId, $or: [{ visibility: 'global' }, { createdById: idOf(actor) }] };
}

function visibilityFor({ role }: Actor, wanted: Macro['visibility']): Macro['visibility'] {
  return role === 'administrator' ? wanted : 'personal';
}

function idOf({ kind, id }: Actor): number {
  if (kind !== 'user' || id === null) throw new Error('Macros are of agents');
  return id;
}

async function runIn(
  transact: Transact,
  actions: readonly MacroAction[],
  conversationId: number,
): Promise<MacroResult['refusal']> {
  let action = '';
  try {
    await transact(async (tx) => {
      for (const { action_name: name, action_params: params } of actions) {
        action = name;
        await kinds[name]?.run(tx, conversationId, params);
      }
    });
    return null;
  } catch (error) {
    // An outdated token refuses the whole request.
    if (!(error instanceof ApiError) || error.status === 401) throw error;
    return { action, error };
  }
}

type Params = MacroAction['action_params'];

interface Kind {
  /** Whether it can be run with these parameters. */
  takes: (params: Params) => boolean;
  /** Its parameters, in the words of a refusal. */
  expected: string;
  run: (tx: Transaction, conversationId: number, params: Params) => Promise<unknown>;
}

const priorities = ['urgent', 'high', 'medium', 'low'] as const;
const statuses = ['open', 'resolved', 'pending'] as const;
const longestText = 20_000;
const longestSnoozeSeconds = 366 * 86_400;

const isOne = (params: Params): boolean => params.length === 1;
const isNothing = (params: Params): boolean => params.length === 0;
const isId = (value: unknown): boolean => Number.isSafeInteger(Number(value)) && Number(value) > 0;
const isText = (value: unknown): boolean =>
  typeof value === 'string' && value.trim() !== '' && value.length <= longestText;
const areTitles = (params: Params): boolean => params.length > 0 && params.every(isText);
const idOrNull = (value: unknown): number | null => (value === 'nil' ? null : Number(value));

const toStatus = (status: (typeof statuses)[number]): Kind => ({
  takes: isNothing,
  expected: 'no parameters',
  run: (tx, id) => toggleStatus(tx, id, { status, snoozedUntil: null }),
});

const toSay = (isPrivate: boolean): Kind => ({
  takes: (params) => isOne(params) && isText(params[0]),
  expected: `one text of at most ${longestText} characters`,
  run: (tx, id, [content]) => send(tx, id, { type: 'outgoing', content: String(content), private: isPrivate }),
});

const toLabel = (change: (present: string[], titles: string[]) => string[]): Kind => ({
  takes: areTitles,
  expected: 'titles of labels',
  run: async (tx, id, params) => {
    const { labels } = await lockConversation(tx, id);
    return setLabels(tx, id, { titles: change(labels, params.map(String)) });
  },
});

const kinds: Readonly<Record<string, Kind>> = {
  assign_agent: {
    takes: ([who, ...more]) => more.length === 0 && (who === 'self' || who === 'nil' || isId(who)),
    expected: 'the id of an agent, self or nil',
    run: (tx, id, [who]) => assign(tx, id, { assigneeId: who === 'self' ? tx.actor.id : idOrNull(who) }),
  },
  assign_team: {
    takes: ([team, ...more]) => more.length === 0 && (team === 'nil' || isId(team)),
    expected: 'the id of a team or nil',
    run: (tx, id, [team]) => assign(tx, id, { teamId: idOrNull(team) }),
  },
  remove_assigned_team: {
    takes: isNothing,
    expected: 'no parameters',
    run: (tx, id) => assign(tx, id, { teamId: null }),
  },
  add_label: toLabel((present, titles) => [...present, ...titles]),
  remove_label: toLabel((present, titles) => present.filter((title) => !titles.includes(title))),
  change_status: {
    takes: (params) => isOne(params) && statuses.some((status) => status === params[0]),
    expected: 'open, resolved or pending',
    run: (tx, id, [status]) => toStatus(status as (typeof statuses)[number]).run(tx, id, []),
  },
  open_conversation: toStatus('open'),
  pending_conversation: toStatus('pending'),
  resolve_conversation: toStatus('resolved'),
  snooze_conversation: {
    takes: (params) => isOne(params) && isId(params[0]) && Number(params[0]) <= longestSnoozeSeconds,
    expected: 'seconds until the conversation is open again',
    run: (tx, id, [seconds]) => {
      const snoozedUntil = new Date(tx.now.getTime() + Number(seconds) * 1000);
      return toggleStatus(tx, id, { status: 'snoozed', snoozedUntil });
    },
  },
  change_priority: {
    takes: (params) => isOne(params) && (params[0] === 'nil' || priorities.some((one) => one === params[0])),
    expected: 'urgent, high, medium, low or nil',
    run: (tx, id, [priority]) =>
      updateConversation(tx, id, { priority: priorities.find((one) => one === priority) ?? null }),
  },
  send_message: toSay(false),
  add_private_note: toSay(true),
};

// Checks that each action exists and has the parameters that it takes. Errors: 422.
function checkActions(actions: readonly MacroAction[]): void {
  for (const [index, { action_name: name, action_params: params }] of actions.entries()) {
    const kind = Object.hasOwn(kinds, name) ? kinds[name] : undefined;
    const path = `/actions/${index}`;
    if (!kind)
      throw invalid(`${path}/action_name`, 'enum', `action_name must be one of ${Object.keys(kinds).join(', ')}`);
    if (!kind.takes(params))
      throw invalid(`${path}/action_params`, 'action_params', `action_params of ${name} must be ${kind.expected}`);
  }
}

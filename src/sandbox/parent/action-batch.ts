import { findUnsafeValue } from '../../lib/unsafe-value.ts';
import { findProblems } from '../../schemas.ts';
import { runBounds } from '../run.ts';
import type { Action, Permissions, RunOutcome } from '../run.ts';

/** The actions of a run, validated; or the outcome and error with which the whole batch is dropped. */
export type BatchVerdict = { actions: Action[] } | { outcome: RunOutcome; error: string };

const actionSchemas = {
  reply: 'runtime/action.reply',
  note: 'runtime/action.note',
  handoff: 'runtime/action.handoff',
  resolve: 'runtime/action.resolve',
  snooze: 'runtime/action.snooze',
  open: 'runtime/action.open',
  assign: 'runtime/action.assign',
  label: 'runtime/action.label',
  priority: 'runtime/action.priority',
  attributes: 'runtime/action.attributes',
} as const satisfies Record<Action['type'], string>;

/**
 * Validates the actions that a run returned: each must match its schema (schemas/runtime/actions.json), contain only
 * storable text, and be granted by the permissions. One invalid action drops the whole batch.
 */
export function judgeActions(batch: readonly unknown[], permissions: Permissions): BatchVerdict {
  const replies = batch.filter((action) => typeOf(action) === 'reply').length;
  if (batch.length > runBounds.actions || replies > runBounds.replies) {
    return { outcome: 'too_many_actions', error: `${batch.length} actions, ${replies} of them replies` };
  }
  for (const [index, action] of batch.entries()) {
    const fault = findFault(action);
    if (fault !== null) return { outcome: 'invalid_actions', error: `Action ${index + 1}: ${fault}` };
  }
  const actions = batch as Action[];
  const forbidden = actions.find(({ type }) => !permissions.conversation.includes(type));
  if (forbidden) {
    return {
      outcome: 'forbidden_action',
      error: `The manifest does not ask for "${forbidden.type}" under permissions.conversation`,
    };
  }
  return { actions };
}

function typeOf(action: unknown): unknown {
  return typeof action === 'object' && action !== null && 'type' in action ? action.type : undefined;
}

function findFault(action: unknown): string | null {
  const type = typeOf(action);
  if (!isActionType(type)) return `unknown type ${describe(type)}`;
  const unsafe = findUnsafeValue(action);
  if (unsafe) return unsafe.message;
  const [problem] = findProblems(actionSchemas[type], action);
  return problem ? `${type}: ${problem.message}` : null;
}

function isActionType(type: unknown): type is Action['type'] {
  return typeof type === 'string' && Object.hasOwn(actionSchemas, type);
}

function describe(type: unknown): string {
  return typeof type === 'string' ? JSON.stringify(type.slice(0, 100)) : 'that is no text';
}

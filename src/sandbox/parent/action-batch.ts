import { findUnsafeValue } from '../../lib/text/unsafe-value.ts';
import { findProblems } from '../../schemas.ts';
import { endingOf } from '../isolate/endings.ts';
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
  schedule: 'runtime/action.schedule',
} as const satisfies Record<Action['type'], string>;

/**
 * Validates the actions that a run returned: each must match its schema (schemas/runtime/actions.json), contain only
 * storable text, and be granted by the permissions, and only one may end the bot's part. One invalid action drops the whole
 * batch.
 */
export function judgeActions(
  batch: readonly unknown[],
  { permissions, now }: { permissions: Permissions; now: number },
): BatchVerdict {
  const count = (type: string) => batch.filter((action) => typeOf(action) === type).length;
  const [replies, schedules] = [count('reply'), count('schedule')];
  if (batch.length > runBounds.actions || replies > runBounds.replies || schedules > runBounds.schedules) {
    const error = `${batch.length} actions, ${replies} of them replies, ${schedules} of them schedules`;
    return { outcome: 'too_many_actions', error };
  }
  for (const [index, action] of batch.entries()) {
    const fault = findFault(action) ?? findScheduleFault(action as Action, now);
    if (fault !== null) return { outcome: 'invalid_actions', error: `Action ${index + 1}: ${fault}` };
  }
  const endings = batch.map((action) => endingOf(typeOf(action))).filter((ending) => ending !== null);
  if (new Set(endings).size > 1)
    return { outcome: 'invalid_actions', error: `${endings.join(', ')} exclude each other` };
  const actions = batch as Action[];
  const lacking = actions.map((action) => lackOf(action, permissions)).find((lack) => lack !== null);
  if (lacking) return { outcome: 'forbidden_action', error: `The manifest does not ask for ${lacking}` };
  return { actions };
}

/** The permission that an action lacks; null when it is granted. */
function lackOf(action: Action, permissions: Permissions): string | null {
  const { type } = action;
  if (type === 'schedule') return permissions.schedule ? null : '`permissions.schedule`';
  if (type === 'handoff' && action.cause && !permissions.handoff_cause) return '`permissions.handoff_cause`';
  return permissions.conversation.includes(type) ? null : `"${type}" under permissions.conversation`;
}

function findScheduleFault(action: Action, now: number): string | null {
  if (action.type !== 'schedule') return null;
  const seconds = action.at - now / 1000;
  const { min, max } = runBounds.scheduleSeconds;
  // The moment was rounded up to a second.
  if (seconds < min || seconds > max + 1) return 'schedule: the moment must be 60 seconds to 90 days away';
  const isLarge = Buffer.byteLength(JSON.stringify(action.data)) > runBounds.scheduleBytes;
  return isLarge ? `schedule: the data may have ${runBounds.scheduleBytes} bytes as JSON` : null;
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

import { findUnsafeValue } from '../../lib/text/unsafe-value.ts';
import { findProblems } from '../../schemas.ts';
import { endingOf } from '../isolate/endings.ts';
import { readTarget } from '../request-target.ts';
import { boundsOf, runBounds } from '../run.ts';
import type { Action, Permissions, RunOutcome } from '../run.ts';
import { withStorableTexts } from './outside-text.ts';

/** The actions of a run, validated; or the outcome and error with which the whole batch is dropped. */
export type BatchVerdict = { actions: Action[] } | { outcome: RunOutcome; error: string };

type Reply = Extract<Action, { type: 'reply' }>;
type Incoming = Extract<Action, { type: 'incoming' }>;

/** Actions of channels. */
const ofChannels: ReadonlySet<Action['type']> = new Set(['incoming', 'status', 'sent', 'refused', 'later', 'webhook']);

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
  mute: 'runtime/action.mute',
  sla: 'runtime/action.sla',
  bot: 'runtime/action.bot',
  incoming: 'runtime/action.incoming',
  status: 'runtime/action.status',
  sent: 'runtime/action.sent',
  refused: 'runtime/action.refused',
  later: 'runtime/action.later',
  webhook: 'runtime/action.webhook',
} as const satisfies Record<Action['type'], string>;

/**
 * Validates the actions that a run returned: each must match its schema (schemas/runtime/actions.json), contain only
 * storable text, and be granted by the permissions, and only one may end the bot's part. One invalid action drops the whole
 * batch. Texts of another system, which channels bring in, are made storable.
 */
export function judgeActions(
  given: readonly unknown[],
  { permissions, now }: { permissions: Permissions; now: number },
): BatchVerdict {
  const batch = withStorableTexts(given);
  const count = (type: string) => batch.filter((action) => typeOf(action) === type).length;
  const [replies, schedules] = [count('reply'), count('schedule')];
  const files = batch.reduce<number>((sum, action) => sum + filesIn(action), 0);
  if (files > runBounds.files)
    return { outcome: 'too_many_actions', error: `The replies of a run may have ${runBounds.files} files` };
  if (batch.length > boundsOf(permissions).actions || replies > runBounds.replies || schedules > runBounds.schedules) {
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
  if (ofChannels.has(type)) return lackOfChannel(action, permissions);
  if (type === 'handoff' && action.cause && !permissions.handoff_cause) return '`permissions.handoff_cause`';
  if (type === 'reply' && permissions.conversation.includes(type)) return lackOfHost(action, permissions);
  const isListed = permissions.conversation.some((listed) => listed === type);
  return isListed ? null : `"${type}" under permissions.conversation`;
}

function lackOfChannel(action: Action, permissions: Permissions): string | null {
  if (!permissions.channel) return '`"kind": "channel"`';
  return action.type === 'incoming' ? lackOfHost(action, permissions) : null;
}

function lackOfHost(
  { attachments = [] }: { attachments?: readonly { url?: string }[] },
  { network }: Permissions,
): string | null {
  const hosts = attachments.flatMap(({ url }) => (url === undefined ? [] : [hostIn(url, network)]));
  if (hosts.length > 0 && !network?.methods.includes('GET')) return '`permissions.network` with the method GET';
  const unlisted = hosts.find((host) => !network?.hosts.includes(host));
  return unlisted === undefined ? null : `${unlisted} under permissions.network.hosts`;
}

function hostIn(url: string, network: Permissions['network']): string {
  const read = readTarget(url, network);
  return 'url' in read ? read.url.host : 'an address that is none';
}

function findReplyFault({ content, attachments = [] }: Reply): string | null {
  if (content.trim() === '' && attachments.length === 0) return '`content` must not be blank';
  for (const { url, file } of attachments) {
    if ((url === undefined) === (file === undefined)) return 'a file has either a `url` or a `file`';
    const read = url === undefined ? null : readTarget(url, null);
    if (read && 'problem' in read) return read.problem.message;
  }
  return null;
}

function findFileFault({ attachments = [] }: Incoming): string | null {
  const isOne = ({ url, hook, data }: NonNullable<Incoming['attachments']>[number]): boolean =>
    [url, hook, data].filter((place) => place !== undefined).length === 1;
  return attachments.every(isOne) ? null : 'a file has either a `url`, a `hook` or `data`';
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
  if (problem) return `${type}: ${problem.message}`;
  const fault =
    type === 'reply' ? findReplyFault(action as Reply) : type === 'incoming' ? findFileFault(action as Incoming) : null;
  return fault === null ? null : `${type}: ${fault}`;
}

function filesIn(action: unknown): number {
  const { attachments } = (action ?? {}) as { attachments?: unknown };
  return Array.isArray(attachments) ? attachments.length : 0;
}

function isActionType(type: unknown): type is Action['type'] {
  return typeof type === 'string' && Object.hasOwn(actionSchemas, type);
}

function describe(type: unknown): string {
  return typeof type === 'string' ? JSON.stringify(type.slice(0, 100)) : 'that is no text';
}

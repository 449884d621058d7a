import type { ImportedRule } from '../../../domain/imports/rules.ts';
import { invalid } from '../../../errors.ts';
import type { Ids } from '../copying.ts';
import { oneOf, recordOf, textOf, type Foreign } from '../values.ts';
import { toCondition, type Condition } from './rule-condition.ts';
import { mostName, titlesOf } from './settings.ts';

/** Copies that a rule or a macro may name, by their ids there. */
export interface NamedCopies {
  inboxes: Ids;
  agents: Ids;
  teams: Ids;
}

/** A rule for the plugin `rules`, and its actions there that it lacks. */
export interface ReadRule {
  rule: ImportedRule;
  missing: string[];
}

/** Seconds of a snooze without an end: the customer's next message ends it before. */
export const longestSnooze = 31_536_000;
const longestNote = 20_000;

/** Events of rules there: those here that are heard for one, and the status that the conversation must have. */
const events: Readonly<Record<string, { on: string[]; status?: string }>> = {
  message_created: { on: ['message_created'] },
  conversation_created: { on: ['conversation_created'] },
  // There it is said of each change, that of the status included.
  conversation_updated: { on: ['conversation_updated', 'conversation_status_changed'] },
  conversation_opened: { on: ['conversation_status_changed'], status: 'open' },
  conversation_resolved: { on: ['conversation_status_changed'], status: 'resolved' },
};

/**
 * Reads a rule. Throws ApiError with the reason for a rule that has no equivalent here: with one condition less it would act where
 * it did not act before. Actions without an equivalent are left out, unless none remains.
 */
export function toRule(given: Foreign, copies: NamedCopies): ReadRule {
  const name = textOf(given['name'], mostName) ?? `Rule ${String(given['id'])}`;
  const heard = events[textOf(given['event_name'], mostName) ?? ''];
  if (!heard) throw refused(`it runs on ${textOf(given['event_name'], 64) ?? 'no event'}`);
  if (Number(given['execution_delay'] ?? 0) !== 0) throw refused('it waits before it acts');
  const read = listIn(given['actions']).map((action) => ({ name: nameOf(action), action: toAction(action, copies) }));
  const actions = read.flatMap(({ action }) => action ?? []);
  const missing = [...new Set(read.filter(({ action }) => !action).map(({ name: one }) => one))];
  if (actions.length === 0)
    throw refused(`its actions have no equivalent here: ${missing.join(', ') || 'it has none'}`);
  const conditions = conditionsOf(given['conditions'], copies, heard.status);
  const fields: [string, unknown][] = [
    ['name', name],
    ['active', given['active'] !== false],
    ['on', heard.on],
  ];
  if (conditions) fields.push(['if', conditions]);
  // Written as a field of a literal, `then` would make it look like a promise.
  fields.push(['then', actions]);
  return { rule: Object.fromEntries(fields), missing };
}

/** Returns the name of an action there. */
export function nameOf(action: Foreign): string {
  return textOf(action['action_name'], 64) ?? 'an action without a name';
}

/** Returns the parameters of an action there, which may stand alone. */
export function parametersOf({ action_params: given }: Foreign): unknown[] {
  return Array.isArray(given) ? given : given === null || given === undefined ? [] : [given];
}

/** Returns the records of a list; empty if it is none. */
export function listIn(value: unknown): Foreign[] {
  return Array.isArray(value) ? value.map(recordOf) : [];
}

function conditionsOf(
  value: unknown,
  copies: NamedCopies,
  status?: string,
): { all?: Condition[]; any?: Condition[] } | null {
  const given = listIn(value);
  // The operator of the last condition joins nothing.
  const joins = new Set(given.slice(0, -1).map(({ query_operator: join }) => textOf(join, 8)?.toUpperCase() ?? 'AND'));
  if (joins.size > 1) throw refused('its conditions mix AND and OR');
  const own = given.map((condition) => toCondition(condition, copies));
  const ofEvent: Condition[] = status ? [{ attribute: 'status', operator: 'equal_to', values: [status] }] : [];
  if (joins.has('OR')) return { ...(ofEvent.length > 0 ? { all: ofEvent } : {}), any: own };
  const all = [...ofEvent, ...own];
  return all.length > 0 ? { all } : null;
}

type Read = (parameters: readonly unknown[], copies: NamedCopies) => Record<string, unknown> | null;

const ended = (action: string): Read => {
  return () => ({ action });
};

const snooze: Read = () => ({ action: 'snooze', seconds: longestSnooze });

const reads: Readonly<Record<string, Read>> = {
  add_label: (titles) => {
    const labels = titlesOf(titles);
    return labels.length > 0 ? { action: 'add_labels', labels } : null;
  },
  assign_agent: ([id], { agents }) => assigned('agent_id', agents.get(Number(id))),
  assign_team: ([id], { teams }) => assigned('team_id', teams.get(Number(id))),
  change_priority: ([priority]) => {
    const known = oneOf(priority, ['urgent', 'high', 'medium', 'low']);
    return known && { action: 'priority', priority: known };
  },
  add_private_note: ([text]) => {
    const content = textOf(text, longestNote);
    return content === null ? null : { action: 'note', content };
  },
  resolve_conversation: ended('resolve'),
  open_conversation: ended('open'),
  snooze_conversation: snooze,
  change_status: ([status], copies) => {
    const known = { open: ended('open'), resolved: ended('resolve'), snoozed: snooze };
    const read = oneOf(status, ['open', 'resolved', 'snoozed']);
    return read && known[read]([], copies);
  },
};

function toAction(action: Foreign, copies: NamedCopies): Record<string, unknown> | null {
  const name = nameOf(action);
  const read = Object.hasOwn(reads, name) ? reads[name] : undefined;
  return read?.(parametersOf(action), copies) ?? null;
}

function assigned(field: 'agent_id' | 'team_id', id: number | undefined): Record<string, unknown> | null {
  return id === undefined ? null : { action: 'assign', [field]: id };
}

function refused(why: string): Error {
  return invalid('', 'foreign', why);
}

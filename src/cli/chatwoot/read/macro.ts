import type { NewMacro } from '../../../domain/macros.ts';
import { invalid } from '../../../errors.ts';
import { idOf, recordOf, textOf, type Foreign } from '../values.ts';
import { listIn, longestSnooze, nameOf, parametersOf, type NamedCopies } from './rule.ts';
import { mostName, titleOf } from './settings.ts';

/** A macro, and the id of its author here; null for one who is no agent here. */
export interface ReadMacro {
  macro: NewMacro;
  authorId: number | null;
}

type Parameter = string | number;
type Read = (parameters: readonly unknown[], copies: NamedCopies) => Parameter[] | null;

const none: Read = () => [];
const text: Read = ([content]) => alone(textOf(content, 20_000));
const titles: Read = (given) => {
  const found = given.flatMap((title) => titleOf(title) ?? []);
  return found.length > 0 ? found : null;
};
// There a snooze has no end: the customer's next message ends it here, too.
const snooze: Read = () => [longestSnooze];

/** Actions by their names, which are the same here; each returns its parameters, or null if they have no equivalent. */
const reads: Readonly<Record<string, Read>> = {
  assign_agent: ([id], { agents }) => (id === 'self' || id === 'nil' ? [id] : alone(agents.get(Number(id)))),
  assign_team: ([id], { teams }) => (isNobody(id) ? ['nil'] : alone(teams.get(Number(id)))),
  remove_assigned_team: none,
  add_label: titles,
  remove_label: titles,
  change_status: ([status]) => alone(textOf(status, 16)),
  open_conversation: none,
  pending_conversation: none,
  resolve_conversation: none,
  snooze_conversation: snooze,
  change_priority: ([priority]) => alone(textOf(priority, 16)),
  send_message: text,
  add_private_note: text,
};

/**
 * Reads a macro. Throws ApiError with the reason for one with an action that has no equivalent here: agents who run it rely on all
 * of its actions.
 */
export function toMacro(given: Foreign, copies: NamedCopies): ReadMacro {
  const actions = listIn(given['actions']).map((action) => {
    const name = nameOf(action);
    const parameters = Object.hasOwn(reads, name) ? reads[name]?.(parametersOf(action), copies) : null;
    if (!parameters) throw invalid('', 'foreign', `an action has no equivalent here: ${name}`);
    const isSnooze = name === 'change_status' && parameters[0] === 'snoozed';
    return isSnooze
      ? { action_name: 'snooze_conversation', action_params: [longestSnooze] }
      : { action_name: name, action_params: parameters };
  });
  if (actions.length === 0) throw invalid('', 'foreign', 'it has no actions');
  const macro = {
    name: textOf(given['name'], mostName) ?? `Macro ${String(given['id'])}`,
    visibility: given['visibility'] === 'global' ? ('global' as const) : ('personal' as const),
    actions,
  };
  return { macro, authorId: copies.agents.get(idOf(recordOf(given['created_by'])['id']) ?? 0) ?? null };
}

function isNobody(id: unknown): boolean {
  return id === undefined || id === 'nil' || Number(id) === 0;
}

function alone(value: Parameter | null | undefined): Parameter[] | null {
  return value === null || value === undefined ? null : [value];
}

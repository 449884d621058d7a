import type { Reply } from '../../../shared/call.ts';
import { call } from '../../session.ts';

export type Macro = Reply<'GET macros'>['payload'][number];

/** Step of a macro in its form, with at most one parameter as text. */
export interface Step {
  name: string;
  value: string;
}

type Choices = readonly (readonly [value: string, text: string])[];

/** Values of the parameters that are choices, by kind. */
export type Options = Readonly<Record<'agent' | 'team' | 'label' | 'status' | 'priority' | 'time', Choices>>;

interface StepKind {
  name: string;
  text: string;
  /** Kind of the parameter; without one there is none. */
  parameter?: keyof Options | 'message';
}

/** Actions that a macro may have, in the order of their menu. */
export const stepKinds: readonly StepKind[] = [
  { name: 'assign_agent', text: 'Assign agent', parameter: 'agent' },
  { name: 'assign_team', text: 'Assign team', parameter: 'team' },
  { name: 'add_label', text: 'Add label', parameter: 'label' },
  { name: 'remove_label', text: 'Remove label', parameter: 'label' },
  { name: 'change_priority', text: 'Set priority', parameter: 'priority' },
  { name: 'send_message', text: 'Send reply', parameter: 'message' },
  { name: 'add_private_note', text: 'Add note', parameter: 'message' },
  { name: 'snooze_conversation', text: 'Snooze', parameter: 'time' },
  { name: 'change_status', text: 'Set status', parameter: 'status' },
  { name: 'resolve_conversation', text: 'Resolve' },
  { name: 'open_conversation', text: 'Open' },
  { name: 'pending_conversation', text: 'Return to bot' },
  { name: 'remove_assigned_team', text: 'Unassign team' },
];

/** Returns the kind of a step. */
export function kindOf(name: string): StepKind {
  return stepKinds.find((kind) => kind.name === name) ?? { name, text: name };
}

/** Returns a new step of a kind, with the first choice of its parameter. */
export function newStep(name: string, options: Options): Step {
  const { parameter } = kindOf(name);
  const choices = parameter === undefined || parameter === 'message' ? [] : options[parameter];
  return { name, value: choices[0]?.[0] ?? '' };
}

/** Returns the steps of a macro. An action with several labels is a step for each. */
export function stepsOf({ actions }: Pick<Macro, 'actions'>): Step[] {
  return actions.flatMap(({ action_name: name, action_params: params }) =>
    params.length === 0 ? [{ name, value: '' }] : params.map((value) => ({ name, value: String(value) })),
  );
}

/** Returns the actions of steps, as the service takes them. */
export function actionsOf(steps: readonly Step[]): Macro['actions'] {
  return steps.map(({ name, value }) => {
    const { parameter } = kindOf(name);
    if (parameter === undefined) return { action_name: name, action_params: [] };
    const isNumber = ['agent', 'team', 'time'].includes(parameter) && /^\d+$/.test(value);
    return { action_name: name, action_params: [isNumber ? Number(value) : value] };
  });
}

/** Reads the agents, teams and labels that actions may name. */
export async function readOptions(signal: AbortSignal): Promise<Options> {
  const [agents, teams, labels] = await Promise.all([
    call('GET agents', { signal }),
    call('GET teams', { signal }),
    call('GET labels', { signal }),
  ]);
  return {
    agent: [['self', 'Me'], ['nil', 'Nobody'], ...agents.map(({ id, name }) => [String(id), name] as const)],
    team: [...teams.map(({ id, name }) => [String(id), name] as const), ['nil', 'No team']],
    label: labels.payload.map(({ title }) => [title, title] as const),
    status: [
      ['open', 'Open'],
      ['pending', 'Pending'],
      ['resolved', 'Resolved'],
    ],
    priority: [
      ['urgent', 'Urgent'],
      ['high', 'High'],
      ['medium', 'Medium'],
      ['low', 'Low'],
      ['nil', 'None'],
    ],
    time: [
      ['3600', '1 hour'],
      ['14400', '4 hours'],
      ['86400', '1 day'],
      ['604800', '1 week'],
    ],
  };
}

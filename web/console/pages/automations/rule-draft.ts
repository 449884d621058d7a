/** A condition while it is edited. */
export interface ConditionDraft {
  attribute: string;
  operator: string;
  values: readonly string[];
}

/** An action while it is edited, with at most one parameter. */
export interface ActionDraft {
  kind: ActionKind;
  /** Labels have several values, an attribute its name and its value; all others one or none. */
  values: readonly string[];
}

/** A rule while it is edited. */
export interface RuleDraft {
  /** The parts of the rule that were not edited, as they are stored: nothing that the form shows otherwise is changed in them. */
  kept: { conditions?: unknown; actions?: unknown };
  name: string;
  active: boolean;
  events: readonly string[];
  match: 'all' | 'any';
  conditions: readonly ConditionDraft[];
  actions: readonly ActionDraft[];
}

type ActionKind = (typeof actionKinds)[number][0];
type Stored = Readonly<Record<string, unknown>>;

export const actionKinds = [
  ['add_labels', 'Add labels'],
  ['assign_agent', 'Assign agent'],
  ['assign_team', 'Assign team'],
  ['priority', 'Set priority'],
  ['note', 'Add note'],
  ['snooze', 'Snooze'],
  ['resolve', 'Resolve'],
  ['open', 'Open'],
  ['attributes', 'Set attribute'],
  ['set_bot', 'Set bot'],
] as const;

export const ruleEvents = [
  ['message_created', 'Message created'],
  ['message_updated', 'Message updated'],
  ['conversation_created', 'Conversation created'],
  ['conversation_updated', 'Conversation updated'],
  ['conversation_status_changed', 'Status changed'],
  ['contact_created', 'Contact created'],
  ['contact_updated', 'Contact updated'],
  ['sla_breached', 'SLA breached'],
  ['webwidget_triggered', 'Chat opened'],
] as const;

export const operators = [
  ['equal_to', 'is one of'],
  ['not_equal_to', 'is none of'],
  ['contains', 'contains'],
  ['does_not_contain', 'does not contain'],
  ['is_present', 'is present'],
  ['is_not_present', 'is not present'],
] as const;

export const mostRules = 50;
export const mostConditions = 20;
export const mostActions = 10;

export const freshCondition: ConditionDraft = { attribute: 'content', operator: 'contains', values: [] };
export const freshAction: ActionDraft = { kind: 'add_labels', values: [] };

/** Returns a rule to begin with. */
export function freshRule(name: string): RuleDraft {
  return {
    kept: {},
    name,
    active: true,
    events: ['message_created'],
    match: 'all',
    conditions: [],
    actions: [freshAction],
  };
}

/** Whether an operator compares with values. */
export function hasValues(operator: string): boolean {
  return operator !== 'is_present' && operator !== 'is_not_present';
}

/**
 * Returns the drafts of stored rules, of whatever form they are. An action with an agent and a team, or with several attributes,
 * becomes several.
 */
export function draftsOf(config: Stored): RuleDraft[] {
  return listOf(config['rules']).map((rule) => {
    const conditions = objectOf(rule['if']);
    const [all, any] = [listOf(conditions['all']), listOf(conditions['any'])];
    return {
      kept: keptOf(rule),
      name: textOf(rule['name']),
      active: rule['active'] !== false,
      events: textsOf(rule['on']),
      match: any.length > 0 ? 'any' : 'all',
      conditions: (any.length > 0 ? any : all).map((condition) => ({
        attribute: textOf(condition['attribute']),
        operator: textOf(condition['operator']),
        values: textsOf(condition['values']),
      })),
      actions: listOf(rule['then']).flatMap(actionsOf),
    };
  });
}

function keptOf(rule: Stored): RuleDraft['kept'] {
  return {
    ...('if' in rule ? { conditions: rule['if'] } : {}),
    ...('then' in rule ? { actions: rule['then'] } : {}),
  };
}

/** Returns the rule with changes. */
export function edited(rule: RuleDraft, changes: Partial<RuleDraft>): RuleDraft {
  const kept = { ...rule.kept };
  if (changes.conditions || changes.match) delete kept.conditions;
  if (changes.actions) delete kept.actions;
  return { ...rule, ...changes, kept };
}

/** Whether the form can show the conditions of a rule: `all` or `any`, not both. */
export function hasPlainConditions({ kept }: RuleDraft): boolean {
  const { all, any } = objectOf(kept.conditions);
  return listOf(all).length === 0 || listOf(any).length === 0;
}

function actionsOf(action: Stored): ActionDraft[] {
  const kind = textOf(action['action']);
  if (kind === 'add_labels') return [{ kind, values: textsOf(action['labels']) }];
  if (kind === 'attributes')
    return Object.entries(objectOf(action['attributes'])).map(([name, value]) => ({
      kind,
      values: [name, typeof value === 'string' ? value : JSON.stringify(value)],
    }));
  const fields = parameters.filter(({ names }) => names.action === kind && action[names.field] !== undefined);
  if (fields.length > 0)
    return fields.map((field) => ({ kind: field.kind, values: [textOf(action[field.names.field])] }));
  return [{ kind: kind as ActionKind, values: [] }];
}

/** Where the one parameter of an action is stored. */
const parameters: readonly { kind: ActionKind; names: { action: string; field: string }; isNumber: boolean }[] = [
  { kind: 'assign_agent', names: { action: 'assign', field: 'agent_id' }, isNumber: true },
  { kind: 'assign_team', names: { action: 'assign', field: 'team_id' }, isNumber: true },
  { kind: 'priority', names: { action: 'priority', field: 'priority' }, isNumber: false },
  { kind: 'note', names: { action: 'note', field: 'content' }, isNumber: false },
  { kind: 'snooze', names: { action: 'snooze', field: 'seconds' }, isNumber: true },
  { kind: 'set_bot', names: { action: 'set_bot', field: 'agent_bot_id' }, isNumber: true },
];

/** Returns the settings of the plugin `rules`. */
export function configOf(rules: readonly RuleDraft[]): { rules: Stored[] } {
  return { rules: rules.map(ruleOf) };
}

function ruleOf({ kept, name, active, events, match, conditions, actions }: RuleDraft): Stored {
  const stored = conditions.map(({ attribute, operator, values }) => ({
    attribute,
    operator,
    ...(hasValues(operator) ? { values } : {}),
  }));
  return Object.fromEntries([
    ['name', name],
    ['active', active],
    ['on', events],
    ...('conditions' in kept ? [['if', kept.conditions]] : stored.length > 0 ? [['if', { [match]: stored }]] : []),
    ['then', 'actions' in kept ? kept.actions : actions.map(storedAction)],
  ] as [string, unknown][]);
}

function storedAction({ kind, values }: ActionDraft): Stored {
  const [first = '', second = ''] = values;
  if (kind === 'add_labels') return { action: kind, labels: values };
  if (kind === 'attributes') return { action: kind, attributes: { [first]: valueOf(second) } };
  const parameter = parameters.find((one) => one.kind === kind);
  if (!parameter) return { action: kind };
  const { names, isNumber } = parameter;
  const value = isNumber && /^\d+$/.test(first) ? Number(first) : first;
  return { action: names.action, ...(first === '' ? {} : { [names.field]: value }) };
}

// Numbers, `true` and `false` are stored as what they are; a text that a number would shorten, such as 0123, stays a text.
function valueOf(text: string): unknown {
  if (text === 'true' || text === 'false') return text === 'true';
  return text !== '' && String(Number(text)) === text && Number.isFinite(Number(text)) ? Number(text) : text;
}

function listOf(value: unknown): Stored[] {
  return Array.isArray(value) ? value.map(objectOf) : [];
}

function objectOf(value: unknown): Stored {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Stored) : {};
}

function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.map(textOf) : [];
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
}

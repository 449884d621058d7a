import { invalid } from '../../errors.ts';
import { fieldName } from '../../lib/text/field-name.ts';

/** Which of the subscribed events a webhook gets; the database decides, by `passes_filter`. */
export type EventFilter = { all: EventCondition[] } | { any: EventCondition[] };

type Attribute = keyof typeof allowedValues;

interface EventCondition {
  attribute: Attribute;
  operator: 'equal_to' | 'not_equal_to' | 'is_present' | 'is_not_present' | 'contains';
  values?: (string | number | boolean)[];
}

const wholeNumber = /^\d{1,15}$/;
/** The values that an attribute may have: some words, `id` for whole numbers, and any for null. */
const allowedValues = {
  inbox_id: 'id',
  team_id: 'id',
  assignee_id: 'id',
  labels: null,
  message_type: ['incoming', 'outgoing'],
  private: ['true', 'false'],
  sender_type: ['Contact', 'User', 'AgentBot', 'Automation'],
  status: ['open', 'resolved', 'pending', 'snoozed'],
  priority: ['urgent', 'high', 'medium', 'low'],
} as const;

/**
 * Returns the filter as it is to be stored. Errors: 422 for a condition without the values that its operator needs, for values
 * that the attribute never has, and for `contains` with another attribute than labels.
 */
export function checkedFilter(filter: { all?: EventCondition[]; any?: EventCondition[] } | null): EventFilter | null {
  if (filter === null) return null;
  const { all, any } = filter;
  const conditions = all ?? any ?? [];
  for (const [index, condition] of conditions.entries())
    checkCondition(condition, `/filter/${all ? 'all' : 'any'}/${index}`);
  return all ? { all } : { any: conditions };
}

function checkCondition({ attribute, operator, values = [] }: EventCondition, pointer: string): void {
  if (operator === 'is_present' || operator === 'is_not_present') return;
  if (operator === 'contains' && attribute !== 'labels')
    throw invalid(`${pointer}/operator`, 'enum', '`contains` is for `labels` alone');
  if (values.length === 0) {
    const name = fieldName(`${pointer}/values`);
    throw invalid(`${pointer}/values`, 'minItems', `${name} must have at least 1 item`);
  }
  for (const [index, value] of values.entries()) checkValue(attribute, String(value), `${pointer}/values/${index}`);
}

function checkValue(attribute: Attribute, value: string, pointer: string): void {
  const allowed = allowedValues[attribute];
  if (allowed === null) return;
  if (allowed === 'id') {
    if (!wholeNumber.test(value)) throw invalid(pointer, 'type', `${fieldName(pointer)} must be a whole number`);
  } else if (!(allowed as readonly string[]).includes(value)) {
    throw invalid(pointer, 'enum', `${fieldName(pointer)} must be one of ${allowed.join(', ')}`);
  }
}

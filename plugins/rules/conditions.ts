/** A condition on an attribute. */
export interface Condition {
  attribute: string;
  operator: 'equal_to' | 'not_equal_to' | 'contains' | 'does_not_contain' | 'is_present' | 'is_not_present';
  values?: readonly (string | number | boolean)[];
}

/** Conditions that must all hold, or one of which must. */
export interface Conditions {
  all?: readonly Condition[];
  any?: readonly Condition[];
}

/** Values of attributes by their names; a list has several values. */
export type Facts = Readonly<Record<string, unknown>>;

/** Whether the facts meet the conditions; where there are none they do. */
export function meets({ all, any }: Conditions, facts: Facts): boolean {
  if (all && !all.every((condition) => holds(condition, facts))) return false;
  return !any || any.length === 0 || any.some((condition) => holds(condition, facts));
}

function holds({ attribute, operator, values = [] }: Condition, facts: Facts): boolean {
  const found = textsOf(facts[attribute]);
  const wanted = values.map((value) => String(value).toLowerCase());
  if (operator === 'equal_to') return hasEqual(found, wanted);
  if (operator === 'not_equal_to') return !hasEqual(found, wanted);
  if (operator === 'contains') return hasPart(found, wanted);
  if (operator === 'does_not_contain') return !hasPart(found, wanted);
  return found.length > 0 === (operator === 'is_present');
}

function hasEqual(found: readonly string[], wanted: readonly string[]): boolean {
  for (const text of found) if (wanted.includes(text)) return true;
  return false;
}

function hasPart(found: readonly string[], wanted: readonly string[]): boolean {
  for (const text of found) {
    for (const part of wanted) if (text.includes(part)) return true;
  }
  return false;
}

// An absent value equals nothing.
function textsOf(value: unknown): string[] {
  const all: unknown[] = Array.isArray(value) ? value : [value];
  return all.map(textOf).filter((text) => text !== '');
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value.toLowerCase();
  return value === null || value === undefined ? '' : JSON.stringify(value).toLowerCase();
}

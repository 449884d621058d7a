import { invalid } from '../../../errors.ts';
import { idOf, oneOf, textOf, type Foreign } from '../values.ts';
import type { NamedCopies } from './rule.ts';
import { titlesOf } from './settings.ts';

/** A condition of a rule for the plugin `rules`. */
export interface Condition {
  attribute: string;
  operator: string;
  values?: (string | number | boolean)[];
}

type Values = readonly (string | number | boolean)[];

/** Attributes of rules there: the name that each has here, and a function that reads its values; null if one has no equivalent. */
interface Attribute {
  name: string;
  values: (given: Values, copies: NamedCopies) => (string | number | boolean)[] | null;
}

const operators = ['equal_to', 'not_equal_to', 'contains', 'does_not_contain', 'is_present', 'is_not_present'];
const statuses = ['open', 'resolved', 'pending', 'snoozed'];
const messageTypes = ['incoming', 'outgoing'];
const priorities = ['urgent', 'high', 'medium', 'low'];
const longestValue = 255;

const asTheyAre = (name: string): Attribute => ({ name, values: (given) => [...given] });

const known: Readonly<Record<string, Attribute>> = {
  content: asTheyAre('content'),
  email: asTheyAre('contact.email'),
  phone_number: asTheyAre('contact.phone_number'),
  identifier: asTheyAre('contact.identifier'),
  // Rules hear no private notes.
  private_note: { name: 'private', values: (given) => (given.every(isFalse) ? [false] : null) },
  message_type: { name: 'message_type', values: (given) => each(given, typeOf) },
  status: { name: 'status', values: (given) => (given.includes('all') ? statuses : each(given, oneIn(statuses))) },
  priority: { name: 'priority', values: (given) => each(given, oneIn(priorities)) },
  inbox_id: { name: 'inbox_id', values: (given, { inboxes }) => each(given, (id) => inboxes.get(Number(id))) },
  assignee_id: { name: 'assignee_id', values: (given, { agents }) => each(given, (id) => agents.get(Number(id))) },
  team_id: { name: 'team_id', values: (given, { teams }) => each(given, (id) => teams.get(Number(id))) },
  labels: { name: 'labels', values: (given) => each(given, (title) => titlesOf([title])[0]) },
};

// A custom attribute by a name of these would be read as the conversation's or the message's own.
const own = new Set([...Object.values(known).map(({ name }) => name), 'id', 'display_id', 'contact_id', 'source_id']);
const ownOfContact = new Set(['id', 'name', 'email', 'phone_number', 'identifier', 'custom_attributes']);

/** Reads a condition. Throws ApiError with the reason for one that has no equivalent here. */
export function toCondition(given: Foreign, copies: NamedCopies): Condition {
  const key = textOf(given['attribute_key'], longestValue) ?? '';
  const operator = oneOf(given['filter_operator'], operators);
  const attribute = attributeOf(key, textOf(given['custom_attribute_type'], 64));
  if (!attribute || operator === null) {
    const shown = `${key || 'nothing'} ${textOf(given['filter_operator'], 64) ?? 'without an operator'}`;
    throw refused(`a condition has no equivalent here: ${shown}`);
  }
  if (operator === 'is_present' || operator === 'is_not_present') return { attribute: attribute.name, operator };
  const values = attribute.values(valuesIn(given['values']), copies);
  if (values === null || values.length === 0) throw refused(`a condition has no equivalent here: its value of ${key}`);
  return { attribute: attribute.name, operator, values };
}

function attributeOf(key: string, customType: string | null): Attribute | null {
  if (customType === 'conversation_attribute') return own.has(key) ? null : asTheyAre(key);
  if (customType === 'contact_attribute') return ownOfContact.has(key) ? null : asTheyAre(`contact.${key}`);
  return (Object.hasOwn(known, key) && known[key]) || null;
}

function valuesIn(value: unknown): Values {
  const given: unknown[] = Array.isArray(value) ? value : [value];
  return given.filter(isPlain);
}

function isPlain(value: unknown): value is string | number | boolean {
  return ['string', 'number', 'boolean'].includes(typeof value);
}

function each(
  given: Values,
  read: (value: Values[number]) => string | number | null | undefined,
): (string | number)[] | null {
  const found = given.flatMap((value) => read(value) ?? []);
  return found.length === given.length ? found : null;
}

function isFalse(value: Values[number]): boolean {
  return String(value) === 'false';
}

function oneIn(all: readonly string[]): (value: Values[number]) => string | null {
  return (value) => oneOf(value, all);
}

function typeOf(value: Values[number]): string | null {
  return (
    oneOf(value, messageTypes) ?? (value === 0 || idOf(value) === 1 ? (messageTypes[Number(value)] ?? null) : null)
  );
}

function refused(why: string): Error {
  return invalid('', 'foreign', why);
}

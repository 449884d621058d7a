import { invalid } from '../errors.ts';
import { fieldName } from '../lib/text/field-name.ts';
import { containing } from './like.ts';

type Operator = 'equal_to' | 'not_equal_to' | 'contains' | 'is_present';
type Value = string | number | boolean;

/** A condition of a filter: the value at `key` must match one of the values. */
export interface Condition {
  key: string;
  /** The key is that of an attribute, even if a field has the same name. */
  isAttribute: boolean;
  operator: Operator;
  values: readonly Value[];
  /** How the next condition is joined to this one; AND binds before OR. */
  joins: 'AND' | 'OR';
  /** JSON pointer to it in the request, for errors. */
  pointer: string;
}

/**
 * The value behind a key, by the way it is compared. `at` is an SQL expression, never anything that a caller sent: `text` in
 * any case (`within`: an expression in lower case that contains the text, where that one has an index), `exact` as it is
 * written (`spell`: how a value is written there), `number`, `flag`, `titles` (an array of texts), and `attribute`, the value
 * under the key in a JSON object.
 */
type Field =
  | { kind: 'text'; at: string; within?: string }
  | { kind: 'exact'; at: string; within?: string; spell?: (value: string) => string }
  | { kind: 'number' | 'flag' | 'titles' | 'attribute'; at: string };

/** Fields that conditions may use, by their keys, and the JSON object that holds all others. */
export interface Filterable {
  fields: Readonly<Record<string, Field>>;
  attributes: string;
}

/** Adds a value to a statement's parameters, and returns its placeholder. */
type Bind = (value: unknown) => string;

const wholeNumber = /^\d{1,15}$/;
const flags: Readonly<Record<string, boolean>> = { true: true, false: false };

/**
 * The conditions as SQL, or `true` where there are none; their values, and keys of attributes, are added to `parameters`.
 * Errors: 422 for a condition without the values that its operator wants, and for values that the field cannot have.
 */
export function conditionsSql(conditions: readonly Condition[], filterable: Filterable, parameters: unknown[]): string {
  const bind: Bind = (value) => `$${parameters.push(value)}`;
  const texts = conditions.map((condition) => {
    const { operator, values, pointer } = condition;
    if (operator !== 'is_present' && values.length === 0)
      throw invalid(`${pointer}/values`, 'minItems', `${fieldName(`${pointer}/values`)} must have at least 1 item`);
    return conditionSql(condition, fieldOf(condition, filterable), bind);
  });
  const joined = texts.flatMap((text, index) => [text, conditions[index]?.joins ?? 'AND']).slice(0, -1);
  return joined.length === 0 ? 'true' : `(${joined.join(' ')})`;
}

function fieldOf({ key, isAttribute }: Condition, { fields, attributes }: Filterable): Field {
  const field = !isAttribute && Object.hasOwn(fields, key) ? fields[key] : undefined;
  return field ?? { kind: 'attribute', at: attributes };
}

function conditionSql(condition: Condition, field: Field, bind: Bind): string {
  const { operator } = condition;
  if (operator === 'is_present') return presence(condition, field, bind);
  if (operator === 'contains') return containment(condition, field, bind);
  const equation = equationSql(condition, field, bind);
  // A missing value equals nothing.
  return operator === 'equal_to' ? equation : `NOT coalesce(${equation}, false)`;
}

function presence({ key }: Condition, { kind, at }: Field, bind: Bind): string {
  if (kind === 'titles') return `cardinality(${at}) > 0`;
  if (kind === 'attribute') return `coalesce(${at} ->> ${bind(key)}::text, '') <> ''`;
  return kind === 'number' || kind === 'flag' ? `${at} IS NOT NULL` : `coalesce(${at}, '') <> ''`;
}

function containment(condition: Condition, field: Field, bind: Bind): string {
  const { key, values, pointer } = condition;
  const { kind, at } = field;
  if (kind === 'number' || kind === 'flag' || kind === 'titles')
    throw invalid(
      `${pointer}/filter_operator`,
      'enum',
      `\`${key}\` is no text: it can be compared, but contains nothing`,
    );
  const text = kind === 'attribute' ? `${at} ->> ${bind(key)}::text` : at;
  const within = 'within' in field ? field.within : undefined;
  const likes = values.map((value) => {
    const pattern = `lower(${bind(containing(String(value)))})`;
    const like = `lower(${text}) LIKE ${pattern}`;
    return within ? `(${within} LIKE ${pattern} AND ${like})` : like;
  });
  return `(${likes.join(' OR ')})`;
}

function equationSql(condition: Condition, field: Field, bind: Bind): string {
  const { key, values } = condition;
  const { kind, at } = field;
  const texts = values.map(String);
  if (kind === 'text') return `lower(${at}) IN (${texts.map((text) => `lower(${bind(text)}::text)`).join(', ')})`;
  if (kind === 'exact') return `${at} = ANY (${bind(texts.map(field.spell ?? String))}::text[])`;
  if (kind === 'titles') return `${at} && ${bind(texts)}::text[]`;
  if (kind === 'number') return `${at} = ANY (${bind(texts.map((text) => readNumber(text, condition)))}::bigint[])`;
  if (kind === 'flag') return `${at} = ANY (${bind(texts.map((text) => readFlag(text, condition)))}::boolean[])`;
  // Containment has an index: one condition for each way in which the value may be stored.
  const objects = values
    .flatMap(spellingsOf)
    .map((value) => `${at} @> ${bind(JSON.stringify({ [key]: value }))}::jsonb`);
  return `(${objects.join(' OR ')})`;
}

// Filters often come with texts, even for attributes of other types.
function spellingsOf(value: Value): Value[] {
  if (typeof value !== 'string') return [value, String(value)];
  if (wholeNumber.test(value)) return [value, Number(value)];
  return [value, ...[flags[value] ?? []].flat()];
}

function readNumber(text: string, { key, pointer }: Condition): number {
  if (wholeNumber.test(text)) return Number(text);
  throw invalid(`${pointer}/values`, 'type', `\`${key}\` is compared with whole numbers alone`);
}

function readFlag(text: string, { key, pointer }: Condition): boolean {
  const flag = Object.hasOwn(flags, text) ? flags[text] : undefined;
  if (flag !== undefined) return flag;
  throw invalid(`${pointer}/values`, 'type', `\`${key}\` is compared with true and false alone`);
}

import { isObject } from './json.ts';
import type { Json } from './operation.ts';

/** The conditions of a filter. */
export function readConditions(body: Json): Json {
  const { payload } = body;
  if (!Array.isArray(payload)) return body;
  return { ...body, payload: payload.map((one: unknown) => (isObject(one) ? readCondition(one) : one)) };
}

// Ours want a list of values; a phone number is compared with its plus, which theirs may lack.
function readCondition(condition: Json): Json {
  const { values: given, attribute_key: key, filter_operator: operator } = condition;
  if (given === undefined) return condition;
  const values = Array.isArray(given) ? (given as unknown[]) : [given];
  const isNumber = key === 'phone_number' && (operator === 'equal_to' || operator === 'not_equal_to');
  return { ...condition, values: isNumber ? values.map(withPlus) : values };
}

function withPlus(value: unknown): unknown {
  const isText = typeof value === 'string' || typeof value === 'number';
  return isText && /^\d+$/.test(String(value)) ? `+${value}` : value;
}

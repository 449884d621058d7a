import type { Condition } from '../postgres/conditions.ts';
import type { Shape } from '../schemas.ts';

/** The conditions of a filter's body. */
export function readConditions(given: Shape<'requests/contact.filter'>['payload']): Condition[] {
  return given.map((one, index) => ({
    key: one.attribute_key,
    isAttribute: Boolean(one.custom_attribute_type),
    operator: one.filter_operator,
    values: one.values ?? [],
    joins: one.query_operator?.toUpperCase() === 'OR' ? 'OR' : 'AND',
    pointer: `/payload/${index}`,
  }));
}

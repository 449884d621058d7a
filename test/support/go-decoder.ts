/**
 * Decodes JSON as Go does into a struct, for clients that are written in it: a missing or null value is that of an untouched
 * field, unknown names are passed over, and any other type than the field's is an error.
 */
export type GoType = 'int' | 'string' | 'bool' | 'any' | { list: GoType } | { map: GoType } | { struct: GoStruct };

/** The fields of a struct, by their names in JSON. */
export type GoStruct = Readonly<Record<string, GoType>>;

/** Says where a value cannot be decoded; nothing where it can. */
export function findUndecodable(value: unknown, type: GoType, path = '$'): string[] {
  if (value === undefined || value === null || type === 'any') return [];
  if (typeof type === 'string') return isOf(value, type) ? [] : [`${path} is no ${type}: ${JSON.stringify(value)}`];
  if ('list' in type) {
    if (!Array.isArray(value)) return [`${path} is no list: ${JSON.stringify(value)}`];
    return value.flatMap((one, index) => findUndecodable(one, type.list, `${path}[${index}]`));
  }
  if (typeof value !== 'object' || Array.isArray(value)) return [`${path} is no object: ${JSON.stringify(value)}`];
  const fields: [string, unknown][] = Object.entries(value);
  return fields.flatMap(([name, field]) => {
    const expected = 'map' in type ? type.map : type.struct[name];
    return expected === undefined ? [] : findUndecodable(field, expected, `${path}.${name}`);
  });
}

function isOf(value: unknown, type: 'int' | 'string' | 'bool'): boolean {
  if (type === 'int') return Number.isSafeInteger(value);
  return typeof value === (type === 'bool' ? 'boolean' : 'string');
}

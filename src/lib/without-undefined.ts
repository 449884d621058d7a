/** Returns the object without its undefined values. */
export function withoutUndefined<Values extends object>(
  values: Values,
): { [Key in keyof Values]?: Exclude<Values[Key], undefined> } {
  const present = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(present) as { [Key in keyof Values]?: Exclude<Values[Key], undefined> };
}

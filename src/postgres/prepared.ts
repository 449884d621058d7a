const names = new Map<string, string>();

/**
 * Marks a statement as prepared: each connection plans it once, because planning the joins of a hot statement takes
 * longer than running it. Only for statements whose best plan does not depend on their parameters.
 */
export function prepared(text: string): string {
  if (!names.has(text)) names.set(text, `hot_${names.size + 1}`);
  return text;
}

const ending = new Set(['BEGIN', 'COMMIT', 'ROLLBACK']);

/** The name under which connections keep a statement prepared; '' for those that are not. */
export function nameOf(text: string): string {
  return names.get(text) ?? (ending.has(text) ? text : '');
}

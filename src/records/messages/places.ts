/**
 * A condition on messages of the conversation `$2` in the account `$1`: that they are before or after the message with the id in
 * a parameter, if it is given. A stretch of the index begins at the place of that message; one that the conversation does not
 * have counts by its id.
 */
export function beside(side: 'before' | 'after', id: string): string {
  const [sign, furthest] = side === 'before' ? ['<', 'infinity'] : ['>', '-infinity'];
  const named = `FROM messages WHERE account_id = $1 AND conversation_id = $2 AND id = ${id}`;
  return `AND (${id}::bigint IS NULL OR
      (created_at, id) ${sign} (SELECT coalesce(max(created_at), '${furthest}'), ${id}::bigint ${named}))
    AND (${id}::bigint IS NULL OR id ${sign} ${id} OR EXISTS (SELECT ${named}))`;
}

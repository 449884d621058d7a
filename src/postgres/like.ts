/** The pattern with which LIKE and ILIKE find texts that contain this one, trimmed; its wildcards are escaped. */
export function containing(text: string): string {
  return `%${text.trim().replace(/[\\%_]/g, '\\$&')}%`;
}

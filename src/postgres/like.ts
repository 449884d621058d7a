/** A pattern for LIKE and ILIKE: texts that contain this one, as it stands, blanks around it apart. */
export function containing(text: string): string {
  return `%${text.trim().replace(/[\\%_]/g, '\\$&')}%`;
}

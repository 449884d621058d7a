import type { ForeignNote } from '../../../domain/imports/notes.ts';
import type { Ids } from '../copying.ts';
import { idOf, isLonger, pastOf, recordOf, textOf, type Foreign } from '../values.ts';

const mostCharacters = 150_000;

/** Returns a note that can be stored, and sentences about values that were changed for it; null for a note without text. */
export function toNote(
  { content, user, created_at: createdAt }: Foreign,
  authors: Ids,
  now: Date,
): { note: ForeignNote; problems: string[] } | null {
  const text = textOf(content, mostCharacters);
  if (text === null) return null;
  const note = {
    content: text,
    userId: authors.get(idOf(recordOf(user)['id']) ?? 0) ?? null,
    createdAt: pastOf(createdAt, now, now),
  };
  return {
    note,
    problems: isLonger(content, mostCharacters) ? [`a note was cut to ${mostCharacters} characters`] : [],
  };
}

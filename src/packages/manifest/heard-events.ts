import type { Manifest } from './manifest.ts';

/** The events that bots of a plugin receive, and whether these include outgoing messages and private notes. */
export function hearingOf({ events, permissions }: Manifest): {
  events: readonly string[];
  hearsOwn: boolean;
  hearsNotes: boolean;
} {
  return { events, hearsOwn: permissions.receive_own, hearsNotes: permissions.notes_read };
}

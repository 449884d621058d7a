import type { Manifest } from './manifest.ts';

/** What the bots of a plugin are told of: its events, and whether outgoing messages and private notes are among them. */
export function hearingOf({ events, permissions }: Manifest): {
  events: readonly string[];
  hearsOwn: boolean;
  hearsNotes: boolean;
} {
  return { events, hearsOwn: permissions.receive_own, hearsNotes: permissions.notes_read };
}

/**
 * The floors of src/, lowest first, each with its rooms: folders, or single files of a folder, or its other files, each a
 * room of its own (`domain/*.ts`). A file imports from lower floors and from its own room; rooms of one floor do not know
 * each other.
 */
const floors: readonly (readonly string[])[] = [
  ['lib'],
  ['errors.ts', 'metrics'],
  ['fault-sentences.ts'],
  ['schemas.ts', 'archives', 'outbound', 'postgres', 'jobs'],
  ['config.ts', 'sandbox', 'models', 'objects', 'deliveries/core'],
  ['records', 'packages', 'deliveries/queue'],
  ['events'],
  ['domain/upkeep', 'domain/plugins', 'domain/changes.ts', 'domain/signing-secrets.ts'],
  ['domain/small-rows.ts', 'domain/attachments'],
  ['domain/conversations'],
  ['domain/articles', 'domain/bots', 'domain/contacts', 'domain/labels', 'domain/people', 'domain/*.ts'],
  ['domain/inboxes', 'domain/widget', 'domain/endpoints'],
  ['domain/platform', 'domain/imports'],
  ['runs', 'live'],
  ['deliveries', 'http', 'testing'],
  ['openapi', 'site', 'compat'],
  ['api'],
  ['demo'],
  ['app'],
  ['main.ts'],
  ['cli'],
];

const rooms = floors.flatMap((parts, floor) => parts.map((part) => ({ part: `src/${part}`, floor })));

/** The room of a file in src/, and its floor; null for a file that has none. */
export function roomOf(path: string): { part: string; floor: number } | null {
  const named = rooms.find(({ part }) => path === part || path.startsWith(`${part}/`));
  if (named) return named;
  const rest = rooms.find(({ part }) => part === path.replace(/[^/]+\.ts$/, '*.ts'));
  return rest ? { part: path, floor: rest.floor } : null;
}

/** The floors as ARCHITECTURE.md shows them, highest first. */
export function drawFloors(): string {
  const lines = floors.map((parts, floor) => `${String(floor + 1).padStart(2)} │ ${parts.join(' · ')}`);
  return ['```', ...lines.toReversed(), '```'].join('\n');
}

/** A table of floors, lowest first, each with its rooms: folders or files of one folder; `*.ts` stands for its other files. */
export type Floors = readonly (readonly string[])[];

/**
 * The floors of src/. A file imports from lower floors and from its own room; rooms of one floor do not know each other. A
 * folder is one room: what lies on two floors is two folders.
 */
export const houseFloors: Floors = [
  ['lib', 'errors.ts', 'metrics', 'archives'],
  ['fault-sentences.ts', 'outbound', 'postgres', 'jobs'],
  ['config.ts', 'schemas.ts', 'models', 'objects', 'deliveries', 'backups'],
  ['records', 'sandbox'],
  ['events', 'packages'],
  ['domain', 'site'],
  ['runs', 'live'],
  ['engine', 'http', 'testing'],
  ['openapi', 'compat'],
  ['api'],
  ['demo'],
  ['app'],
  ['cli'],
];

/** Rooms with an order of their own within: their subfolders obey the same rule. */
const innerFloors: Readonly<Record<string, Floors>> = {
  deliveries: [['core'], ['lanes'], ['copies'], ['log']],
  domain: [
    ['upkeep', 'plugins', 'changes.ts', 'signing-secrets.ts'],
    ['small-rows.ts', 'attachments', 'audit'],
    ['conversations'],
    ['articles', 'bots', 'contacts', 'hooks', 'labels', 'people', '*.ts'],
    ['inboxes', 'widget', 'endpoints', 'channels'],
    ['platform', 'imports'],
  ],
};

/** A room, and its floor as a number to be compared: floors within a room are parts of one floor. */
interface Place {
  part: string;
  floor: number;
}

const rooms: readonly Place[] = houseFloors.flatMap((parts, floor) =>
  parts.flatMap((part) => innerRooms(part, floor) ?? [{ part: `src/${part}`, floor }]),
);

function innerRooms(room: string, floor: number): Place[] | null {
  const inner = innerFloors[room];
  if (!inner) return null;
  return inner.flatMap((parts, step) =>
    parts.map((part) => ({ part: `src/${room}/${part}`, floor: floor + step / inner.length })),
  );
}

/** The room of a file in src/, and its floor; null for a file that has none. */
export function roomOf(path: string): Place | null {
  const named = rooms.find(({ part }) => path === part || path.startsWith(`${part}/`));
  if (named) return named;
  const rest = rooms.find(({ part }) => part === path.replace(/[^/]+\.ts$/, '*.ts'));
  return rest ? { part: path, floor: rest.floor } : null;
}

/** Folders that lie on two floors, or have a floor for a part of them. */
export function findSplitFolders(floors: Floors): string[] {
  const folders = floors.flatMap((parts) => [...new Set(parts.map((part) => part.split('/')[0] ?? ''))]);
  const parts = floors.flat().filter((part) => part.includes('/'));
  const twice = folders.filter((folder, index) => folders.indexOf(folder) !== index);
  return [...parts, ...twice];
}

/** The floors as ARCHITECTURE.md shows them, highest first. */
export function drawFloors(): string {
  const draw = (floors: Floors, numbered: boolean): string[] =>
    floors
      .map((parts, floor) => `${(numbered ? String(floor + 1) : '').padStart(2)} │ ${parts.join(' · ')}`)
      .toReversed();
  const inner = Object.entries(innerFloors).flatMap(([room, floors]) => [
    '',
    `within ${room}/`,
    ...draw(floors, false),
  ]);
  return ['```', ...draw(houseFloors, true), ...inner, '```'].join('\n');
}

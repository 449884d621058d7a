import type { Bundle } from '../../sandbox/run.ts';
import type { Shape } from '../../schemas.ts';
import type { Manifest, PluginManifest } from './manifest.ts';

type ManifestFile = Shape<'runtime/plugin'>;

/** The fields of a plugin.json that say what one part is; the others are about the package. */
const fieldsOfParts = ['kind', 'main', 'events', 'hooks', 'identity', 'permissions', 'config', 'limits'] as const;

/** A plugin.json of one kind, or one part of a plugin.json with several. */
export type PartFile = NonNullable<ManifestFile['parts']>[number];

/** The parts of a valid plugin.json; a package without `parts` is a single one. */
export function partFilesOf(file: ManifestFile): readonly PartFile[] {
  // The schema requires `main` and `events` where there are no parts.
  const { parts, kind = 'bot', main = '', events = [], ...rest } = file;
  return parts ?? [{ kind, main, events, ...rest }];
}

/** A sentence for each field that a package with parts has beside them, and for each kind that it has twice. */
export function findPartsProblems(file: ManifestFile): string[] {
  const { parts } = file;
  if (!parts) return [];
  const kinds = parts.map(({ kind }) => kind);
  const twice = kinds.filter((kind, at) => kinds.indexOf(kind) < at);
  return [
    ...fieldsOfParts
      .filter((name) => file[name] !== undefined)
      .map((name) => `\`${name}\` stands beside \`parts\`: move it into the part that it is about`),
    ...[...new Set(twice)].map((kind) => `\`parts\` has the kind ${kind} twice: each kind may be there once`),
  ];
}

/** The part of a package that serves a kind; null when it has none. */
export function partOf({ parts }: PluginManifest, kind: Manifest['kind']): Manifest | null {
  return parts.find((part) => part.kind === kind) ?? null;
}

/** The code of a package, as it runs for one of its parts. */
export function bundleOf(bundle: Bundle, { kind, isPart }: Manifest): Bundle {
  return isPart ? { ...bundle, part: kind } : bundle;
}

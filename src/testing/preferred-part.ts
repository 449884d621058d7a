import type { Manifest } from '../packages/manifest/manifest.ts';
import { bundleOf, partOf } from '../packages/manifest/parts.ts';
import type { ReadPackage } from '../packages/read/read.ts';
import type { Bundle } from '../sandbox/run.ts';

/** Returns the part of a package that serves the kind, else its first one. */
export function preferred(
  { manifest, bundle }: ReadPackage,
  kind: Manifest['kind'],
): { manifest: Manifest; bundle: Bundle } {
  const part = partOf(manifest, kind) ?? manifest.parts[0];
  return { manifest: part, bundle: bundleOf(bundle, part) };
}

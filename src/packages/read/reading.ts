import { ArchiveFiles } from '../archive/archive-files.ts';
import { bundle, type MainFiles } from './bundle.ts';
import { FileProblem, packageBounds, type PackageSource } from '../files.ts';
import { maxSignatureChars, problemBounds } from './reader-message.ts';
import type { ReaderMessage } from './reader-message.ts';
import { unpack, type ArchiveBounds } from '../archive/unpack.ts';

type ReadMessage = Extract<ReaderMessage, { type: 'read' }>;

/** Reads and bundles the files of a package; the bundler must be loaded. */
export async function readFiles(files: PackageSource): Promise<ReadMessage> {
  let manifest: string;
  try {
    manifest = files.read('plugin.json', packageBounds.manifestBytes);
  } catch (error) {
    if (!(error instanceof FileProblem)) throw error;
    return refuse(null, [`plugin.json: ${error.message}`]);
  }
  const mains = mainsOf(manifest);
  if (mains === null) return refuse(manifest, []);
  const bundling = await bundle(files, mains);
  if ('problems' in bundling) return refuse(manifest, bundling.problems);
  return { type: 'read', manifest, code: bundling.code, packages: bundling.packages, problems: [] };
}

/** Unpacks an archive and reads its files; `say` gets what is known before any code is looked at. */
export async function readArchiveBytes(
  bytes: Buffer,
  bounds: ArchiveBounds,
  say: (message: Extract<ReaderMessage, { type: 'unpacked' }>) => void,
): Promise<ReadMessage> {
  const unpacked = unpack(bytes, bounds);
  if ('problems' in unpacked) return refuse(null, unpacked.problems);
  const files = new ArchiveFiles(unpacked.files);
  say({ type: 'unpacked', filesHash: files.hash(), signature: files.signature(maxSignatureChars) });
  return readFiles(files);
}

/** The result for a package that cannot be bundled, its problems cut to their bounds. */
export function refuse(manifest: string | null, problems: readonly string[]): ReadMessage {
  const first = problems
    .slice(0, problemBounds.problems)
    .map((problem) => problem.slice(0, problemBounds.problemChars));
  return { type: 'read', manifest, code: null, packages: [], problems: first };
}

/** The main file that a plugin.json names, or those of its parts; null when it is invalid, which the parent reports. */
function mainsOf(manifest: string): MainFiles | null {
  try {
    const { main, parts } = JSON.parse(manifest) as { main?: unknown; parts?: unknown };
    if (!Array.isArray(parts)) return typeof main === 'string' ? main : null;
    const files = parts as Partial<Record<'kind' | 'main', unknown>>[];
    return new Map(files.map((part) => [nameIn(part.kind), nameIn(part.main)]));
  } catch {
    return null;
  }
}

function nameIn(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError('Not a text');
  return value;
}

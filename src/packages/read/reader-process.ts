// The program of the process that reads and bundles one package: writes the result to stdout, then waits to be killed.
// Arguments: the package's folder; or `--archive`, the size of the archive that is written to stdin, and its bounds as JSON.
import { ArchiveFiles } from '../archive/archive-files.ts';
import { bundle, loadBundler } from './bundle.ts';
import { FileProblem, PackageFiles, packageBounds, type PackageSource } from '../files.ts';
import { maxSignatureChars, problemBounds } from './reader-message.ts';
import type { ReaderMessage } from './reader-message.ts';
import { unpack, type ArchiveBounds } from '../archive/unpack.ts';

type ReadMessage = Extract<ReaderMessage, { type: 'read' }>;

function say(message: ReaderMessage): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

function refuse(manifest: string | null, problems: readonly string[]): ReadMessage {
  const told = problems.slice(0, problemBounds.problems).map((problem) => problem.slice(0, problemBounds.problemChars));
  return { type: 'read', manifest, code: null, problems: told };
}

/** The main file that a plugin.json names; null when plugin.json is invalid, which the parent reports. */
function mainOf(manifest: string): string | null {
  try {
    const { main } = JSON.parse(manifest) as { main?: unknown };
    return typeof main === 'string' ? main : null;
  } catch {
    return null;
  }
}

async function read(files: PackageSource): Promise<ReadMessage> {
  let manifest: string;
  try {
    manifest = files.read('plugin.json', packageBounds.manifestBytes);
  } catch (error) {
    if (!(error instanceof FileProblem)) throw error;
    return refuse(null, [`plugin.json: ${error.message}`]);
  }
  const main = mainOf(manifest);
  if (main === null) return refuse(manifest, []);
  const bundling = await bundle(files, main);
  if ('problems' in bundling) return refuse(manifest, bundling.problems);
  return { type: 'read', manifest, code: bundling.code, problems: [] };
}

// The end of stdin means that the parent has ended or crashed.
function die(): void {
  process.kill(process.pid, 'SIGKILL');
}

function readArchive(bytes: Buffer, bounds: ArchiveBounds): Promise<ReadMessage> | ReadMessage {
  const unpacked = unpack(bytes, bounds);
  if ('problems' in unpacked) return refuse(null, unpacked.problems);
  const files = new ArchiveFiles(unpacked.files);
  say({ type: 'unpacked', filesHash: files.hash(), signature: files.signature(maxSignatureChars) });
  return read(files);
}

/** The archive of this size on stdin. */
function receive(size: number): Promise<Buffer> {
  const { promise, resolve } = Promise.withResolvers<Buffer>();
  const chunks: Buffer[] = [];
  let received = 0;
  process.stdin.on('data', (chunk: Buffer) => {
    chunks.push(chunk);
    received += chunk.length;
    if (received >= size) resolve(Buffer.concat(chunks, size));
  });
  return promise;
}

process.stdin.on('end', die).on('error', die);
process.stdout.on('error', die);
await loadBundler(() => say(refuse(null, ['Bundling the code needs more memory than there is for it'])));
say({ type: 'ready' });
const [, , directory = '', size = '', bounds = ''] = process.argv;
if (directory === '--archive') say(await readArchive(await receive(Number(size)), JSON.parse(bounds) as ArchiveBounds));
else {
  process.stdin.resume();
  say(await read(new PackageFiles(directory)));
}

// The program of the process that reads and bundles one package: writes the result to stdout, then waits to be killed.
// Arguments: the package's folder, and folders `node_modules` above it; or `--archive`, the size of the archive that is written to stdin, and its bounds as JSON.
import { loadBundler } from './bundle.ts';
import { PackageFiles } from '../files.ts';
import type { ReaderMessage } from './reader-message.ts';
import { readArchiveBytes, readFiles, refuse } from './reading.ts';
import type { ArchiveBounds } from '../archive/unpack.ts';

function say(message: ReaderMessage): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

// The end of stdin means that the parent has ended or crashed.
function die(): void {
  process.kill(process.pid, 'SIGKILL');
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
const [, , directory = '', ...rest] = process.argv;
if (directory === '--archive') {
  const [size, bounds = ''] = rest;
  const archive = await receive(Number(size));
  say(await readArchiveBytes(archive, JSON.parse(bounds) as ArchiveBounds, say));
} else {
  process.stdin.resume();
  say(await readFiles(new PackageFiles(directory, rest)));
}

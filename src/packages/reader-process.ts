// The program of the process that reads and bundles one package: writes the result to stdout, then waits to be killed.
import { bundle, loadBundler } from './bundle.ts';
import { FileProblem, PackageFiles, packageBounds } from './files.ts';
import { problemBounds } from './reader-message.ts';
import type { ReaderMessage } from './reader-message.ts';

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

async function read(directory: string): Promise<ReadMessage> {
  const files = new PackageFiles(directory);
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

process.stdin.on('end', die).on('error', die).resume();
process.stdout.on('error', die);
await loadBundler(() => say(refuse(null, ['Bundling the code needs more memory than there is for it'])));
say({ type: 'ready' });
say(await read(process.argv[2] ?? ''));

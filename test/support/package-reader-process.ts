// A process that reads packages for all services of a test process (see package-reader.ts).
import { loadBundler } from '../../src/packages/read/bundle.ts';
import { PackageFiles } from '../../src/packages/files.ts';
import type { Answer } from '../../src/packages/read/read-in-process.ts';
import { readArchiveBytes, readFiles } from '../../src/packages/read/reading.ts';
import type { ArchiveBounds } from '../../src/packages/archive/unpack.ts';
import type { ReadReply, ReadRequest } from './package-reader.ts';

process.once('disconnect', () => process.exit());
const loaded = loadBundler(() => process.exit(1));

async function read(request: ReadRequest): Promise<Answer> {
  await loaded;
  let seal: Answer['seal'] = null;
  const { type: _, ...reading } =
    'directory' in request
      ? await readFiles(new PackageFiles(request.directory))
      : await readArchiveBytes(
          Buffer.from(request.archive, 'base64'),
          request.limits as ArchiveBounds,
          ({ filesHash, signature }) => (seal = { filesHash, signature }),
        );
  return { reading, seal };
}

process.on('message', (request: ReadRequest) => {
  void read(request).then(
    (answer) => process.send?.({ id: request.id, answer } satisfies ReadReply),
    () => process.exit(1),
  );
});

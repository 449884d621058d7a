import { gunzipSync, gzipSync } from 'node:zlib';
import { headerOf, paddingOf } from '../../archives/tar-header.ts';

/** The archive with further files in its top folder, by their paths; it must have none of these names. */
export function addFiles(archive: Buffer, files: ReadonlyMap<string, Buffer>): Buffer {
  const added = [...files].flatMap(([path, content]) => [
    headerOf(`package/${path}`, content.length),
    content,
    paddingOf(content.length),
  ]);
  return gzipSync(Buffer.concat([...added, gunzipSync(archive)]));
}

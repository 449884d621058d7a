import { findSendable, type AttachmentStore } from '../domain/attachments/store.ts';
import type { Sql } from '../postgres/sql.ts';
import type { ReadFormFile } from './doors/form-body.ts';
import { Semaphore } from './semaphore.ts';

/** Files that are read at the same time, each of which may be as large as a file of a message. */
const filesAtOnce = 4;

/** Reads files that plugins send in forms: of public messages of their conversation. */
export function formFiles(store: Pick<AttachmentStore, 'read'>, sql: Sql): ReadFormFile {
  const places = new Semaphore(filesAtOnce);
  return (file) =>
    places.use(async () => {
      const found = await findSendable(sql, file);
      if (!found) return null;
      const chunks: Buffer[] = [];
      for await (const chunk of await store.read(found, { from: 0, to: found.size - 1 }, (work) => work(sql)))
        chunks.push(chunk as Buffer);
      return { name: found.name, type: found.type, bytes: Buffer.concat(chunks) };
    });
}

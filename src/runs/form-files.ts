import { findSendable, type AttachmentStore } from '../domain/attachments/store.ts';
import type { Sql } from '../postgres/sql.ts';
import { ByteRoom, type RoomBounds } from './byte-room.ts';
import { maxFormFileBytes, type FormFiles } from './doors/form-body.ts';
import { Semaphore } from './semaphore.ts';

/** Files that are read at the same time, each of which takes a connection. */
const filesAtOnce = 4;
/** Bytes of the files of forms that are under way. An account has room for one form of the largest size at least. */
const bounds: RoomBounds = { total: 4 * maxFormFileBytes, perAccount: maxFormFileBytes };

/** Finds files that plugins send in forms: of public messages of their conversation. */
export function formFiles(store: Pick<AttachmentStore, 'read'>, sql: Sql): FormFiles {
  const places = new Semaphore(filesAtOnce);
  return {
    room: new ByteRoom(bounds),
    find: async (file) => {
      const found = await findSendable(sql, file);
      if (!found) return null;
      const { name, type, size } = found;
      const read = () =>
        places.use(async () => {
          const chunks: Buffer[] = [];
          for await (const chunk of await store.read(found, { from: 0, to: size - 1 }, (work) => work(sql)))
            chunks.push(chunk as Buffer);
          return Buffer.concat(chunks);
        });
      return { name, type, size, read };
    },
  };
}

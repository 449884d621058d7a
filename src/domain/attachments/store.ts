import { Readable } from 'node:stream';
import type { EntityManager } from '@mikro-orm/postgresql';
import { sql, type Executor } from '../../postgres/sql.ts';
import type { Attachment } from '../../records/attachment.ts';
import type { AttachmentBounds, CheckedFile } from './checked-files.ts';

/** Holds a connection for statements, as long as they take. */
export type WithConnection = <Found>(work: (em: EntityManager) => Promise<Found>) => Promise<Found>;

/** A file of an account. */
export interface FileOf {
  accountId: number;
  id: number;
}

/** A file that may be read, and where its bytes are. */
export type StoredFile = FileOf & Attachment;

/** Bytes in one row: a statement reads as many to answer any part of a file. */
export const chunkBytes = 512 * 1024;

/** Keeps the files of messages, in rows of a table of their own. */
export class AttachmentStore {
  readonly bounds: AttachmentBounds;

  constructor(bounds: AttachmentBounds) {
    this.bounds = bounds;
  }

  /**
   * Keeps files for a message that is sent afterwards (`holdFiles`), or refused (`discardFiles`): what neither happened to,
   * a sweep deletes. No transaction lasts as long as this does.
   */
  async keep(
    accountId: number,
    files: readonly CheckedFile[],
    withConnection: WithConnection,
  ): Promise<readonly Attachment[]> {
    const kept: Attachment[] = [];
    for (const { bytes, ...file } of files) {
      const id = await withConnection((em) => insertFile(em, accountId));
      await withConnection((em) => writeChunks(em, { accountId, id }, bytes));
      kept.push({ id, ...file });
    }
    return kept;
  }

  /** The bytes of a file from one place to another, both included. */
  read(file: StoredFile, { from, to }: { from: number; to: number }, withConnection: WithConnection): Readable {
    return Readable.from(readChunks(file, { from, to }, withConnection), { objectMode: false });
  }
}

async function insertFile(executor: Executor, accountId: number): Promise<number> {
  const rows = await sql<{ id: number }>(executor, 'INSERT INTO attachments (account_id) VALUES ($1) RETURNING id', [
    accountId,
  ]);
  return (rows[0] as { id: number }).id;
}

async function writeChunks(executor: Executor, { accountId, id }: FileOf, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    await sql(
      executor,
      'INSERT INTO attachment_chunks (account_id, attachment_id, position, bytes) VALUES ($1, $2, $3, $4)',
      [accountId, id, at / chunkBytes, bytes.subarray(at, at + chunkBytes)],
    );
  }
}

const readChunk = `
  SELECT bytes FROM attachment_chunks WHERE account_id = $1 AND attachment_id = $2 AND position = $3`;

// No connection is held while the reader, who may be slow, takes a chunk.
async function* readChunks(
  { accountId, id }: StoredFile,
  { from, to }: { from: number; to: number },
  withConnection: WithConnection,
): AsyncGenerator<Buffer> {
  const last = Math.floor(to / chunkBytes);
  for (let position = Math.floor(from / chunkBytes); position <= last; position += 1) {
    const rows = await withConnection((em) => sql<{ bytes: Buffer }>(em, readChunk, [accountId, id, position]));
    const bytes = rows[0]?.bytes;
    // The message was deleted meanwhile: an answer that is cut says so.
    if (!bytes) throw new Error(`File ${id} was deleted while it was read`);
    const start = position * chunkBytes;
    yield bytes.subarray(Math.max(0, from - start), to - start + 1);
  }
}

const findFileStatement = `
  SELECT (SELECT file FROM jsonb_array_elements(m.attachments) AS file WHERE (file->>'id')::bigint = a.id) AS file
  FROM attachments a JOIN messages m ON m.account_id = a.account_id AND m.id = a.message_id
  WHERE a.account_id = $1 AND a.id = $2`;

/** A file of a message; null where there is none, or its message was deleted. */
export async function findFile(executor: Executor, { accountId, id }: FileOf): Promise<StoredFile | null> {
  const [row] = await sql<{ file: Attachment | null }>(executor, findFileStatement, [accountId, id]);
  return row?.file ? { ...row.file, accountId } : null;
}

import { Readable } from 'node:stream';
import { ApiError, notFound } from '../../errors.ts';
import type { Random } from '../../lib/ports.ts';
import { partBytes, type ObjectStore } from '../../objects/object-store.ts';
import type { Sql } from '../../postgres/sql.ts';
import type { Attachment } from '../../records/messages/attachment.ts';
import { discardRows } from './rows.ts';
import type { AttachmentBounds, CheckedFile } from './checked-files.ts';

/** Holds a connection for statements, as long as they take. */
export type WithConnection = <Found>(work: (sql: Sql) => Promise<Found>) => Promise<Found>;

/** A file of an account. */
export interface FileOf {
  accountId: number;
  id: number;
}

/** A file that may be read, and where its bytes are. */
export type StoredFile = FileOf & Attachment & { objectKey: string | null };

/** Bytes in one row: a statement reads as many to answer any part of a file. */
export const chunkBytes = 512 * 1024;

/** Where files are kept besides the database. */
interface StoreOptions {
  /** Null where the database keeps all that is sent. */
  objects: ObjectStore | null;
  random: Random;
  /** Called with errors of the object store, whose details callers do not get. */
  failed: (error: unknown) => void;
}

/** Keeps the files of messages: in an object store where there is one, else in rows of a table of their own. */
export class AttachmentStore {
  readonly bounds: AttachmentBounds;
  readonly #options: StoreOptions;

  constructor(bounds: AttachmentBounds, options: StoreOptions) {
    this.bounds = bounds;
    this.#options = options;
  }

  /**
   * Keeps files for a message that is sent afterwards (`holdFiles`), or refused (`discardFiles`): what neither happened to,
   * a sweep deletes. No transaction lasts as long as this does. All of them are kept, or none.
   */
  async keep(
    accountId: number,
    files: readonly CheckedFile[],
    withConnection: WithConnection,
  ): Promise<readonly Attachment[]> {
    const { objects } = this.#options;
    const kept: Attachment[] = [];
    try {
      for (const { bytes, ...file } of files) {
        const key = objects && this.#newKey(accountId);
        const id = await withConnection((sql) => insertFile(sql, accountId, key));
        kept.push({ id, ...file });
        if (objects && key !== null) await this.#putObject(objects, { key, bytes }, withConnection);
        else await withConnection((sql) => writeChunks(sql, { accountId, id }, bytes));
      }
    } catch (error) {
      // Where the database fails as well, a sweep does it.
      await withConnection((sql) => discardRows(sql, accountId, kept)).catch(this.#options.failed);
      throw error;
    }
    return kept;
  }

  /** The bytes of a file from one place to another, both included. The first of them are read before it returns. Errors: 404, 503. */
  async read(file: StoredFile, range: { from: number; to: number }, withConnection: WithConnection): Promise<Readable> {
    const pieces =
      file.objectKey === null ? readChunks(file, range, withConnection) : this.#readParts(file.objectKey, range);
    const first = await pieces.next();
    return Readable.from(begunWith(first, pieces), { objectMode: false });
  }

  #newKey(accountId: number): string {
    return `attachments/${accountId}/${this.#options.random.bytes(keyBytes).toString('hex')}`;
  }

  // Its row is there already, so that no object is kept that nobody knows of.
  async #putObject(
    objects: ObjectStore,
    { key, bytes }: { key: string; bytes: Buffer },
    withConnection: WithConnection,
  ): Promise<void> {
    try {
      await objects.put(key, bytes);
    } catch (error) {
      await withConnection((sql) => discardLater(sql, key));
      throw this.#unavailable(error);
    }
  }

  async *#readParts(key: string, { from, to }: { from: number; to: number }): AsyncGenerator<Buffer> {
    for (let at = from; at <= to; at += partBytes) {
      const part = { from: at, to: Math.min(to, at + partBytes - 1) };
      const bytes = await this.#options.objects?.get(key, part).catch((error: unknown) => {
        throw this.#unavailable(error);
      });
      if (bytes === undefined) throw this.#unavailable(new Error('No object store is configured'));
      if (bytes === null) throw notFound('File');
      yield bytes;
    }
  }

  #unavailable(error: unknown): ApiError {
    this.#options.failed(error);
    return new ApiError(503, 'storage_unavailable', 'The store of files does not answer: try again in a moment', {
      headers: { 'retry-after': '5' },
    });
  }
}

const keyBytes = 24;

async function* begunWith(first: IteratorResult<Buffer>, rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  if (first.done !== true) yield first.value;
  yield* rest;
}

// A store that did not answer in time may still get the object, behind a deletion that comes at once.
async function discardLater(sql: Sql, key: string): Promise<void> {
  const statement = `INSERT INTO discarded_objects (object_key, discarded_at) VALUES ($1, now() + interval '1 hour')`;
  await sql(statement, [key]);
}

async function insertFile(sql: Sql, accountId: number, objectKey: string | null): Promise<number> {
  const rows = await sql<{ id: number }>(
    'INSERT INTO attachments (account_id, object_key) VALUES ($1, $2) RETURNING id',
    [accountId, objectKey],
  );
  return (rows[0] as { id: number }).id;
}

async function writeChunks(sql: Sql, { accountId, id }: FileOf, bytes: Buffer): Promise<void> {
  for (let at = 0; at < bytes.length; at += chunkBytes) {
    await sql('INSERT INTO attachment_chunks (account_id, attachment_id, position, bytes) VALUES ($1, $2, $3, $4)', [
      accountId,
      id,
      at / chunkBytes,
      bytes.subarray(at, at + chunkBytes),
    ]);
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
    const rows = await withConnection((sql) => sql<{ bytes: Buffer }>(readChunk, [accountId, id, position]));
    const bytes = rows[0]?.bytes;
    // The message was deleted meanwhile: an answer that has begun is cut.
    if (!bytes) throw notFound('File');
    const start = position * chunkBytes;
    yield bytes.subarray(Math.max(0, from - start), to - start + 1);
  }
}

const findFileStatement = `
  SELECT (SELECT file FROM jsonb_array_elements(m.attachments) AS file WHERE (file->>'id')::bigint = a.id) AS file,
    a.object_key
  FROM attachments a JOIN messages m ON m.account_id = a.account_id AND m.id = a.message_id
  WHERE a.account_id = $1 AND a.id = $2`;

interface FileRow {
  file: Attachment | null;
  object_key: string | null;
}

/** A file of a message; null where there is none, or its message was deleted. */
export async function findFile(sql: Sql, { accountId, id }: FileOf): Promise<StoredFile | null> {
  const [row] = await sql<FileRow>(findFileStatement, [accountId, id]);
  return toFile(row, accountId);
}

const findSendableStatement = `${findFileStatement} AND NOT m.private
  AND (m.conversation_id = $3 OR m.sender_kind IN ('agent_bot', 'automation') AND m.sender_id = $4)`;

/**
 * A file that a bot may send into a conversation: of a public message there, which the customer has, or of a message that the
 * bot itself has sent anywhere in the account. Null for every other.
 */
export async function findSendable(
  sql: Sql,
  { accountId, id, conversationId, botId }: FileOf & { conversationId: number | null; botId: number },
): Promise<StoredFile | null> {
  const [row] = await sql<FileRow>(findSendableStatement, [accountId, id, conversationId, botId]);
  return toFile(row, accountId);
}

function toFile(row: FileRow | undefined, accountId: number): StoredFile | null {
  return row?.file ? { ...row.file, accountId, objectKey: row.object_key } : null;
}

import { crc32, deflateSync } from 'node:zlib';
import { adminToken, type Answer, type TestApp } from './app.ts';

/** A file to send: its name in the form, its bytes, and what the sender says it is. */
export interface TestFile {
  name: string;
  bytes: Buffer;
  type?: string;
}

function chunk(name: string, data: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32BE(data.length);
  const content = Buffer.concat([Buffer.from(name, 'latin1'), data]);
  const sum = Buffer.alloc(4);
  sum.writeUInt32BE(crc32(content));
  return Buffer.concat([length, content, sum]);
}

/** A picture of the size, without all of its pixels where that is large. */
export function png(width = 3, height = 2): Buffer {
  const size = Buffer.alloc(13);
  size.writeUInt32BE(width, 0);
  size.writeUInt32BE(height, 4);
  size.set([8, 2, 0, 0, 0], 8);
  const pixels = deflateSync(Buffer.alloc((1 + 3 * Math.min(width, 100)) * Math.min(height, 100)));
  const signature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
  return Buffer.concat([signature, chunk('IHDR', size), chunk('IDAT', pixels), chunk('IEND', Buffer.alloc(0))]);
}

/** Bytes that repeat nowhere, so that no part of a file can stand for another. */
export function noise(length: number): Buffer {
  const bytes = Buffer.alloc(length);
  for (let at = 0; at + 4 <= length; at += 4) bytes.writeUInt32LE(Math.imul(at + 1, 2654435761) >>> 0, at);
  return bytes;
}

/** Files of a form, and the field that they are in. */
interface SentFiles {
  files: readonly TestFile[];
  headers?: Readonly<Record<string, string>>;
  list?: string;
}

/** Posts a form with files; a path without a leading slash is relative to account 1. */
export async function sendFiles(
  app: Pick<TestApp, 'url'>,
  path: string,
  fields: Readonly<Record<string, string>>,
  { files, headers = {}, list = 'attachments[]' }: SentFiles,
): Promise<Answer> {
  const body = new FormData();
  for (const [name, text] of Object.entries(fields)) body.set(name, text);
  for (const { name, bytes, type = '' } of files) body.append(list, new Blob([new Uint8Array(bytes)], { type }), name);
  return sendForm(app, path, { body, headers: { api_access_token: adminToken, ...headers } });
}

/** Posts a body as it is. */
export async function sendForm(
  app: Pick<TestApp, 'url'>,
  path: string,
  { body, headers }: { body: FormData | Buffer<ArrayBuffer>; headers: Readonly<Record<string, string>> },
): Promise<Answer> {
  const full = path.startsWith('/') ? path : `/api/v1/accounts/1/${path}`;
  const response = await fetch(app.url + full, { method: 'POST', body, headers });
  return { status: response.status, headers: response.headers, body: await response.json() };
}

/** What is stored of files, in rows. */
export async function storedFiles(app: TestApp): Promise<{ files: number; unsent: number; chunks: number }> {
  const [row] = await app.query<{ files: number; unsent: number; chunks: number }>(
    `SELECT (SELECT count(*) FROM attachments) AS files, (SELECT count(*) FROM attachments WHERE message_id IS NULL) AS unsent,
       (SELECT count(*) FROM attachment_chunks) AS chunks`,
  );
  return row!;
}

import { createHash } from 'node:crypto';
import { DoorError } from './errors.ts';
import type { ByteRoom } from '../byte-room.ts';

/** A field of a form: a text, or a stored file by its id, with a name of its own. */
export type FormField = string | { file: number; name: string | null };

/** A stored file that a form may have. */
export interface StoredFormFile {
  name: string;
  /** Its media type. */
  type: string;
  /** In bytes. */
  size: number;
  read: () => Promise<Buffer>;
}

/** Files of forms. */
export interface FormFiles {
  /** Returns a file that the plugin may send: of a public message of the conversation. Null for every other. */
  find: (file: {
    accountId: number;
    botId: number;
    conversationId: number | null;
    id: number;
  }) => Promise<StoredFormFile | null>;
  /** Room in memory for the files of forms until they are sent. */
  room: ByteRoom;
}

const maxFields = 50;
const maxFieldChars = 65_536;
/** Bytes of all files of a form. */
export const maxFormFileBytes = 52_428_800;

/** Reads the fields of `form` in the options of `ctx.fetch`. Throws a DoorError. */
export function readForm(form: object): Readonly<Record<string, FormField>> {
  const entries = Object.entries(form);
  if (entries.length > maxFields) throw refuse(`A form may have ${maxFields} fields`);
  return Object.fromEntries(entries.map(([name, value]) => [name, readField(name, value)]));
}

function readField(name: string, value: unknown): FormField {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') {
    if (value.length <= maxFieldChars) return value;
    throw refuse(`The field \`${name}\` of the form may have ${maxFieldChars} characters`);
  }
  const { file, name: fileName = null } = (typeof value === 'object' && value !== null ? value : {}) as FileField;
  const isFile = typeof file === 'number' && Number.isSafeInteger(file);
  if (isFile && (fileName === null || typeof fileName === 'string')) return { file, name: fileName };
  throw refuse(`The field \`${name}\` of the form must be text, a number or \`{ file: id }\``);
}

interface FileField {
  file?: unknown;
  name?: unknown;
}

/**
 * Returns the files of a form by its fields. `find` throws for a file that may not be sent. Throws a DoorError for files that are too
 * large together.
 */
export async function findFiles(
  form: Readonly<Record<string, FormField>>,
  find: (id: number) => Promise<StoredFormFile>,
): Promise<{ files: ReadonlyMap<string, StoredFormFile>; bytes: number }> {
  const files = new Map<string, StoredFormFile>();
  let bytes = 0;
  for (const [name, field] of Object.entries(form)) {
    if (typeof field === 'string') continue;
    const file = await find(field.file);
    bytes += file.size;
    if (bytes > maxFormFileBytes) throw refuse(`The files of a form may have ${maxFormFileBytes} bytes together`);
    files.set(name, file);
  }
  return { files, bytes };
}

/** Encodes a form with its files as multipart/form-data. */
export async function encodeForm(
  form: Readonly<Record<string, FormField>>,
  files: ReadonlyMap<string, StoredFormFile>,
): Promise<{ type: string; body: Buffer }> {
  const parts: [head: string, content: Buffer][] = [];
  for (const [name, field] of Object.entries(form)) {
    const head = `content-disposition: form-data; name="${quoted(name)}"`;
    const file = files.get(name);
    if (typeof field === 'string') parts.push([head, Buffer.from(field)]);
    else if (file) parts.push([headOf(head, field.name, file), await file.read()]);
  }
  const boundary = boundaryOf(parts);
  const body = parts.flatMap(([head, content]) => [
    Buffer.from(`--${boundary}\r\n${head}\r\n\r\n`),
    content,
    Buffer.from('\r\n'),
  ]);
  const end = Buffer.from(`--${boundary}--\r\n`);
  return { type: `multipart/form-data; boundary=${boundary}`, body: Buffer.concat([...body, end]) };
}

function headOf(head: string, name: string | null, file: StoredFormFile): string {
  return `${head}; filename="${quoted(name ?? file.name)}"\r\ncontent-type: ${file.type}`;
}

// No content has its own hash in it.
function boundaryOf(parts: readonly (readonly [string, Buffer])[]): string {
  const hash = createHash('sha256');
  for (const [head, content] of parts) hash.update(head).update(content);
  return `form-${hash.digest('hex').slice(0, 32)}`;
}

// As browsers write names in forms.
function quoted(text: string): string {
  return text.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A');
}

function refuse(message: string): DoorError {
  return new DoorError('bad_request', message);
}

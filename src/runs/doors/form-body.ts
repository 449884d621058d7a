import { createHash } from 'node:crypto';
import { DoorError } from './errors.ts';
import type { SentFile } from '../fetched-file.ts';

/** A field of a form: a text, or a stored file by its id, with a name of its own. */
export type FormField = string | { file: number; name: string | null };

/** A stored file with its media type. */
export interface StoredFormFile extends SentFile {
  type: string;
}

/** Returns a file that the plugin may send: of a public message of the conversation. Null for every other. */
export type ReadFormFile = (file: {
  accountId: number;
  botId: number;
  conversationId: number | null;
  id: number;
}) => Promise<StoredFormFile | null>;

const maxFields = 50;
const maxFieldChars = 65_536;
/** Bytes of all files of a form. */
const maxFileBytes = 52_428_800;

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
 * Encodes a form as multipart/form-data. `readFile` throws for a file that may not be sent. Throws a DoorError for files that are
 * too large together.
 */
export async function encodeForm(
  form: Readonly<Record<string, FormField>>,
  readFile: (id: number) => Promise<StoredFormFile>,
): Promise<{ type: string; body: Buffer }> {
  const parts: [head: string, content: Buffer][] = [];
  let fileBytes = 0;
  for (const [name, field] of Object.entries(form)) {
    const head = `content-disposition: form-data; name="${quoted(name)}"`;
    if (typeof field === 'string') {
      parts.push([head, Buffer.from(field)]);
      continue;
    }
    const file = await readFile(field.file);
    fileBytes += file.bytes.length;
    if (fileBytes > maxFileBytes) throw refuse(`The files of a form may have ${maxFileBytes} bytes together`);
    parts.push(filePart(head, field.name, file));
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

function filePart(head: string, name: string | null, file: StoredFormFile): [string, Buffer] {
  const named = `${head}; filename="${quoted(name ?? file.name)}"`;
  return [`${named}\r\ncontent-type: ${file.type}`, file.bytes];
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

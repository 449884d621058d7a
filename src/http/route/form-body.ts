import { isUtf8 } from 'node:buffer';
import type { Context } from 'koa';
import { ApiError, badRequest, invalid } from '../../errors.ts';
import { fieldName, pointerToken } from '../../lib/field-name.ts';
import { fileProperties, propertyTypes, type SchemaName } from '../../schemas.ts';
import { malformed, readParts, type Part } from './form-parts.ts';
import { findUnsafe, type Reviver } from './json-text.ts';

const parameter = /\s*;\s*([\w*-]+)=(?:"([^"]*)"|([^\s";]+))/g;
const dispositionForm = /^form-data(?:\s*;\s*[\w*-]+=(?:"[^"]*"|[^\s";]+))*\s*;?\s*$/i;
const fieldType = /^(?:text\/plain|application\/json)(?:\s*;\s*charset="?(?:utf-8|utf8|us-ascii)"?)?\s*$/i;

/**
 * Decodes a multipart form by a schema: string properties take the field's text, all others parse it as JSON. Errors:
 * 400 for a malformed form or text that is not UTF-8; 422 for a repeated field, a file where the schema has none, text that
 * is not JSON, and values that JSON bodies may not have either.
 */
export async function decodeForm(ctx: Context, bytes: Buffer, schema: SchemaName): Promise<unknown> {
  const fileNames = fileProperties(schema);
  const texts = new Map<string, string>();
  const files: Record<string, string> = {};
  const parts = (await readParts(ctx, bytes, fileNames.length > 0)).map((part) => nameAndCheck(part, fileNames));
  const isText = fileNames.length === 0 ? isUtf8(bytes) : parts.every((part) => part.isFile || isUtf8(part.bytes));
  if (!isText) throw badRequest('invalid_form', 'The body is not valid UTF-8.');
  for (const { name, isFile, fileName, bytes: content } of parts) {
    const pointer = `/${pointerToken(name)}`;
    if (texts.has(name) || (isFile && Object.hasOwn(files, name)))
      throw invalid(pointer, 'duplicate', `${fieldName(pointer)} is given more than once`);
    if (isFile) Object.assign(files, fileFields({ name, fileName, content }, schema));
    else texts.set(name, content.toString());
  }
  const whole = fileNames.length > 0 ? [...texts.values()].join('\n') : bytes.toString('latin1');
  const unsafe = findUnsafe(whole, (reviver) => valuesOf(texts, schema, reviver));
  if (unsafe) throw new ApiError(422, 'validation_failed', unsafe.message, { details: [unsafe] });
  return { ...files, ...valuesOf(texts, schema) };
}

function fileFields(
  { name, fileName, content }: { name: string; fileName: string; content: Buffer },
  schema: SchemaName,
): Record<string, string> {
  const field = { [name]: content.toString('latin1') };
  const ofName = `${name}_name`;
  return propertyTypes(schema, ofName).length === 0 ? field : { ...field, [ofName]: fileName.toWellFormed() };
}

function nameAndCheck(
  { headers, bytes }: Part,
  fileNames: readonly string[],
): { name: string; isFile: boolean; fileName: string; bytes: Buffer } {
  const parameters = dispositionOf(headers);
  const name = parameters.get('name') ?? '';
  if (name === '') throw malformed('a part has no name');
  const isFile = fileNames.includes(name);
  const saysFile = parameters.has('filename') || parameters.has('filename*');
  if (!isFile && (saysFile || !fieldType.test(headers['content-type'] ?? 'text/plain'))) {
    const pointer = `/${pointerToken(name)}`;
    throw invalid(pointer, 'file', `${fieldName(pointer)} is a file: only fields of text in UTF-8 are accepted here`);
  }
  if (headers['content-transfer-encoding']?.toLowerCase() === 'base64') throw malformed('a part is encoded as base64');
  const fileName = parameters.get('filename') ?? parameters.get('filename*') ?? '';
  return { name, isFile, fileName, bytes };
}

function dispositionOf({ 'content-disposition': disposition = '' }: Part['headers']): ReadonlyMap<string, string> {
  if (!dispositionForm.test(disposition)) throw malformed('a part does not say `form-data` and its name');
  const found = Array.from(disposition.matchAll(parameter), ([, name = '', quoted, token]) => {
    return [name.toLowerCase(), quoted ?? token ?? ''] as const;
  });
  return new Map(found);
}

function valuesOf(
  texts: ReadonlyMap<string, string>,
  schema: SchemaName,
  reviver?: Reviver,
): Readonly<Record<string, unknown>> {
  return Object.fromEntries(Array.from(texts, ([name, text]) => [name, valueOf(name, text, { schema, reviver })]));
}

function valueOf(
  name: string,
  text: string,
  { schema, reviver }: { schema: SchemaName; reviver: Reviver | undefined },
): unknown {
  const types = propertyTypes(schema, name);
  if (types.length === 0 || types.includes('string')) return text;
  // JSON would also read ` 12` and `1e3`: see tolerant-reading.ts.
  if (types.includes('integer') && text !== 'null') return text;
  try {
    return JSON.parse(text, reviver) as unknown;
  } catch {
    const pointer = `/${pointerToken(name)}`;
    throw invalid(pointer, 'json', `${fieldName(pointer)} must be JSON text`);
  }
}

import { isUtf8 } from 'node:buffer';
import type { Context } from 'koa';
import { ApiError, badRequest, invalid } from '../../../errors.ts';
import { fieldName, pointerToken } from '../../../lib/text/field-name.ts';
import { fileLists, fileProperties, propertyTypes, type SchemaName } from '../../../schemas.ts';
import { malformed, readParts, type Part } from './form-parts.ts';
import { findUnsafe, type Reviver } from './json-text.ts';

const parameter = /;\s*([\w*-]+)=(?:"([^"]*)"|([^\s";]+))/g;
const dispositionForm = /^form-data(?:\s*;\s*[\w*-]+=(?:"[^"]*"|[^\s";]+))*\s*(?:;\s*)?$/i;
const listPlace = /\[\d{0,2}\]$/;
const nestedName = /^([^[\]]+)\[([^[\]]+)\]$/;
const fieldType = /^(?:text\/plain|application\/json)(?:\s*;\s*charset="?(?:utf-8|utf8|us-ascii)"?)?\s*$/i;

/** A file of a form, with the name that it has there. */
export interface FormFile {
  name: string;
  bytes: Buffer;
}

/** A decoded form: its fields, and the files of its list. */
export interface DecodedForm {
  fields: unknown;
  files: readonly FormFile[];
}

/** How a form is read. */
export interface FormTerms {
  /** The schema of its fields. */
  schema: SchemaName;
  /** That of the fields of a form with files, which names their list; absent where it may have none. */
  withFiles?: SchemaName | undefined;
  /** Bytes of everything but its files at most. */
  maxTextBytes?: number;
}

/**
 * Decodes a multipart form by a schema: string properties take the field's text, all others parse it as JSON. A field
 * `message[content]` is the text `content` of the object `message`, where the schema has such an object. Errors:
 * 400 for a malformed form or text that is not UTF-8; 413; 422 for a repeated field, a file where the schema has none, text
 * that is not JSON, and values that JSON bodies may not have either.
 */
export async function decodeForm(
  ctx: Context,
  bytes: Buffer,
  { schema, withFiles, maxTextBytes }: FormTerms,
): Promise<DecodedForm> {
  const known = { fileNames: fileProperties(schema), lists: withFiles ? fileLists(withFiles).map(unlisted) : [] };
  const parts = (await readParts(ctx, bytes, maxTextBytes)).map((part) => nameAndCheck(part, known));
  const single = parts.filter(({ isListed }) => !isListed);
  checkText(parts, bytes);
  checkNames(single, schema);
  const texts = new Map(single.flatMap(({ name, isFile, bytes: text }) => (isFile ? [] : [[name, text.toString()]])));
  const files = Object.assign(
    {},
    ...single.filter(({ isFile }) => isFile).map((part) => fileFields(part, schema)),
  ) as object;
  const hasFiles = parts.some(({ isFile }) => isFile);
  const whole = hasFiles ? [...texts.values()].join('\n') : bytes.toString('latin1');
  const unsafe = findUnsafe(whole, (reviver) => valuesOf(texts, schema, reviver));
  if (unsafe) throw new ApiError(422, 'validation_failed', unsafe.message, { details: [unsafe] });
  return { fields: { ...files, ...valuesOf(texts, schema) }, files: listOf(parts) };
}

function checkText(parts: readonly NamedPart[], bytes: Buffer): void {
  const hasFiles = parts.some(({ isFile }) => isFile);
  const isText = hasFiles ? parts.every((part) => part.isFile || isUtf8(part.bytes)) : isUtf8(bytes);
  if (!isText) throw badRequest('invalid_form', 'The body is not valid UTF-8.');
}

function checkNames(parts: readonly NamedPart[], schema: SchemaName): void {
  const seen = new Set<string>();
  const objects = new Set(parts.flatMap(({ name }) => nestedIn(name, schema)?.object ?? []));
  for (const { name } of parts) {
    const pointer = `/${pointerToken(name)}`;
    if (seen.has(name) || objects.has(name))
      throw invalid(pointer, 'duplicate', `${fieldName(pointer)} is given more than once`);
    seen.add(name);
  }
}

/** The object of which a field's name names a property; null where it is a name like any other. */
function nestedIn(name: string, schema: SchemaName): { object: string; property: string } | null {
  const [, object, property] = nestedName.exec(name) ?? [];
  if (object === undefined || property === undefined) return null;
  return propertyTypes(schema, object).includes('object') ? { object, property } : null;
}

// Browsers send an empty file without a name for a field in which none was chosen.
function listOf(parts: readonly NamedPart[]): FormFile[] {
  const listed = parts.filter(({ isListed, fileName, bytes }) => isListed && (fileName !== '' || bytes.length > 0));
  return listed.map(({ fileName, bytes }) => ({ name: fileName.toWellFormed(), bytes }));
}

function fileFields({ name, fileName, bytes }: NamedPart, schema: SchemaName): Record<string, string> {
  const field = { [name]: bytes.toString('latin1') };
  const ofName = `${name}_name`;
  return propertyTypes(schema, ofName).length === 0 ? field : { ...field, [ofName]: fileName.toWellFormed() };
}

/** A part by its name. */
interface NamedPart {
  name: string;
  isFile: boolean;
  /** Whether it belongs to the list of files. */
  isListed: boolean;
  fileName: string;
  bytes: Buffer;
}

function nameAndCheck(
  { headers, bytes }: Part,
  { fileNames, lists }: { fileNames: readonly string[]; lists: readonly string[] },
): NamedPart {
  const parameters = dispositionOf(headers);
  const name = parameters.get('name') ?? '';
  if (name === '') throw malformed('a part has no name');
  const saysFile = parameters.has('filename') || parameters.has('filename*');
  const isListed = isListName(name, { saysFile, lists });
  const isFile = isListed || fileNames.includes(name);
  if (!isFile) refuseFile(name, saysFile, headers['content-type']);
  if (headers['content-transfer-encoding']?.toLowerCase() === 'base64') throw malformed('a part is encoded as base64');
  return { name, isFile, isListed, fileName: fileNameOf(parameters), bytes };
}

function unlisted(name: string): string {
  return name.replace(listPlace, '');
}

function isListName(name: string, { saysFile, lists }: { saysFile: boolean; lists: readonly string[] }): boolean {
  const list = unlisted(name);
  if (!lists.includes(list)) return false;
  if (!saysFile) throw invalid(`/${list}[]`, 'file', `\`${list}[]\` must be files`);
  return true;
}

function fileNameOf(parameters: ReadonlyMap<string, string>): string {
  return decodeName(parameters.get('filename*')) ?? parameters.get('filename') ?? '';
}

function refuseFile(name: string, saysFile: boolean, type = 'text/plain'): void {
  if (!saysFile && fieldType.test(type)) return;
  const pointer = `/${pointerToken(name)}`;
  throw invalid(pointer, 'file', `${fieldName(pointer)} is a file: only fields of text in UTF-8 are accepted here`);
}

// RFC 5987; null where it is written otherwise.
function decodeName(written: string | undefined): string | null {
  const [, encoded] = /^utf-8'[^']*'(.+)$/i.exec(written ?? '') ?? [];
  if (encoded === undefined) return null;
  try {
    return decodeURIComponent(encoded);
  } catch {
    return null;
  }
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
  const values = Array.from(texts, ([name, text]) => [name, valueOf(name, text, { schema, reviver })] as const);
  const fields = Map.groupBy(values, ([name]) => nestedIn(name, schema)?.object ?? name);
  return Object.fromEntries(
    Array.from(fields, ([name, members]) => [name, objectOf(members, schema) ?? members[0]?.[1]]),
  );
}

// Null for a field that stands for itself.
function objectOf(members: readonly (readonly [name: string, value: unknown])[], schema: SchemaName): object | null {
  const properties = members.flatMap(([name, value]) => {
    const nested = nestedIn(name, schema);
    return nested ? [[nested.property, value] as const] : [];
  });
  return properties.length > 0 ? Object.fromEntries(properties) : null;
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

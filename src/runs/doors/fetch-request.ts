import { isHeaderText, isSettableHeader } from '../../outbound/request-headers.ts';
import { DoorError } from './errors.ts';
import { readForm, type FormField } from './form-body.ts';
import { readSecret, type SecretText } from './secret-values.ts';

/** A header whose value the service fills in: a secret, or user and password of Basic authentication. */
export type HiddenHeader = SecretText | { basic: readonly [string | SecretText, string | SecretText] };

/** A request as a bot makes it. */
export interface FetchRequest {
  url: string;
  method: string;
  /** Values by lower-case name. */
  headers: Readonly<Record<string, string | HiddenHeader>>;
  body: string | undefined;
  /** The fields of a form with files, in place of a body. */
  form: Readonly<Record<string, FormField>> | undefined;
}

type Fields = Record<string, unknown>;

const maxHeaders = 50;
const maxHeaderChars = 8_192;
const maxPrefixChars = 100;
const methodsWithoutBody = new Set(['GET', 'HEAD']);

/** Reads the argument of `ctx.fetch`; a body that is no text becomes JSON. Throws a DoorError. */
export function readRequest(input: unknown): FetchRequest {
  const { url, method: given = 'GET', headers: named = {}, body, form } = isFields(input) ? input : {};
  if (typeof url !== 'string') throw refuse('`url` must be text');
  if (!isFields(named)) throw refuse('`headers` must be an object');
  const method = readMethod(given);
  const headers = readHeaders(named);
  if (form !== undefined) return { url, method, headers, body: undefined, form: formOf(form, { method, body }) };
  if (body === undefined || body === null) return { url, method, headers, body: undefined, form };
  if (methodsWithoutBody.has(method)) throw refuse(`A ${method} request has no body`);
  if (typeof body === 'string') return { url, method, headers, body, form };
  headers['content-type'] ??= 'application/json';
  return { url, method, headers, body: JSON.stringify(body), form };
}

function formOf(form: unknown, { method, body }: { method: string; body: unknown }): FetchRequest['form'] {
  if (body !== undefined && body !== null) throw refuse('A request has a `body` or a `form`');
  if (methodsWithoutBody.has(method)) throw refuse(`A ${method} request has no form`);
  if (!isFields(form)) throw refuse('`form` must be an object');
  return readForm(form);
}

function readMethod(given: unknown): string {
  if (typeof given === 'string' && /^[A-Za-z]{1,10}$/.test(given)) return given.toUpperCase();
  throw refuse('`method` must be a method such as GET');
}

function readHeaders(headers: Fields): Record<string, string | HiddenHeader> {
  const entries = Object.entries(headers);
  if (entries.length > maxHeaders) throw refuse(`A request may have ${maxHeaders} headers`);
  const read = Object.create(null) as Record<string, string | HiddenHeader>;
  for (const [given, value] of entries) {
    const name = given.toLowerCase();
    if (!isSettableHeader(given)) throw refuse(`The header ${JSON.stringify(given.slice(0, 100))} cannot be set`);
    if (name in read) throw refuse(`The header \`${name}\` is there twice`);
    read[name] = readValue(name, value);
  }
  return read;
}

function readValue(name: string, value: unknown): string | HiddenHeader {
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text === 'string') return checkText(name, text, maxHeaderChars);
  const secret = readSecret(value);
  if (secret) return { ...secret, prefix: checkText(name, secret.prefix, maxPrefixChars) };
  const basic = isFields(value) ? value.$basic : undefined;
  if (!Array.isArray(basic)) throw refuse(`The header \`${name}\` must be text, \`secret(…)\` or \`basicAuth(…)\``);
  return { basic: [readPart(basic[0], 'user'), readPart(basic[1], 'password')] };
}

function readPart(value: unknown, what: string): string | SecretText {
  const part = typeof value === 'string' ? value : readSecret(value);
  const chars = typeof part === 'string' ? part.length : part?.prefix.length;
  if (part !== null && chars !== undefined && chars <= maxHeaderChars) return part;
  throw refuse(`The ${what} of \`basicAuth\` must be text or \`secret(…)\``);
}

function checkText(name: string, text: string, maxChars: number): string {
  if (text.length > maxChars || !isHeaderText(text))
    throw refuse(`The header \`${name}\` is too long, or has a character that headers cannot have`);
  return text;
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function refuse(message: string): DoorError {
  return new DoorError('bad_request', message);
}

import type { Context } from 'koa';
import { readJson } from '../../../domain/hooks/places.ts';
import { ApiError, badRequest } from '../../../errors.ts';
import type { HookHandler } from '../../../packages/manifest/hooks.ts';
import { readBytes } from '../../route/body/read-body.ts';
import type { Arrival } from '../limits/upload-gate.ts';
import { headerReader } from './headers.ts';

/** A request whose body has arrived. */
export interface Arrived {
  header: (name: string) => string | null;
  body: Buffer;
  form: URLSearchParams | null;
  /** Parses the body at the first call: nobody's body is parsed before its signature is known. Undefined where it is no JSON. Errors: 400. */
  json: () => unknown;
}

const reasons = new WeakMap<ApiError, string>();

/** Gives a refusal the reason by which agents find it in the list of requests; the sender does not learn it. */
export function refused(error: ApiError, reason: string): ApiError {
  reasons.set(error, reason);
  return error;
}

refused.reasonOf = (error: ApiError): string => reasons.get(error) ?? error.code;

/** 503: the hook cannot check or handle requests for now, which may pass. */
export function notReady(): ApiError {
  return new ApiError(503, 'hook_not_ready', 'The hook takes no requests at the moment: try again later', {
    headers: { 'retry-after': '60' },
  });
}

const formType = 'application/x-www-form-urlencoded';
const otherTypes = new Set(['', formType, 'application/xml']);
const encodings = new Set(['', 'identity']);
// Amazon sends JSON as plain text.
const alwaysJson = new Set<HookHandler['verify']>(['sns', 'stripe', 'slack', 'telegram', 'meta']);

/** Reads a request: JSON, form or text; a large one with the place that it has. Errors: 413, 415, and for a large one that stalls 408. */
export async function readArrived(
  ctx: Context,
  { verify, maxBytes }: HookHandler,
  arrival: Arrival | null,
): Promise<Arrived> {
  const type = ctx.request.type.trim().toLowerCase();
  const isJson = type === 'application/json' || type.endsWith('+json');
  const isReadable = isJson || otherTypes.has(type) || type.startsWith('text/');
  if (!isReadable || !encodings.has(ctx.get('content-encoding').toLowerCase())) throw unreadable();
  const body = await readBytes(ctx, maxBytes, arrival);
  const form = type === formType ? new URLSearchParams(body.toString()) : null;
  let parsed: { value: unknown } | null = null;
  const json = (): unknown => {
    if (!isJson && (!alwaysJson.has(verify) || form)) return undefined;
    const { value } = (parsed ??= { value: readJson(body) });
    if (isJson && value === undefined)
      throw badRequest('invalid_json', 'The body is not valid JSON, or nested too deep');
    return value;
  };
  return { header: headerReader(ctx.req), body, form, json };
}

function unreadable(): ApiError {
  const message = 'The body must be sent as JSON, as an urlencoded form or as text, and not compressed';
  return new ApiError(415, 'unsupported_media_type', message);
}

import type { Sql } from '../../postgres/sql.ts';
import { createHash } from 'node:crypto';
import type { Context } from 'koa';
import {
  claimKey,
  findKept,
  keepAnswer,
  type KeptAnswer,
  type KeyedRequest,
  type KeyHolder,
} from '../../domain/upkeep/idempotency-keys.ts';
import { namesInJson, namesInPath } from '../../domain/upkeep/named-records.ts';
import { ApiError, badRequest } from '../../errors.ts';
import type { SecretBox } from '../../lib/secrets/secret-box.ts';
import type { AnyCall } from '../route/call.ts';
import type { FormFile } from '../route/body/form-body.ts';
import { saidBody } from '../route/body/translated-body.ts';

/** A successful answer. */
export interface Answer {
  status: number;
  /** JSON. */
  body: string;
  /** True for the stored answer of an earlier request: this request did nothing. */
  replayed: boolean;
}

/** A keyed request, and the path that it was sent to. */
export interface RequestWithKey extends KeyedRequest {
  path: string;
}

const maxKeyLength = 255;
/** Bytes of an answer that is stored at most. */
const maxStoredBytes = 256 * 1024;
const printable = /^[\x20-\x7e]+$/;

/**
 * The request with its `Idempotency-Key`. Null without the header, for methods other than POST, and for callers without
 * a token, who could not be recognized. Errors: 400 for a key that is not 1–255 printable characters.
 */
export function readKeyedRequest(ctx: Context, call: AnyCall): RequestWithKey | null {
  const { 'idempotency-key': key } = ctx.req.headers;
  if (ctx.method !== 'POST' || typeof key !== 'string') return null;
  if (key.length > maxKeyLength || !printable.test(key)) {
    throw badRequest(
      'bad_idempotency_key',
      `An Idempotency-Key must have 1 to ${maxKeyLength} printable ASCII characters`,
    );
  }
  const holder = holderOf(call);
  return holder && { holder, key, fingerprint: fingerprintOf(ctx, call), path: ctx.path };
}

// Sorted, because the order of properties has no meaning in JSON and some clients do not keep it.
function fingerprintOf(ctx: Context, { body, files }: AnyCall): Buffer {
  const parts = [ctx.method, ctx.originalUrl, saidBody(ctx, body), ...files.map(digestOf)];
  return createHash('sha256').update(JSON.stringify(parts, sortKeys)).digest();
}

// A request asks twice, and a file may have megabytes.
const digests = new WeakMap<FormFile, string>();

function digestOf(file: FormFile): string {
  const known = digests.get(file) ?? createHash('sha256').update(`${file.name}\n`).update(file.bytes).digest('hex');
  digests.set(file, known);
  return known;
}

function sortKeys(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}

function holderOf(call: AnyCall): KeyHolder | null {
  if ('principal' in call) return { tokenId: call.principal.tokenId };
  if (!('visit' in call) || !call.visit.contact) return null;
  return { accountId: call.account.id, contactId: call.visit.contact.id };
}

// The request has happened: to perform it again would be wrong, and its answer is there no more.
function open(kept: KeptAnswer, box: SecretBox): Answer {
  if (kept.sealedBody === '') {
    throw new ApiError(
      409,
      'answer_not_stored',
      'The request with this Idempotency-Key was performed, but its answer is not stored: it was too large, or named what was deleted since',
    );
  }
  return { status: kept.status, body: box.open(kept.sealedBody), replayed: true };
}

/** The stored answer to the first request with this key; null when there is none yet. Errors: as for onlyOnce. */
export async function findAnswer(
  request: KeyedRequest,
  box: SecretBox,
  { sql, now }: Pick<AnyCall, 'sql' | 'now'>,
): Promise<Answer | null> {
  const kept = await findKept(sql, request, now);
  return kept && open(kept, box);
}

/**
 * Returns the stored answer to the first request with this key, or performs the request and stores its answer, in the
 * transaction of `sql`. Stored answers are sealed, since some hold a secret that is stored nowhere else in plain text.
 * Errors: 422 when the key was used with another request, 409 while the first request is running and when its answer was
 * not stored or is erased.
 */
export async function onlyOnce(
  { request, box, sql, now }: { request: RequestWithKey; box: SecretBox; sql: Sql; now: Date },
  perform: () => Promise<Answer>,
): Promise<Answer> {
  const kept = await claimKey(sql, request, now);
  if (kept) return open(kept, box);
  const answer = await perform();
  const isStored = Buffer.byteLength(answer.body) <= maxStoredBytes;
  const sealedBody = isStored ? box.seal(answer.body) : '';
  const names = isStored ? namesIn(request.path, answer.body) : [];
  await keepAnswer(sql, request, { status: answer.status, sealedBody, names }, now);
  return answer;
}

function namesIn(path: string, body: string): string[] {
  return [...new Set([...namesInPath(path), ...namesInJson(JSON.parse(body))])];
}

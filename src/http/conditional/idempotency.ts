import { createHash } from 'node:crypto';
import type { EntityManager } from '@mikro-orm/postgresql';
import type { Context } from 'koa';
import {
  claimKey,
  findKept,
  keepAnswer,
  type KeptAnswer,
  type KeyedRequest,
  type KeyHolder,
} from '../../domain/upkeep/idempotency-keys.ts';
import { badRequest } from '../../errors.ts';
import type { SecretBox } from '../../lib/secret-box.ts';
import type { AnyCall } from '../route/call.ts';

/** A success as it goes out. */
export interface Answer {
  status: number;
  /** JSON. */
  body: string;
  /** Whether this request did nothing, because one before it had done it. */
  replayed: boolean;
}

const maxKeyLength = 255;
const printable = /^[\x20-\x7e]+$/;

function sortKeys(_: string, value: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)));
}

// The order of properties means nothing in JSON, and some clients do not keep it.
function fingerprintOf(ctx: Context, body: unknown): Buffer {
  const parts = [ctx.method, ctx.originalUrl, body];
  return createHash('sha256').update(JSON.stringify(parts, sortKeys)).digest();
}

function holderOf(call: AnyCall): KeyHolder | null {
  if ('principal' in call) return { tokenId: call.principal.tokenId };
  if (!('visit' in call) || !call.visit.contact) return null;
  return { accountId: call.account.id, contactId: call.visit.contact.id };
}

/**
 * The request as its `Idempotency-Key` names it; null without one, for methods other than POST, and for callers who
 * carry no token by which they would be known again. Errors: 400 for a key that is not 1–255 printable characters.
 */
export function readKeyedRequest(ctx: Context, call: AnyCall): KeyedRequest | null {
  const { 'idempotency-key': key } = ctx.req.headers;
  if (ctx.method !== 'POST' || typeof key !== 'string') return null;
  if (key.length > maxKeyLength || !printable.test(key)) {
    throw badRequest(
      'bad_idempotency_key',
      `An Idempotency-Key must have 1 to ${maxKeyLength} printable ASCII characters`,
    );
  }
  const holder = holderOf(call);
  return holder && { holder, key, fingerprint: fingerprintOf(ctx, call.body) };
}

function open(kept: KeptAnswer, box: SecretBox): Answer {
  return { status: kept.status, body: box.open(kept.sealedBody), replayed: true };
}

/** The answer that the first request with this key got; null when there is none yet. Errors: 422 as for onlyOnce. */
export async function findAnswer(
  request: KeyedRequest,
  box: SecretBox,
  { em, now }: Pick<AnyCall, 'em' | 'now'>,
): Promise<Answer | null> {
  const kept = await findKept(em, request, now);
  return kept && open(kept, box);
}

/**
 * The answer that the first request with this key got, or else the one that `perform` makes, kept in the transaction of
 * `em`. Kept answers are sealed: some hold a secret that is stored nowhere else in clear. Errors: 422 when the key came
 * with another request, 409 while the first is running.
 */
export async function onlyOnce(
  { request, box, em, now }: { request: KeyedRequest; box: SecretBox; em: EntityManager; now: Date },
  perform: () => Promise<Answer>,
): Promise<Answer> {
  const kept = await claimKey(em, request, now);
  if (kept) return open(kept, box);
  const answer = await perform();
  await keepAnswer(em, request, { status: answer.status, sealedBody: box.seal(answer.body) }, now);
  return answer;
}

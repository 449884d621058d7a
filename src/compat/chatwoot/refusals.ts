import { listOf } from './json.ts';
import type { Json } from './operation.ts';

/** A refusal of our routes, with facts about the request. */
interface Refusal {
  status: number;
  body: Json;
  /** Whether a route of ours refused it. */
  isRouted: boolean;
  hasToken: boolean;
  /** Whether customers call: what they may not do has reasons of its own. */
  isPublic: boolean;
}

const signIn = 'You need to sign in or sign up before continuing.';

/**
 * Returns a refusal in Chatwoot's fields, beside our code and request id: 401 for a forbidden operation, Chatwoot's sentences for
 * clients that look for them, `message` and `attributes` of invalid values. A 403 with a reason of its own, such as a bot that
 * must be silent, stays: Chatwoot has no such refusal, and a 401 would make clients doubt their token.
 */
export function theirRefusal(refusal: Refusal): { status: number; body: Json } {
  const { status, body, isRouted, hasToken, isPublic } = refusal;
  const { code, error } = body;
  if (status === 401 && code === 'unauthenticated' && !isPublic) {
    return hasToken
      ? said(401, body, 'Invalid Access Token')
      : { status, body: { ...body, error: signIn, errors: [signIn] } };
  }
  if (status === 403 && code === 'forbidden' && !isPublic)
    return { status: 401, body: { ...said(401, body, denial(error)).body, reason: error } };
  if (status === 404 && isRouted) return said(404, body, 'Resource could not be found');
  return status === 422 ? { status, body: { ...body, ...theirProblems(body) } } : { status, body };
}

function said(status: number, body: Json, error: string): { status: number; body: Json } {
  return { status, body: { ...body, error } };
}

function denial(error: unknown): string {
  if (error === 'Bots may not do this') return 'Access to this endpoint is not authorized for bots';
  return 'You are not authorized to do this action';
}

function theirProblems({ error, details }: Json): Json {
  const problems = listOf(details);
  const attributes = new Set(
    problems.map(({ path }) => String(path).split('/')[1] ?? '').filter((name) => name !== ''),
  );
  const messages = problems.map(sentenceOf);
  return { message: messages.length > 0 ? messages.join(', ') : error, attributes: [...attributes] };
}

function sentenceOf({ path, rule, message }: Json): unknown {
  const [, name = ''] = String(path).split('/');
  const noun = name.charAt(0).toUpperCase() + name.slice(1).replaceAll('_', ' ');
  if (rule === 'unique') return `${noun} has already been taken`;
  return path === '/phone_number' && rule === 'pattern' ? 'Phone number should be in e164 format' : message;
}

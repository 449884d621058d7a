import type { Context } from 'koa';
import type { FoundHook } from '../../../domain/hooks/find.ts';
import { isSameText } from '../../../domain/hooks/signatures.ts';
import { forbidden } from '../../../errors.ts';
import type { SecretBox } from '../../../lib/secrets/secret-box.ts';
import type { HookHandler } from '../../../packages/manifest/hooks.ts';
import { openSecrets } from './verify.ts';

// Nothing that a browser could take for a page.
const plainChallenge = /^[A-Za-z0-9_.-]{1,512}$/;

/**
 * Answers the question that Meta asks when a URL is set up, `GET …?hub.mode=subscribe&hub.challenge=…&hub.verify_token=…`.
 * Errors: 403, 503 while the secret is missing.
 */
export function answerMeta(ctx: Context, hook: FoundHook, handler: HookHandler, secretBox: SecretBox): void {
  const query = new URLSearchParams(ctx.querystring);
  const given = query.get('hub.verify_token') ?? '';
  const challenge = query.get('hub.challenge') ?? '';
  const expected = openSecrets(secretBox, hook, handler.verifyToken);
  const isKnown = expected.filter((token) => token !== '' && isSameText(token, given)).length > 0;
  if (!isKnown || query.get('hub.mode') !== 'subscribe' || !plainChallenge.test(challenge))
    throw forbidden('The verify token is not the one that was set');
  ctx.status = 200;
  ctx.type = 'text/plain';
  ctx.body = challenge;
}

/** Returns the text to answer a verified request of Slack that only checks the URL; null for every other request. */
export function slackChallenge(json: unknown): string | null {
  const { type, challenge } = (json ?? {}) as { type?: unknown; challenge?: unknown };
  return type === 'url_verification' && typeof challenge === 'string' && plainChallenge.test(challenge)
    ? challenge
    : null;
}

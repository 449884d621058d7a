import type { Context } from 'koa';
import type { FoundHook } from '../../../domain/hooks/find.ts';
import { findSignatureProblem, isUsableSecret, type SignatureProblem } from '../../../domain/hooks/signatures.ts';
import type { SnsMessage } from '../../../domain/hooks/sns.ts';
import type { AmazonSns } from './amazon.ts';
import { ApiError } from '../../../errors.ts';
import { SecretUnreadableError, type SecretBox } from '../../../lib/secrets/secret-box.ts';
import type { HookHandler } from '../../../packages/manifest/hooks.ts';
import { notReady, refused, type Arrived } from './read-request.ts';

interface Verifier {
  hook: FoundHook;
  handler: HookHandler;
  services: { secretBox: SecretBox; publicUrl: () => string };
  amazon: AmazonSns;
  now: Date;
}

/**
 * Refuses a request whose sender does not prove to hold the secret. Returns a message of Amazon, of which some only ask to be
 * confirmed. Errors: 400 for a message of Amazon that is no JSON, 401; 503 while the secret is missing.
 */
export async function verify(
  ctx: Context,
  arrived: Arrived,
  { hook, handler, services, amazon, now }: Verifier,
): Promise<SnsMessage | null> {
  const scheme = handler.verify;
  if (scheme === 'none') return null;
  const secrets = openSecrets(services.secretBox, hook, handler.secret).filter((secret) =>
    isUsableSecret(scheme, secret),
  );
  // Set wrongly on our side: the sender must not give up.
  if (secrets.length === 0) throw refused(notReady(), 'secret_unusable');
  if (scheme === 'sns') {
    const message = await amazon.verify(arrived.json(), { topics: secrets, hookId: hook.id });
    return typeof message === 'string' ? refuse(message) : message;
  }
  const url = `${services.publicUrl()}${ctx.path}${ctx.search}`;
  const { header, body, form } = arrived;
  const problem = findSignatureProblem(scheme, secrets, { header, body, form, url, now });
  return problem ? refuse(problem) : null;
}

function refuse(problem: SignatureProblem): never {
  throw refused(new ApiError(401, 'bad_signature', 'The signature is missing or not valid'), problem);
}

/** Returns the values of a bot's secret: several, as a JSON array, while senders change it. Errors: 503 while there is none. */
export function openSecrets(secretBox: SecretBox, { secrets }: FoundHook, name: string | null): string[] {
  const sealed = name !== null && Object.hasOwn(secrets, name) ? secrets[name] : undefined;
  if (sealed === undefined) throw refused(notReady(), 'missing_secret');
  try {
    return valuesOf(secretBox.open(sealed));
  } catch (error) {
    if (error instanceof SecretUnreadableError) throw refused(notReady(), 'secret_unreadable');
    throw error;
  }
}

function valuesOf(secret: string): string[] {
  if (!secret.startsWith('[')) return [secret];
  try {
    const values: unknown = JSON.parse(secret);
    return Array.isArray(values) && values.every((value) => typeof value === 'string') ? values : [secret];
  } catch {
    return [secret];
  }
}

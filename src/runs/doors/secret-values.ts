import { ForbiddenCall, type Permissions } from '../../sandbox/run.ts';
import { DoorError } from './errors.ts';
import type { Redaction } from './redaction.ts';

/** The value of a secret of the bot, behind a prefix. */
export interface SecretText {
  secret: string;
  prefix: string;
}

/** The run of a bot, as far as it may use secrets. */
export interface SecretHolder {
  permissions: Pick<Permissions, 'secrets'>;
  /** The value of a secret of the bot; null when it has none of this name. */
  secret: (name: string) => string | null;
}

/** The run of a bot, as far as its secrets are hidden in it. */
interface SecretOwner extends Pick<SecretHolder, 'secret'> {
  secretNames: readonly string[];
}

/** Reads what `secret(…)` of a bot made; null for another value. */
export function readSecret(value: unknown): SecretText | null {
  const { $secret: secret, prefix = '' } = (typeof value === 'object' && value !== null ? value : {}) as Fields;
  if (typeof secret !== 'string') return null;
  if (typeof prefix !== 'string') throw new DoorError('bad_request', 'The prefix of a secret must be text');
  return { secret, prefix };
}

/** Refuses a secret that the manifest does not name, with a ForbiddenCall. */
export function checkNamed({ secret }: SecretText, { secrets }: SecretHolder['permissions']): void {
  if (secrets.some(({ name }) => name === secret)) return;
  throw new ForbiddenCall(`The manifest does not ask for the secret \`${secret}\` under \`permissions.secrets\``);
}

/** Returns the prefix and the secret in clear. Throws a DoorError where the bot has no value for it. */
export function openSecret({ secret, prefix }: SecretText, holder: Pick<SecretHolder, 'secret'>): string {
  const value = holder.secret(secret);
  if (value === null) throw new DoorError('secret_missing', `The bot has no value for the secret \`${secret}\``);
  return prefix + value;
}

/** Has the values of the bot's secrets replaced: a host may keep a secret of one run, and return it to a run that sends none. */
export function hideSecrets({ secretNames, secret }: SecretOwner, redaction: Redaction): void {
  for (const name of secretNames) {
    const value = secret(name);
    if (value !== null) redaction.add(name, value);
  }
}

type Fields = Record<string, unknown>;

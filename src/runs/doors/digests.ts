import { createHash, createHmac } from 'node:crypto';
import type { HostCall } from '../../sandbox/run.ts';
import { DoorError } from './errors.ts';
import type { LinkPlaceholders } from './link-placeholders.ts';
import { checkNamed, openSecret, readSecret, type SecretHolder } from './secret-values.ts';

const algorithms = ['sha1', 'sha256', 'sha384', 'sha512'] as const;
const encodings = ['hex', 'base64', 'base64url'] as const;

/**
 * `hmac` and `sha256` of `switchboard/bot`. The key of a code may be a secret, which no bot gets to see. A text that has placeholders of
 * links is signed as it is sent: with the links.
 */
export function digestDoors(holder: SecretHolder, links: LinkPlaceholders): Record<string, HostCall> {
  const linked = ({ data, ...fields }: Fields): Fields => ({
    ...fields,
    data: typeof data === 'string' ? links.fill(data) : data,
  });
  return {
    'crypto.hmac': (input) => settle(() => hmac(linked(fieldsOf(input)), holder)),
    'crypto.sha256': (input) => settle(() => sha256(linked(fieldsOf(input)))),
  };
}

type Fields = Record<string, unknown>;

function hmac({ algorithm, key, data, encoding }: Fields, holder: SecretHolder): string {
  const chosen = oneOf(algorithms, algorithm, 'algorithm');
  const secret = readSecret(key);
  if (secret) checkNamed(secret, holder.permissions);
  const bytes = secret ? openSecret(secret, holder) : bytesOf(key, 'key');
  return createHmac(chosen, bytes)
    .update(bytesOf(data, 'data'))
    .digest(oneOf(encodings, encoding, 'encoding'));
}

function sha256({ data, encoding }: Fields): string {
  return createHash('sha256')
    .update(bytesOf(data, 'data'))
    .digest(oneOf(encodings, encoding, 'encoding'));
}

/** Bytes of a text, or those that a bot has sent as base64. */
function bytesOf(value: unknown, name: string): Buffer {
  if (typeof value === 'string') return Buffer.from(value);
  const { $base64: encoded } = fieldsOf(value);
  if (typeof encoded === 'string') return Buffer.from(encoded, 'base64');
  throw new DoorError('bad_request', `The ${name} must be text or a Uint8Array`);
}

function oneOf<Name extends string>(names: readonly Name[], given: unknown, what: string): Name {
  const found = names.find((name) => name === given);
  if (found === undefined) throw new DoorError('bad_request', `The ${what} must be one of ${names.join(', ')}`);
  return found;
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {};
}

async function settle(work: () => string): Promise<string> {
  return work();
}

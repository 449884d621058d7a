import { maxSecrets, rotated, type SigningSecrets } from '../deliveries/core/signing-secrets.ts';
import { ApiError } from '../errors.ts';
import type { OuterTransaction } from '../events/transaction.ts';

/** A new signing secret, sealed, and how long the one before signs too; a day by default. */
export interface Rotation {
  sealedSecret: string;
  overlapSeconds?: number | undefined;
}

const dayInSeconds = 24 * 3_600;

/** Replaces the signing secret of a locked endpoint, which the caller saves. Errors: 409 when ten secrets sign already. */
export async function rotateSecret(
  { sql, now }: Pick<OuterTransaction, 'sql' | 'now'>,
  endpoint: SigningSecrets & { updatedAt: Date },
  { sealedSecret, overlapSeconds = dayInSeconds }: Rotation,
): Promise<void> {
  const [drawn] = (await sql<{ id: number }>(`SELECT nextval('signing_secret_ids') AS id`)) as [{ id: number }];
  const after = rotated(endpoint, { next: { id: drawn.id, secret: sealedSecret }, overlapSeconds, now });
  if (!after) throw tooMany();
  Object.assign(endpoint, after, { updatedAt: now });
}

function tooMany(): ApiError {
  const message = `${maxSecrets} secrets sign already. End one of them, or rotate without an overlap.`;
  return new ApiError(409, 'too_many_secrets', message);
}

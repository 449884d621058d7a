/** A signing secret that was replaced, and signs beside the present one until it ends. */
export interface OlderSecret {
  id: number;
  /** Sealed by the secret box. */
  secret: string;
  /** ISO 8601, as is the end. */
  createdAt: string;
  endsAt: string;
}

/** The signing secrets of an endpoint; `secret` is the present one, sealed, and null where there is none yet. */
export interface SigningSecrets {
  secret?: string | null | undefined;
  secretId: number;
  secretCreatedAt: Date;
  /** Newest first. */
  olderSecrets: OlderSecret[];
}

/** Secrets that sign at the same time, the present one included. */
export const maxSecrets = 10;

/** Returns the older secrets that still sign. Pure. */
export function signingAt({ olderSecrets }: Pick<SigningSecrets, 'olderSecrets'>, now: Date): OlderSecret[] {
  return olderSecrets.filter(({ endsAt }) => new Date(endsAt) > now);
}

/**
 * Returns the secrets after a rotation: the one before signs for `overlapSeconds` more. Null when more than ten would sign. Pure.
 */
export function rotated(
  { secret, secretId, secretCreatedAt, ...older }: SigningSecrets,
  { next, overlapSeconds, now }: { next: { id: number; secret: string }; overlapSeconds: number; now: Date },
): SigningSecrets | null {
  const replaced = secret &&
    overlapSeconds > 0 && {
      id: secretId,
      secret,
      createdAt: secretCreatedAt.toISOString(),
      endsAt: new Date(now.getTime() + overlapSeconds * 1000).toISOString(),
    };
  const olderSecrets = [...(replaced ? [replaced] : []), ...signingAt(older, now)];
  if (olderSecrets.length >= maxSecrets) return null;
  return { secret: next.secret, secretId: next.id, secretCreatedAt: now, olderSecrets };
}

interface Signer {
  secret: string | null | undefined;
}

/** What a new signing secret changes on an endpoint; secrets are sealed. */
export interface Rotation {
  secret: string;
  previousSecret: string | null;
  previousSecretExpiresAt: Date;
  updatedAt: Date;
}

// A day for the receiver to learn the new secret.
const bothSignMs = 24 * 3_600_000;

/** Replaces the signing secret of an endpoint; for 24 hours the one before signs too. */
export function rotateSecret(endpoint: Signer, sealedSecret: string, now: Date): Rotation {
  return {
    secret: sealedSecret,
    previousSecret: endpoint.secret ?? null,
    previousSecretExpiresAt: new Date(now.getTime() + bothSignMs),
    updatedAt: now,
  };
}

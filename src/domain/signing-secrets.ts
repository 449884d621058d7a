interface Signer {
  secret: string | null | undefined;
}

/** Changes of an endpoint's columns for a new signing secret; secrets are sealed. */
export interface Rotation {
  secret: string;
  previousSecret: string | null;
  previousSecretExpiresAt: Date;
  updatedAt: Date;
}

// A day for the receiver to switch to the new secret.
const bothSignMs = 24 * 3_600_000;

/** Replaces the signing secret of an endpoint; for 24 hours the previous secret signs too. */
export function rotateSecret(endpoint: Signer, sealedSecret: string, now: Date): Rotation {
  return {
    secret: sealedSecret,
    previousSecret: endpoint.secret ?? null,
    previousSecretExpiresAt: new Date(now.getTime() + bothSignMs),
    updatedAt: now,
  };
}

/** How often a delivery may be claimed without a written result before it ends. */
export const maxClaims = 5;

/** How often a delivery was claimed since its last written result, this time included. */
interface Claims {
  claims: number;
}

/**
 * Whether a delivery was claimed too often without a result: making it, or writing how it ended, seems to end the process
 * or to fail each time.
 */
export function isDefective({ claims }: Claims): boolean {
  return claims > maxClaims;
}

/**
 * Seconds until a delivery whose result an outage or a lock kept from being written is claimed again: at once the first
 * time, then longer and longer, so that one outage does not use up all its claims.
 */
export function pauseAfter({ claims }: Claims): number {
  return claims <= 1 ? 0 : 2 ** (claims - 2);
}

/** Whether even ending it properly failed as often: then nothing is done any more but ending it. */
export function isHopeless({ claims }: Claims): boolean {
  return claims > 2 * maxClaims;
}

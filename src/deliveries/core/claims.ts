/** Claims of a delivery without a written result before it ends. */
export const maxClaims = 5;

/** Claims of a delivery since its last written result, this one included. */
interface Claims {
  claims: number;
}

/**
 * Whether a delivery was claimed too often without a result: the attempt, or writing its result, seems to crash the process
 * or to fail each time.
 */
export function isDefective({ claims }: Claims): boolean {
  return claims > maxClaims;
}

/**
 * Seconds until a delivery whose result could not be written is claimed again: 0 the first time, then growing, so that one
 * outage does not use up all claims.
 */
export function pauseAfter({ claims }: Claims): number {
  return claims <= 1 ? 0 : 2 ** (claims - 2);
}

/** Whether ending it with its consequences failed as often too: then only the end is written. */
export function isHopeless({ claims }: Claims): boolean {
  return claims > 2 * maxClaims;
}

/** A moment as the REST API tells it: whole Unix seconds. */
export function unixSeconds(moment: Date): number {
  return Math.floor(moment.getTime() / 1000);
}

/** Like unixSeconds; null stays null. */
export function unixSecondsOrNull(moment: Date | null): number | null {
  return moment === null ? null : unixSeconds(moment);
}

/** The moment that Unix seconds name. */
export function fromUnixSeconds(seconds: number): Date {
  return new Date(seconds * 1000);
}

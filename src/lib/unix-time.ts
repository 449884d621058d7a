/** The last moment that the REST API takes and tells, at the end of the year 9999. */
export const lastMoment = new Date(253_402_300_799_000);

/** A date in whole Unix seconds, the unit of the REST API. */
export function unixSeconds(moment: Date): number {
  return Math.floor(moment.getTime() / 1000);
}

/** Like unixSeconds; null stays null. */
export function unixSecondsOrNull(moment: Date | null): number | null {
  return moment === null ? null : unixSeconds(moment);
}

/** Like fromUnixSeconds; null without a number. */
export function optionalDate(seconds: number | undefined): Date | null {
  return seconds === undefined ? null : fromUnixSeconds(seconds);
}

/** The date of a number of Unix seconds. */
export function fromUnixSeconds(seconds: number): Date {
  return new Date(seconds * 1000);
}

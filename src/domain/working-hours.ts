/** The hours of one day of the week; 0 is Sunday. Hours are null on a day that is closed or open all day. */
export interface WorkingDay {
  dayOfWeek: number;
  closedAllDay: boolean;
  openAllDay: boolean;
  openHour: number | null;
  openMinutes: number | null;
  closeHour: number | null;
  closeMinutes: number | null;
}

const daysPerWeek = 7;
const minutesPerHour = 60;
const minutesPerDay = 24 * minutesPerHour;
const dayNames = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
// Intl takes offsets such as +01:00 too, which know nothing of summer time.
const zoneName = /^[A-Za-z]/;

function usualDay(dayOfWeek: number): WorkingDay {
  const weekend = dayOfWeek === 0 || dayOfWeek === 6;
  if (weekend) return closedDay(dayOfWeek);
  const hours = { openHour: 9, openMinutes: 0, closeHour: 17, closeMinutes: 0 };
  return { dayOfWeek, closedAllDay: false, openAllDay: false, ...hours };
}

function closedDay(dayOfWeek: number): WorkingDay {
  const hours = { openHour: null, openMinutes: null, closeHour: null, closeMinutes: null };
  return { dayOfWeek, closedAllDay: true, openAllDay: false, ...hours };
}

/** The week of an inbox that has set none: Monday to Friday, 9 to 17. */
export const usualWeek: readonly WorkingDay[] = Array.from({ length: daysPerWeek }, (_, day) => usualDay(day));

/** Whether `name` is a time zone of the IANA database. */
export function isTimezone(name: string): boolean {
  if (!zoneName.test(name)) return false;
  try {
    Intl.DateTimeFormat('en', { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/** What is wrong with one day, in a sentence; null when nothing is. */
export function findDayProblem(day: WorkingDay): string | null {
  if (day.closedAllDay && day.openAllDay) return 'A day is closed all day or open all day, not both';
  if (day.closedAllDay || day.openAllDay) return null;
  if (day.openHour === null || day.closeHour === null) return 'A day needs open_hour and close_hour';
  const closes = minuteOf(day.closeHour, day.closeMinutes);
  if (closes > minutesPerDay) return 'A day closes at 24:00 at the latest';
  return closes > minuteOf(day.openHour, day.openMinutes) ? null : 'A day closes after it opens';
}

function minuteOf(hour: number | null, minutes: number | null): number {
  return (hour ?? 0) * minutesPerHour + (minutes ?? 0);
}

/** Whether the week counts `now` among its hours, by the clocks of the time zone. */
export function isOpen(week: readonly WorkingDay[], timezone: string, now: Date): boolean {
  const parts = Intl.DateTimeFormat('en-US', {
    timeZone: timezone,
    weekday: 'short',
    hour: 'numeric',
    minute: 'numeric',
    hourCycle: 'h23',
  }).formatToParts(now);
  const part = (type: Intl.DateTimeFormatPartTypes) => parts.find((found) => found.type === type)?.value ?? '';
  const dayOfWeek = dayNames.indexOf(part('weekday'));
  const day = week.find((candidate) => candidate.dayOfWeek === dayOfWeek);
  if (!day || day.closedAllDay) return false;
  if (day.openAllDay) return true;
  const minute = minuteOf(Number(part('hour')), Number(part('minute')));
  return minute >= minuteOf(day.openHour, day.openMinutes) && minute < minuteOf(day.closeHour, day.closeMinutes);
}

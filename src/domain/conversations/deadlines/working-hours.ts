import type { WorkingDay } from '../../../records/inbox.ts';

const daysPerWeek = 7;
const minutesPerHour = 60;
const minutesPerDay = 24 * minutesPerHour;
const dayNames = ['Sun', 'Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat'];
// Intl also accepts offsets such as +01:00, which have no daylight saving time.
const zoneName = /^[A-Za-z]/;
const noHours = { open_hour: null, open_minutes: null, close_hour: null, close_minutes: null };
const nineToFive = { open_hour: 9, open_minutes: 0, close_hour: 17, close_minutes: 0 };

const usualWeek: readonly WorkingDay[] = Array.from({ length: daysPerWeek }, (_, day) => usualDay(day));

/** The week that an inbox has set; by default Monday to Friday from 9 to 17. */
export function weekOf(stored: readonly WorkingDay[]): WorkingDay[] {
  return [...(stored.length === 0 ? usualWeek : stored)];
}

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

function minuteOf(hour: number | null, minutes: number | null): number {
  return (hour ?? 0) * minutesPerHour + (minutes ?? 0);
}

/** Returns a sentence about a problem of the day; null when there is none. */
export function findDayProblem(day: WorkingDay): string | null {
  if (day.closed_all_day && day.open_all_day) return 'A day must be closed all day or open all day, not both';
  if (day.closed_all_day || day.open_all_day) return null;
  if (day.open_hour === null || day.close_hour === null)
    return 'A day must have open_hour and close_hour, or be closed or open all day';
  const closes = minuteOf(day.close_hour, day.close_minutes);
  if (closes > minutesPerDay) return 'A day must close at 24:00 at the latest';
  return closes > minuteOf(day.open_hour, day.open_minutes) ? null : 'A day must close after it opens';
}

/** Whether `now` is within the week's hours, in the time zone. */
export function isOpen(week: readonly WorkingDay[], timezone: string, now: Date): boolean {
  const format = Intl.DateTimeFormat('en-US', {
    timeZone: timezone,
    weekday: 'short',
    hour: 'numeric',
    minute: 'numeric',
    hourCycle: 'h23',
  });
  const parts = new Map(format.formatToParts(now).map(({ type, value }) => [type, value]));
  const dayOfWeek = dayNames.indexOf(parts.get('weekday') ?? '');
  const day = week.find((candidate) => candidate.day_of_week === dayOfWeek);
  if (!day || day.closed_all_day) return false;
  if (day.open_all_day) return true;
  const minute = minuteOf(Number(parts.get('hour')), Number(parts.get('minute')));
  return minute >= minuteOf(day.open_hour, day.open_minutes) && minute < minuteOf(day.close_hour, day.close_minutes);
}

function usualDay(day: number): WorkingDay {
  const weekend = day === 0 || day === daysPerWeek - 1;
  return { day_of_week: day, closed_all_day: weekend, open_all_day: false, ...(weekend ? noHours : nineToFive) };
}

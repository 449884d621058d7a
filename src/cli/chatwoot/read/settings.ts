import { findDayProblem, isTimezone } from '../../../domain/conversations/deadlines/working-hours.ts';
import type { InboxSettings } from '../../../domain/inboxes/inboxes.ts';
import type { NewLabel } from '../../../domain/labels/catalogue.ts';
import type { NewAgent } from '../../../domain/people/agents.ts';
import type { NewTeam } from '../../../domain/people/teams.ts';
import type { WorkingDay } from '../../../records/inbox.ts';
import { findProblems } from '../../../schemas.ts';
import { countOf, oneOf, recordOf, textOf, type Foreign } from '../values.ts';

/** Characters of names, as the API has them. */
export const mostName = 255;
const [mostDescription, mostGreeting] = [2000, 10_000];

/** The kind of an inbox that no other is. */
export const plainChannel = 'Channel::Api';

/** Settings of an inbox, and its channel; `problem` is a sentence about values that were changed for it. */
export interface ReadInbox {
  name: string;
  channelType: string;
  settings: Partial<InboxSettings>;
  problem: string | null;
}

/** Reads an inbox: what the service does not take is left at its default. */
export function toInbox(inbox: Foreign): ReadInbox {
  const problems: string[] = [];
  return {
    name: textOf(inbox['name'], mostName) ?? 'Inbox',
    channelType: channelOf(inbox, problems),
    settings: {
      greetingEnabled: inbox['greeting_enabled'] === true,
      greetingMessage: textOf(inbox['greeting_message'], mostGreeting),
      enableAutoAssignment: inbox['enable_auto_assignment'] === true,
      outOfOfficeMessage: textOf(inbox['out_of_office_message'], mostGreeting),
      csatSurveyEnabled: inbox['csat_survey_enabled'] === true,
      ...hoursOf(inbox, problems),
    },
    problem: problems.length === 0 ? null : problems.join('; '),
  };
}

function channelOf(inbox: Foreign, problems: string[]): string {
  const channel = textOf(inbox['channel_type'], mostName) ?? '';
  if (findProblems('requests/inbox.create', { name: 'x', channel_type: channel }).length === 0) return channel;
  problems.push(`the channel ${channel || 'without a name'} became ${plainChannel}`);
  return plainChannel;
}

function hoursOf(
  inbox: Foreign,
  problems: string[],
): Pick<InboxSettings, 'timezone' | 'workingHoursEnabled' | 'workingHours'> {
  const timezone = textOf(inbox['timezone'], 64) ?? 'UTC';
  const week = weekOf(inbox['working_hours']);
  if (!isTimezone(timezone)) problems.push(`the time zone ${timezone} became UTC`);
  if (week === null) problems.push('its working hours became the usual ones');
  return {
    timezone: isTimezone(timezone) ? timezone : 'UTC',
    workingHoursEnabled: inbox['working_hours_enabled'] === true && week !== null,
    workingHours: week ?? [],
  };
}

/** Reads a week; empty (the default) if there is none, and null for an invalid one. */
function weekOf(value: unknown): WorkingDay[] | null {
  if (!Array.isArray(value) || value.length === 0) return [];
  const week = value.map((day) => toDay(recordOf(day)));
  const isWhole = week.length === 7 && new Set(week.map(({ day_of_week: day }) => day)).size === 7;
  return isWhole && week.every((day) => isDay(day)) ? week : null;
}

function toDay(day: Foreign): WorkingDay {
  const closed = day['closed_all_day'] === true;
  const open = !closed && day['open_all_day'] === true;
  const number = (name: string) => (closed || open || typeof day[name] !== 'number' ? null : day[name]);
  return {
    day_of_week: typeof day['day_of_week'] === 'number' ? day['day_of_week'] : -1,
    closed_all_day: closed,
    open_all_day: open,
    open_hour: number('open_hour'),
    open_minutes: number('open_minutes') ?? (closed || open ? null : 0),
    close_hour: number('close_hour'),
    close_minutes: number('close_minutes') ?? (closed || open ? null : 0),
  };
}

function isDay(day: WorkingDay): boolean {
  const others = [0, 1, 2, 3, 4, 5, 6].filter((other) => other !== day.day_of_week);
  const week = [day, ...others.map((other) => ({ ...day, day_of_week: other }))];
  return findDayProblem(day) === null && findProblems('requests/inbox.update', { working_hours: week }).length === 0;
}

/** An agent; null without an address that mail could reach. */
export function toAgent(agent: Foreign): NewAgent | null {
  const email = textOf(agent['email'], mostName);
  if (email === null || !isEmail(email)) return null;
  return {
    email,
    name: textOf(agent['name'], mostName) ?? textOf(agent['available_name'], mostName) ?? email,
    role: oneOf(agent['role'], ['administrator', 'agent']) ?? 'agent',
    availability: oneOf(agent['availability_status'], ['online', 'busy', 'offline']) ?? 'offline',
  };
}

/** Whether it is an address as the API takes it. */
export function isEmail(email: string): boolean {
  return findProblems('requests/contact.update', { email }).length === 0;
}

/** A team; null without a name. */
export function toTeam(team: Foreign): NewTeam | null {
  const name = textOf(team['name'], mostName);
  const description = textOf(team['description'], mostDescription);
  return name === null ? null : { name, description, allowAutoAssign: team['allow_auto_assign'] !== false };
}

const blue = '#1f93ff';

const withoutHyphens = /[^-](?:.*[^-])?/s;

/** The title under which a label is kept: in lower case, with hyphens for what titles do not have; null where nothing is left. */
export function titleOf(given: unknown): string | null {
  const text = textOf(given, mostName)?.normalize('NFC').toLowerCase() ?? '';
  const [title = ''] = withoutHyphens.exec(text.replaceAll(/[^\p{Ll}\p{Lm}\p{Lo}\p{M}\p{N}_-]+/gu, '-')) ?? [];
  return title === '' || findProblems('requests/label.update', { title }).length > 0 ? null : title;
}

/** A label; null without a title. */
export function toLabel(label: Foreign): NewLabel | null {
  const title = titleOf(label['title']);
  if (title === null) return null;
  const color = textOf(label['color'], 7) ?? blue;
  const isColor = findProblems('requests/label.update', { color }).length === 0;
  return {
    title,
    description: textOf(label['description'], mostDescription),
    color: isColor ? color : blue,
    showOnSidebar: label['show_on_sidebar'] === true,
  };
}

/** Titles of labels, each once; those that cannot be kept are left out. */
export function titlesOf(value: unknown): string[] {
  const given = Array.isArray(value) ? value.slice(0, countOf(value.length, mostLabels)) : [];
  return [...new Set(given.flatMap((title) => titleOf(title) ?? []))].sort();
}

const mostLabels = 100;

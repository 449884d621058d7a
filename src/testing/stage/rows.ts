import type { Message } from '../../records/messages/message.ts';
import type { Contact } from '../../records/contacts/contact.ts';
import type { Sql } from '../../postgres/sql.ts';
import { scheduleAnswers, type ScheduledRow } from './schedule-rows.ts';
import { storageAnswers, type StoredRow } from './storage-rows.ts';

/** Rows of the stage that statements of verbs read and change. */
export interface StageRows {
  readonly contact: Contact;
  readonly messages: readonly Message[];
  /** Names of teams that a bot has named; the first has the id 1. */
  readonly teams: string[];
  readonly stored: StoredRow[];
  readonly scheduled: ScheduledRow[];
}

type Values = readonly unknown[];
/** Answer to statements that match a pattern. */
export interface Answer {
  statement: RegExp;
  rows: (stage: StageRows, values: Values, text: string) => unknown[];
}

const people = (id: unknown) => [{ id, name: `Agent ${String(id)}`, role: 'administrator' }];

/**
 * Statements of verbs beyond the objects that their transaction holds, with their rows: there is one conversation, every label
 * may be created, and every team, agent, bot and SLA policy that a plugin names exists. Policies promise nothing.
 */
const answers: readonly Answer[] = [
  { statement: /^SELECT count\(\*\) AS count FROM messages\b/, rows: (stage, [, , since]) => countSince(stage, since) },
  { statement: /^SELECT content FROM messages\b/, rows: ({ messages }) => lastQuestionOf(messages) },
  { statement: /INSERT INTO conversation_labels\b/, rows: (_, [, , titles, made]) => titlesOf(titles, made) },
  { statement: /^DELETE FROM conversation_labels\b/, rows: () => [] },
  { statement: /^SELECT \S+ \S+ \S+ FROM agents g\b/, rows: (_, [, id]) => people(id) },
  { statement: /^SELECT FROM attachments\b/, rows: (_, [, ids]) => ids as unknown[] },
  { statement: /^SELECT FROM inbox_members\b/, rows: () => [{}] },
  { statement: /^SELECT id, name FROM teams\b/, rows: (stage, [, id]) => [{ id, name: teamOf(stage, Number(id)) }] },
  { statement: /^SELECT id FROM teams\b/, rows: (stage, [, name]) => [{ id: teamIdOf(stage, String(name)) }] },
  { statement: /^SELECT\s+b\.id AS bot_id,/, rows: (_, [, id]) => [botCalled(id)] },
  { statement: /^SELECT i\.id AS inbox_id, /, rows: () => [] },
  { statement: /^select .* from "sla_policies"/, rows: (_, __, text) => [policyIn(text)] },
  { statement: /^select .* from "contacts"/, rows: ({ contact }) => [rowOf(contact)] },
  { statement: /^update "contacts" set .*"blocked" = true/, rows: block },
  ...storageAnswers,
  ...scheduleAnswers,
];

/** Answers statements of the verbs that bots and agents use, from the stage. Rejects all others. */
export function sqlOf(stage: StageRows): Sql {
  return <Row>(text: string, parameters: Values = []): Promise<Row[]> => {
    const known = answers.find(({ statement }) => statement.test(text.trim()));
    if (!known) return Promise.reject(new Error(`The simulation has no answer to this statement: ${text}`));
    return Promise.resolve(known.rows(stage, parameters, text) as Row[]);
  };
}

function countSince({ messages }: StageRows, since: unknown): unknown[] {
  const spoken = messages.filter(({ sender, private: isNote }) => sender.kind === 'agent_bot' && !isNote);
  return [{ count: spoken.filter(({ createdAt }) => since instanceof Date && createdAt > since).length }];
}

function lastQuestionOf(messages: readonly Message[]): unknown[] {
  const asked = messages.findLast(({ type, content }) => type === 'incoming' && content !== '');
  return asked ? [{ content: asked.content }] : [];
}

function botCalled(id: unknown): object {
  const hearing = { bot_events: [], hears_own: false, hears_notes: false };
  const fit = { bot_obstacle: null, bot_disabled: false, bot_quarantined: false };
  return { bot_id: id, bot_name: `Bot ${String(id)}`, bot_kind: 'plugin', ...hearing, ...fit };
}

// The statements of small rows have their values in the text.
function policyIn(text: string): object {
  const id = Number(/"id" = (\d+)/.exec(text)?.[1]);
  return { id, name: `Policy ${id}`, first_response_seconds: null, resolution_seconds: null };
}

function rowOf(contact: Contact): object {
  const columns = Object.entries(contact).map(([name, value]) => [
    name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    value,
  ]);
  return Object.fromEntries(columns) as object;
}

function block({ contact }: StageRows): unknown[] {
  contact.blocked = true;
  return [{}];
}

function titlesOf(...lists: readonly unknown[]): unknown[] {
  return [...new Set(lists.flat())].map((title) => ({ title }));
}

function teamOf({ teams }: StageRows, id: number): string {
  return teams[id - 1] ?? `Team ${id}`;
}

function teamIdOf({ teams }: StageRows, name: string): number {
  const known = teams.findIndex((team) => team.toLowerCase() === name.toLowerCase());
  return known === -1 ? teams.push(name) : known + 1;
}

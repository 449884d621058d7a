import type { Answer, StageRows } from './rows.ts';

/** A scheduled call of the bot. */
export interface ScheduledRow {
  botId: number;
  name: string;
  data: unknown;
  at: Date;
}

type Values = readonly unknown[];

/** Answers to the statements of `domain/bots/schedules.ts` with which a bot schedules calls. */
export const scheduleAnswers: readonly Answer[] = [
  { statement: /^INSERT INTO bot_schedules\b/, rows: replace },
  { statement: /^SELECT FROM bot_schedules WHERE account_id\b/, rows: ({ scheduled }) => scheduled.map(() => ({})) },
];

function replace({ scheduled }: StageRows, values: Values): unknown[] {
  const [, , botId, name, json, at] = values as [number, number, number, string, string, Date];
  const before = scheduled.findIndex((row) => row.name === name && row.botId === botId);
  if (before !== -1) scheduled.splice(before, 1);
  scheduled.push({ botId, name, data: JSON.parse(json) as unknown, at });
  return [];
}

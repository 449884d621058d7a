import type { Answer, StageRows } from './rows.ts';

/** A stored value of the bot; `whose` consists of account, bot, conversation and contact. */
export interface StoredRow {
  whose: string;
  key: string;
  json: string;
  bytes: number;
  expiresAt: Date | null;
}

type Values = readonly unknown[];

/** Answers to the statements of `domain/bots/storage.ts`. */
export const storageAnswers: readonly Answer[] = [
  { statement: /^SELECT value::text AS value FROM bot_storage\b/, rows: findValue },
  { statement: /^SELECT coalesce\(sum\(bytes\), 0\)::bigint AS place\b/, rows: sumBytes },
  { statement: /^SELECT pg_advisory_xact_lock\b/, rows: () => [] },
  { statement: /^INSERT INTO bot_storage\b.*\bjson_typeof\b/s, rows: increment },
  { statement: /^INSERT INTO bot_storage\b/, rows: set },
  { statement: /^DELETE FROM bot_storage WHERE account_id\b/, rows: remove },
];

function placeOf(values: Values): string {
  return values.slice(0, 4).join();
}

function isLive({ expiresAt }: StoredRow, now: unknown): boolean {
  return expiresAt === null || expiresAt > (now as Date);
}

function indexOf({ stored }: StageRows, values: Values): number {
  return stored.findIndex(({ whose, key }) => whose === placeOf(values) && key === values[4]);
}

function findValue(stage: StageRows, values: Values): unknown[] {
  const found = stage.stored[indexOf(stage, values)];
  return found && isLive(found, values[5]) ? [{ value: found.json }] : [];
}

function sumBytes({ stored }: StageRows, values: Values): unknown[] {
  const live = stored.filter((row) => row.whose === placeOf(values) && isLive(row, values[4]));
  const sum = (rows: readonly StoredRow[]) => rows.reduce((bytes, row) => bytes + row.bytes, 0);
  return [{ place: sum(live), total: sum(stored) }];
}

function set(stage: StageRows, values: Values): unknown[] {
  remove(stage, values);
  const [, , , , key, json, bytes, expiresAt] = values as [0, 0, 0, 0, string, string, number, Date | null];
  stage.stored.push({ whose: placeOf(values), key, json, bytes, expiresAt });
  return [];
}

function increment(stage: StageRows, values: Values): unknown[] {
  const before = stage.stored[indexOf(stage, values)];
  const [present, by] = [before?.json ?? '', String(values[5])].map((json) =>
    json === '' ? null : (JSON.parse(json) as unknown),
  );
  const goesOn = before !== undefined && isLive(before, values[8]) && typeof present === 'number';
  const json = goesOn ? JSON.stringify(present + Number(by)) : String(values[5]);
  const expiresAt = goesOn ? before.expiresAt : null;
  return set(stage, [...values.slice(0, 5), json, values[6], expiresAt]);
}

function remove(stage: StageRows, values: Values): unknown[] {
  const at = indexOf(stage, values);
  if (at !== -1) stage.stored.splice(at, 1);
  return [];
}

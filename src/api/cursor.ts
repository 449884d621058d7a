import { badRequest } from '../errors.ts';
import { openList, sealList } from '../lib/secrets/sealed-list.ts';
import type { SecretBox } from '../lib/secrets/secret-box.ts';

/** The place of a record in a list that goes from the newest to the oldest. */
export interface Position {
  /** When the record was created, as the database writes it. */
  createdAt: string;
  id: number;
}

/** The place that a cursor of this list names; null without a cursor. Errors: 400 for a forged one, or another list's. */
export function readCursor(secretBox: SecretBox, list: string, cursor: string | undefined): Position | null {
  if (cursor === undefined) return null;
  const [owner, createdAt, id] = openList(secretBox, cursor);
  if (owner !== list || typeof createdAt !== 'string' || typeof id !== 'number') throw refused();
  return { createdAt, id };
}

/** The answer of a list that goes on behind `next`, and ends where that is null. */
export function presentStretch<Row, Shown>(
  { rows, next }: { rows: readonly Row[]; next: Position | null },
  present: (row: Row) => Shown,
  { secretBox, list }: { secretBox: SecretBox; list: string },
) {
  const cursor = next && sealList(secretBox, [list, next.createdAt, next.id]);
  return { payload: rows.map(present), meta: { next_cursor: cursor } };
}

function refused() {
  return badRequest('bad_query', 'The `cursor` is none that this list has answered', [
    { path: '/cursor', rule: 'cursor', message: 'must be the `next_cursor` of an answer of this list' },
  ]);
}

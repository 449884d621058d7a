import { CompiledQuery, type Compilable } from 'kysely';
import { types } from 'pg';

// Identifiers and counts stay below 2^53, so that a number represents them exactly.
types.setTypeParser(types.builtins.INT8, Number);

/** A transaction, or an entity manager: statements run within its transaction, if it has one. */
export type Executor = Direct | Manager;

/** Sends statements itself. */
interface Direct {
  query<Row>(text: string, parameters?: readonly unknown[]): Promise<Row[]>;
}

interface Manager {
  getKysely(): { executeQuery(query: ReturnType<Compilable['compile']>): Promise<{ rows: unknown[] }> };
}

/** Runs one statement with parameters `$1 …` and returns its rows. */
export async function sql<Row>(executor: Executor, text: string, parameters: readonly unknown[] = []): Promise<Row[]> {
  if ('query' in executor) return executor.query(text, parameters);
  const { rows } = await executor.getKysely().executeQuery(CompiledQuery.raw(text, [...parameters]));
  return rows as Row[];
}

/** The Date of a timestamptz, which statements return as text. */
export function moment(text: string): Date {
  return new Date(text);
}

/** Like moment; null stays null. */
export function momentOrNull(text: string | null): Date | null {
  return text === null ? null : new Date(text);
}

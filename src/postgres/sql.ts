import { CompiledQuery, type Compilable } from 'kysely';
import { types } from 'pg';

// Every identifier and count of ours stays below 2^53, so a number holds it exactly.
types.setTypeParser(types.builtins.INT8, Number);

/** Whatever statements can run on: an entity manager, inside its transaction when it has one. */
export interface Executor {
  getKysely(): { executeQuery(query: ReturnType<Compilable['compile']>): Promise<{ rows: unknown[] }> };
}

/** Runs one statement with `$1 …` parameters on MikroORM's own connection and answers its rows. */
export async function sql<Row>(executor: Executor, text: string, parameters: readonly unknown[] = []): Promise<Row[]> {
  const { rows } = await executor.getKysely().executeQuery(CompiledQuery.raw(text, [...parameters]));
  return rows as Row[];
}

/** A timestamptz as statements answer it (text) as a Date. */
export function moment(text: string): Date {
  return new Date(text);
}

/** Like moment; null stays null. */
export function momentOrNull(text: string | null): Date | null {
  return text === null ? null : new Date(text);
}

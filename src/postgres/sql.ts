/** Runs one statement with parameters `$1 …` and returns its rows: within a transaction, or as a transaction of its own. */
export type Sql = <Row>(text: string, parameters?: readonly unknown[]) => Promise<Row[]>;

/** The Date of a timestamptz, which statements return as text. */
export function moment(text: string): Date {
  return new Date(text);
}

/** Like moment; null stays null. */
export function momentOrNull(text: string | null): Date | null {
  return text === null ? null : new Date(text);
}

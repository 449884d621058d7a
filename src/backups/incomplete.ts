import { OperatorError } from '../lib/operator-error.ts';
import { reasonOf } from '../postgres/await-database.ts';

/** Returns the error of work that was cut off, by a full disk or a lost connection, with what follows from that. */
export function incomplete(error: unknown, work: string, consequence: string): OperatorError {
  if (error instanceof OperatorError) return error;
  return new OperatorError(`The ${work} did not complete: ${reasonOf(error)}. ${consequence}`, { cause: error });
}

import { OperatorError } from '../../lib/operator-error.ts';

/** Thrown if the embedded PostgreSQL cannot run, or not on this data; the message says what the operator can do. */
export class EmbeddedPostgresError extends OperatorError {
  override name = 'EmbeddedPostgresError';
}

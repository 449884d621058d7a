import { OperatorError } from '../../lib/operator-error.ts';

/** The embedded PostgreSQL cannot run here, or not with this data; the message says what to do. */
export class EmbeddedPostgresError extends OperatorError {
  override name = 'EmbeddedPostgresError';
}

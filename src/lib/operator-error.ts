/** A fault that only whoever runs the service can mend: its message says how, and is printed without a stack trace. */
export class OperatorError extends Error {
  override name = 'OperatorError';
}

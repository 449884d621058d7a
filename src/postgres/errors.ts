interface DatabaseError {
  code?: unknown;
  constraint?: unknown;
  cause?: unknown;
}

const serializationFailures = new Set(['40001', '40P01']);
const malformedValues = new Set(['22021', '22P05', '22P02', '22003', '22008', '54000']);
// The server shutting down, starting, full, or cutting a statement or an idle transaction short.
const outages = new Set(['25P03', '57P01', '57P02', '57P03', '53300', '53100', '57014', '25006']);
const refusedLogins = new Set(['28000', '28P01', '3D000']);
const networkFailures = new Set(['ECONNREFUSED', 'ECONNRESET', 'EPIPE', 'ETIMEDOUT', 'ENOTFOUND', 'EAI_AGAIN']);
const lostConnection =
  /Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|not queryable/;

/** Whether the same transaction may well succeed when run again. */
export function isRetryable(error: unknown): boolean {
  return serializationFailures.has(codeOf(error) ?? '');
}

/** Whether the server answered that it has no such role, password or database: another try would end the same. */
export function refusedLogin(error: unknown): boolean {
  return refusedLogins.has(codeOf(error) ?? '');
}

/** Whether another transaction held a row for longer than `lock_timeout`. */
export function isLockTimeout(error: unknown): boolean {
  return codeOf(error) === '55P03';
}

/** The name of the unique constraint that an error tells of, or null. */
export function brokenUniqueConstraint(error: unknown): string | null {
  if (codeOf(error) !== '23505') return null;
  for (
    let current = error as DatabaseError | undefined;
    current;
    current = current.cause as DatabaseError | undefined
  ) {
    if (typeof current.constraint === 'string') return current.constraint;
  }
  return '';
}

/** Whether the database refused a value that no schema of ours should have let through. */
export function isMalformedValue(error: unknown): boolean {
  return malformedValues.has(codeOf(error) ?? '');
}

/** Whether the database cannot be reached or cannot answer now, though it may soon. */
export function isOutage(error: unknown): boolean {
  const code = codeOf(error) ?? '';
  if (outages.has(code) || code.startsWith('08') || networkFailures.has(code)) return true;
  return error instanceof Error && lostConnection.test(error.message);
}

/** Whether another try may well get over it: an outage, a deadlock, or a row that was locked for too long. */
export function isPassing(error: unknown): boolean {
  return isOutage(error) || isRetryable(error) || isLockTimeout(error);
}

/** The SQLSTATE or system error code behind an error, however often it was wrapped. */
function codeOf(error: unknown): string | null {
  for (
    let current = error as DatabaseError | undefined;
    current;
    current = current.cause as DatabaseError | undefined
  ) {
    if (typeof current.code === 'string') return current.code;
  }
  return null;
}
